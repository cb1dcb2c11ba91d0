package sse_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/bossman-mcp/bossman/internal/sse"
)

// read returns all events of r and the error that ended it.
func read(r io.Reader, most int) ([]sse.Event, error) {
	d := sse.NewDecoder(r, most)
	var events []sse.Event
	for {
		e, err := d.Next()
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

func same(a, b sse.Event) bool {
	return a.Name == b.Name && a.ID == b.ID && a.HasID == b.HasID && a.Retry == b.Retry &&
		bytes.Equal(a.Data, b.Data) && (a.Data == nil) == (b.Data == nil)
}

func TestDecoder(t *testing.T) {
	message := func(data string) sse.Event { return sse.Event{Data: []byte(data)} }
	tests := []struct {
		name, text string
		want       []sse.Event
	}{
		{"a line feed ends lines", "data: a\n\n", []sse.Event{message("a")}},
		{"a carriage return ends lines", "data: a\r\r", []sse.Event{message("a")}},
		{"both together end lines", "data: a\r\n\r\n", []sse.Event{message("a")}},
		{"all three may be mixed", "data: a\r\ndata: b\rdata: c\n\r\n", []sse.Event{message("a\nb\nc")}},
		{"one blank after the colon is not data", "data:  a\n\ndata:b\n\n", []sse.Event{message(" a"), message("b")}},
		{"a field without a colon is empty", "data\n\n", []sse.Event{message("")}},
		{"a field that only looks like one is none", " data: a\n\ndata : b\n\nDATA: c\n\n", nil},
		{"comments are passed over", ": one\n:\ndata: a\n: two\n\n:\n\n", []sse.Event{message("a")}},
		{"an event without its blank line is dropped", "data: a\n\ndata: b\n", []sse.Event{message("a")}},
		{"a byte order mark at the start is dropped", "\ufeffdata: a\n\n", []sse.Event{message("a")}},
		{"a byte order mark elsewhere is not", "data: a\n\n\ufeffdata: b\n\n", []sse.Event{message("a")}},
		{"a name is kept", "event: endpoint\ndata: /m\n\n", []sse.Event{{Name: "endpoint", Data: []byte("/m")}}},
		{"a block of an id alone primes", "id: 1-0\nretry: 500\ndata:\n\n",
			[]sse.Event{{ID: "1-0", HasID: true, Retry: 500 * time.Millisecond, Data: []byte{}}}},
		{"an id without data is reported", "id: 7\n\n", []sse.Event{{ID: "7", HasID: true}}},
		{"an empty id is an id", "id\ndata: a\n\n", []sse.Event{{HasID: true, Data: []byte("a")}}},
		{"an id with NUL is ignored", "id: 1\x002\ndata: a\n\n", []sse.Event{message("a")}},
		{"retry is clamped", "retry: 1000000000000\n\nretry: 99999999999999999999999\n\n", []sse.Event{{Retry: sse.MaxRetry}, {Retry: sse.MaxRetry}}},
		{"a retry that is no number is ignored", "retry: 1s\n\nretry: -1\n\nretry:\n\nretry: +5\n\n", nil},
		{"nothing is nothing", "", nil},
		{"blank lines are nothing", "\n\n\r\n\r\r", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for what, r := range map[string]io.Reader{
				"whole":          strings.NewReader(tt.text),
				"byte by byte":   iotest.OneByteReader(strings.NewReader(tt.text)),
				"with the end":   iotest.DataErrReader(strings.NewReader(tt.text)),
				"half by half":   iotest.HalfReader(strings.NewReader(tt.text)),
				"after nothings": &stutter{r: strings.NewReader(tt.text)},
			} {
				got, err := read(r, 0)
				if !errors.Is(err, io.EOF) {
					t.Errorf("%s: ended with %v, want io.EOF", what, err)
				}
				if !slices.EqualFunc(got, tt.want, same) {
					t.Errorf("%s: got %+v, want %+v", what, got, tt.want)
				}
			}
		})
	}
}

// stutter reads nothing every other time.
type stutter struct {
	r    io.Reader
	next bool
}

func (s *stutter) Read(p []byte) (int, error) {
	if s.next = !s.next; s.next {
		return 0, nil
	}
	return s.r.Read(p[:min(len(p), 3)])
}

func TestDecoderCapsAnEvent(t *testing.T) {
	const most = 1000
	long := strings.Repeat("x", most)
	tests := []struct {
		name, text string
		fits       bool
	}{
		{"an event of the cap fits", "data:" + long[5:] + "\n\n", true},
		{"one byte more does not", "data:" + long[4:] + "\n\n", false},
		{"many lines count together", strings.Repeat("data: 12345678\n", 100) + "\n", false},
		{"unknown fields count", "huh: " + long + "\ndata: a\n\n", false},
		{"a line that never ends is cut", "data: " + long + long + long, false},
		{"a comment of any length is passed over", ":" + strings.Repeat(long, 20) + "\ndata: a\n\n", true},
		{"each event has its own cap", strings.Repeat("data: 12345678\n\n", 100), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(tt.text), iotest.OneByteReader(strings.NewReader(tt.text))} {
				events, err := read(r, most)
				if tt.fits && (!errors.Is(err, io.EOF) || len(events) == 0) {
					t.Errorf("got %d events and %v, want some and io.EOF", len(events), err)
				}
				if !tt.fits && !errors.Is(err, sse.ErrTooLong) {
					t.Errorf("got %v, want ErrTooLong", err)
				}
			}
		})
	}
}

