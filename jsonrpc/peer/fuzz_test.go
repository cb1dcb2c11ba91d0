package peer_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// chunked reads data in pieces whose sizes repeat, 0 being one byte.
type chunked struct {
	data  []byte
	sizes []byte
	next  int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	size := 1
	if len(c.sizes) > 0 {
		size += int(c.sizes[c.next%len(c.sizes)])
		c.next++
	}
	n := copy(p, c.data[:min(size, len(c.data))])
	c.data = c.data[n:]
	return n, nil
}

// FuzzLines checks that any bytes, read in any pieces, give the messages that
// splitting them at line breaks gives, none of them over the cap; and that
// sending these gives lines that are received as the same messages.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{}\n[]\r\n\n \t\nlast"), []byte{0, 3}, uint16(100))
	f.Add([]byte("123456\n12345\n1234567"), []byte{}, uint16(5))
	f.Add([]byte("\x00\xff\xfe\n\u00a0\n\r\r\n"), []byte{255}, uint16(1))
	f.Add(bytes.Repeat([]byte("a long line that goes on "), 40), []byte{7, 1, 200}, uint16(999))
	f.Fuzz(func(t *testing.T, data, sizes []byte, limit uint16) {
		most := int(limit) + 1
		var want []string
		rest := string(data)
		for rest != "" {
			var line string
			line, rest, _ = strings.Cut(rest, "\n")
			if len(line) > most {
				want = append(want, "cut")
			} else if line = strings.Trim(line, " \t\r\n"); line != "" {
				want = append(want, line)
			}
		}
		got := received(t, peer.Lines(&chunked{data: data, sizes: sizes}, io.Discard, most))
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}

		var out bytes.Buffer
		l := peer.Lines(strings.NewReader(""), &out, 0)
		for i, text := range want {
			want[i] = strings.ReplaceAll(text, "\r", " ")
			if err := l.Send(context.Background(), []byte(text)); err != nil { // no goroutine: fuzzing wants the same steps again
				t.Fatal(err)
			}
		}
		if again := received(t, peer.Lines(&out, io.Discard, 0)); !slices.Equal(again, want) {
			t.Fatalf("sent and received %q, want %q", again, want)
		}
	})
}
