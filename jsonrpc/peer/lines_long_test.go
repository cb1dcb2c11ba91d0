package peer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

func TestMessagesOfEverySizeStayWholeAndInOrder(t *testing.T) {
	r, w := io.Pipe()
	sender := peer.Lines(strings.NewReader(""), w, 0)
	receiver := peer.Lines(r, io.Discard, 0)
	const senders, each = 8, 40
	sizes := []int{10, 16 << 10, 17 << 10, 300 << 10}
	var sending sync.WaitGroup
	for s := range senders {
		sending.Go(func() {
			for i := range each {
				fill := strings.Repeat(string(rune('a'+s)), sizes[(s+i)%len(sizes)])
				if i%7 == 0 {
					fill += "\n\r" // which must not end the line
				}
				if err := sender.Send(context.Background(), []byte(fmt.Sprintf("%d %d %s.", s, i, fill))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var next [senders]int
	for range senders * each {
		line, err := receiver.Receive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var s, i int
		if _, err := fmt.Sscanf(string(line[:min(len(line), 20)]), "%d %d ", &s, &i); err != nil {
			t.Fatalf("%.40s: %v", line, err)
		}
		fill := strings.TrimRight(strings.TrimSuffix(string(line), "."), " ")
		fill = fill[strings.LastIndexByte(fill, ' ')+1:]
		if i != next[s] || fill != strings.Repeat(string(rune('a'+s)), sizes[(s+i)%len(sizes)]) {
			t.Fatalf("message %d of sender %d came in place of %d, with %d bytes", i, s, next[s], len(fill))
		}
		next[s]++
	}
	sending.Wait()
}

func TestALongResultIsSentAsItIs(t *testing.T) {
	long := jsontext.Value(`{"text":"` + strings.Repeat("x", 300<<10) + `"}`)
	_, far, _, _ := connectLines(t, answering(func(context.Context, *peer.Request) (any, error) { return long, nil }), nil)
	for i := range 12 {
		id := fmt.Sprint(i)
		far.send(request(id, "work"))
		far.want(`{"jsonrpc":"2.0","id":` + id + `,"result":` + string(long) + `}`)
	}
}

func TestCloseFreesLongMessagesThatWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, w := io.Pipe() // nobody reads
		l := peer.Lines(strings.NewReader(""), w, 0)
		failed := make(chan error, 3)
		for range cap(failed) {
			go func() { failed <- l.Send(context.Background(), []byte(strings.Repeat("x", 20<<10))) }()
		}
		synctest.Wait()
		start := time.Now()
		_ = l.Close()
		for range cap(failed) {
			if err := <-failed; !errors.Is(err, peer.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("Send returned %v", err)
			}
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("Close took %v", took)
		}
	})
}

func TestWhatWasSentIsWrittenThoughALongMessageWaitsAtTheClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		l := peer.Lines(strings.NewReader(""), w, 0)
		long := []byte(strings.Repeat("x", 20<<10))
		var sending sync.WaitGroup
		sending.Go(func() { _ = l.Send(context.Background(), long) })
		synctest.Wait() // it is in the write
		if err := l.Send(context.Background(), []byte("short")); err != nil {
			t.Error(err)
		}
		sending.Go(func() { _ = l.Send(context.Background(), long) })
		synctest.Wait() // it waits for its turn
		sending.Go(func() { _ = l.Close() })
		synctest.Wait()
		text, err := io.ReadAll(r)
		if err != nil || !strings.HasPrefix(string(text), string(long)+"\nshort\n") {
			t.Errorf("%d bytes were written, %v", len(text), err)
		}
		sending.Wait()
	})
}

// hesitant gives up before each read that it makes, as a reader with a deadline
// may.
type hesitant struct {
	io.Reader
	gaveUp bool
}

func (h *hesitant) Read(p []byte) (int, error) {
	if h.gaveUp = !h.gaveUp; h.gaveUp {
		return 0, os.ErrDeadlineExceeded
	}
	return h.Reader.Read(p[:min(len(p), 100)])
}

func TestAReadThatGaveUpLosesNothing(t *testing.T) {
	const most = 200 << 10
	long := strings.Repeat("x", most)
	want := []string{"one", long, "too long", "two", "the last has no end"}
	in := "one\r\n\n" + long + "\n" + long + long + "\n" + "two\n" + "the last has no end"
	l := peer.Lines(&hesitant{Reader: strings.NewReader(in)}, io.Discard, most)
	for {
		line, err := l.Receive(t.Context())
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			continue
		case errors.Is(err, peer.ErrTooLong):
			line = []byte("too long")
		case errors.Is(err, io.EOF) && len(want) == 0:
			return
		case err != nil:
			t.Fatalf("%v, want %.40q", err, want)
		}
		if len(want) == 0 || string(line) != want[0] {
			t.Fatalf("got %d bytes, %.40q, want %.40q", len(line), line, want)
		}
		want = want[1:]
	}
}