func TestDecoderStaysFailed(t *testing.T) {
	d := sse.NewDecoder(strings.NewReader("data: 123456789\n\ndata: 1\n\n"), 10)
	for range 3 {
		if e, err := d.Next(); !errors.Is(err, sse.ErrTooLong) {
			t.Fatalf("got %+v, %v; want ErrTooLong for ever", e, err)
		}
	}
}

func TestDecoderGivesAnEventBeforeMoreIsThere(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	go func() { // ends when the pipe is read or closed
		for _, part := range []string{"data: a\r\r", "\ndata: b\n\n"} {
			if _, err := io.WriteString(w, part); err != nil {
				return
			}
		}
	}()
	d := sse.NewDecoder(r, 0)
	for _, want := range []string{"a", "b"} {
		if e, err := d.Next(); err != nil || string(e.Data) != want {
			t.Fatalf("got %q, %v; want %q", e.Data, err, want)
		}
	}
}

func TestDecoderReportsTheReadersError(t *testing.T) {
	broken := errors.New("broken")
	events, err := read(io.MultiReader(strings.NewReader("data: a\n\nda"), iotest.ErrReader(broken)), 0)
	if len(events) != 1 || !errors.Is(err, broken) {
		t.Fatalf("got %d events and %v, want 1 and the reader's error", len(events), err)
	}
}

func TestAppend(t *testing.T) {
	tests := []struct {
		name  string
		event sse.Event
		want  string
	}{
		{"a message", sse.Event{Name: "message", Data: []byte("{}")}, "event: message\ndata: {}\n\n"},
		{"line breaks become blanks", sse.Event{Data: []byte("{\r\n}")}, "data: {  }\n\n"},
		{"a priming event", sse.Event{ID: "0-0", HasID: true, Retry: time.Second, Data: []byte{}}, "id: 0-0\nretry: 1000\ndata: \n\n"},
		{"a retry alone", sse.Event{Retry: 20 * time.Millisecond}, "retry: 20\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(tt.event.Append([]byte("…"))); got != "…"+tt.want {
				t.Errorf("got %q, want %q", got, "…"+tt.want)
			}
		})
	}
}

func FuzzDecoderDoesNotDependOnCuts(f *testing.F) {
	f.Add([]byte("data: a\r\ndata: b\r\rid: 1\n\n: c\n"), []byte{1, 2, 3})
	f.Add([]byte("\xef\xbb\xbfevent: x\ndata\n\nretry: 12\n\n"), []byte{0, 1})
	f.Add([]byte("data: 01234567890123456789\n\n"), []byte{5})
	f.Fuzz(func(t *testing.T, text, cuts []byte) {
		const most = 40
		want, wantErr := read(bytes.NewReader(text), most)
		got, gotErr := read(&cutter{text: text, cuts: cuts}, most)
		if !slices.EqualFunc(got, want, same) || errors.Is(gotErr, io.EOF) != errors.Is(wantErr, io.EOF) {
			t.Fatalf("cut: %+v, %v; whole: %+v, %v", got, gotErr, want, wantErr)
		}
	})
}

func FuzzAppendIsReadBack(f *testing.F) {
	f.Add("message", "1-2", []byte(`{"a":1}`), int64(5))
	f.Fuzz(func(t *testing.T, name, id string, data []byte, retry int64) {
		if strings.ContainsAny(name+id, "\r\n\x00") || bytes.ContainsAny(data, "\r\n") || strings.HasPrefix(name, " ") || strings.HasPrefix(id, " ") {
			t.Skip("these cannot stand in an event")
		}
		want := sse.Event{Name: name, ID: id, HasID: true, Data: append([]byte{}, data...)}
		if retry > 0 {
			want.Retry = time.Duration(retry%3_600_000) * time.Millisecond
		}
		got, err := read(bytes.NewReader(want.Append(nil)), 0)
		if len(got) != 1 || !same(got[0], want) {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
	})
}

// cutter hands text out in pieces of the given sizes, round and round.
type cutter struct {
	text, cuts []byte
	turn       int
}

func (c *cutter) Read(p []byte) (int, error) {
	if len(c.text) == 0 {
		return 0, io.EOF
	}
	n := len(c.text)
	if len(c.cuts) > 0 {
		n = min(n, int(c.cuts[c.turn%len(c.cuts)])%16+1)
		c.turn++
	}
	n = copy(p, c.text[:n])
	c.text = c.text[n:]
	return n, nil
}
