package streamable_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/streamable"
)

// watchMemory returns a function that ends the watch and returns by how much the
// objects on the heap grew at most.
func watchMemory() (grown func() int64) {
	before := heap()
	done, over := make(chan struct{}), make(chan struct{})
	var peak int64
	go func() { // ends with grown, which waits for it
		defer close(over)
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			metrics.Read(sample)
			peak = max(peak, int64(sample[0].Value.Uint64()))
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(done)
		<-over
		return peak - before
	}
}

// R030: bodies of 200 MiB, a hundred at once, in chunks, with their length, and
// with lengths that lie, cost less than twice the cap each.
func TestHeavyBodiesAtOnce(t *testing.T) {
	const most = 4 << 20
	s := open(t, newBench(), nil)
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: " + newest + "\r\nMcp-Method: tools/call\r\n"
	block := strings.Repeat(" ", 64<<10)
	chunk := fmt.Sprintf("%x\r\n%s\r\n", len(block), block)
	for _, tt := range []struct {
		name, head, block string
		size              int
		status            []int // 0: closed without an answer
	}{
		{"5 MiB in chunks", head + "Transfer-Encoding: chunked\r\n\r\n", chunk, 5 << 20, []int{413, 0}},
		{"200 MiB in chunks", head + "Transfer-Encoding: chunked\r\n\r\n", chunk, 200 << 20, []int{413, 0}},
		{"5 MiB with their length", head + "Content-Length: 5242880\r\n\r\n", block, 5 << 20, []int{413, 0}},
		{"200 MiB with their length", head + "Content-Length: 209715200\r\n\r\n", block, 200 << 20, []int{413, 0}},
		{"200 MiB that claim to be the cap", head + "Content-Length: 4194304\r\n\r\n", block, 200 << 20, []int{400, 0}},
		{"200 MiB that claim to be a byte", head + "Content-Length: 1\r\n\r\n", block, 200 << 20, []int{400, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clients := heavily(100, 5)
			block := []byte(tt.block) // shared, so that what is counted is the server's
			grown := watchMemory()
			var wg sync.WaitGroup
			for range clients {
				wg.Go(func() {
					if got := s.pour(tt.head, block, tt.size); !slices.Contains(tt.status, got) {
						t.Errorf("got %d, want one of %v", got, tt.status)
					}
				})
			}
			wg.Wait()
			peak := grown()
			t.Logf("%d at once: %d MiB at most, %.2f times the cap each", clients, peak>>20, float64(peak)/float64(clients*most))
			if peak > min(int64(clients)*2*most, 512<<20) {
				t.Errorf("%d bodies cost %d MiB at once", clients, peak>>20)
			}
			s.callTool("hello", "{}").wantText(t, "hello")
		})
	}
}

// pour writes a body until it is all sent or the server has enough, and returns
// the status of the answer, 0 for none.
func (s *site) pour(head string, block []byte, size int) int {
	conn, err := net.Dial("tcp", s.srv.Listener.Addr().String())
	if err != nil {
		s.t.Error(err)
		return 0
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	answer := make(chan int, 1)
	go func() { // ends with the connection
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			answer <- 0
			return
		}
		res.Body.Close()
		answer <- res.StatusCode
	}()
	if _, err := io.WriteString(conn, head); err == nil {
		for sent := 0; sent < size; sent += len(block) {
			if _, err := conn.Write(block); err != nil {
				break
			}
		}
	}
	return <-answer
}

// R031: many connections that send a byte of their header now and then are all
// cut off in time, in time that is not real.
func TestR031ManySlowConnectionsAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slow = 500
		l := newPipeListener()
		s := l.serve(t, newBench(), &streamable.Options{})
		var wg sync.WaitGroup
		var late atomic.Int32
		for range slow {
			wg.Go(func() {
				if closedAfter(t, l, strings.Repeat("X-Header: value\r\n", 100), 5*time.Second) > 15*time.Second {
					late.Add(1)
				}
			})
		}
		for range 20 {
			s.callTool("hello", "{}").wantText(t, "hello")
			time.Sleep(time.Second)
		}
		wg.Wait()
		if n := late.Load(); n > 0 {
			t.Errorf("%d of %d were open for more than 15 seconds", n, slow)
		}
	})
}

// R031: two thousand of them on real sockets, beside two hundred good requests a
// second, which must not feel it.
func TestHeavySlowConnectionsBesideGoodOnes(t *testing.T) {
	if !*heavyCounts {
		t.Skip("it takes 12 seconds of real time; make heavy runs it")
	}
	const slow, rate = 2_000, 200
	s := open(t, newBench(), nil)
	ends := make([]time.Duration, slow)
	var open atomic.Int32
	open.Store(slow)
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range ends {
		wg.Go(func() {
			defer open.Add(-1)
			time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Millisecond))) // a thousand a second
			ends[i] = s.drip("POST /mcp HTTP/1.1\r\n", 5*time.Second)
		})
	}
	took := s.steady(rate, func() bool { return open.Load() > 0 })
	wg.Wait()
	last, p99 := slices.Max(ends), typicalP99(took)
	t.Logf("%d slow ones, open for %v at most; %d seconds of good requests beside them: p99 of a typical second %v", slow, last, len(took), p99)
	if last > 15*time.Second {
		t.Errorf("a slow one was closed after %v", last)
	}
	if p99 > 250*time.Millisecond {
		t.Errorf("good requests took %v", p99)
	}
}

// typicalP99 returns the median over the seconds of what all but a hundredth of
// the requests took at most. The machine may be busy for some of the time.
func typicalP99(seconds [][]time.Duration) time.Duration {
	var all []time.Duration
	for _, took := range seconds {
		slices.Sort(took)
		all = append(all, took[len(took)*99/100])
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// drip connects, sends a byte now and then, and returns how long the server bore
// it.
func (s *site) drip(text string, pause time.Duration) time.Duration {
	conn, err := net.Dial("tcp", s.srv.Listener.Addr().String())
	if err != nil {
		s.t.Error(err)
		return 0
	}
	defer conn.Close()
	from := time.Now()
	answer := make([]byte, 512)
	for i := range len(text) {
		if _, err := io.WriteString(conn, text[i:i+1]); err != nil {
			break
		}
		_ = conn.SetReadDeadline(time.Now().Add(pause))
		if _, err := conn.Read(answer); err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			break // answered or closed
		}
	}
	return time.Since(from)
}

// steady makes so many requests a second while a condition holds, and returns how
// long each took from when it was due, by the second in which that was.
func (s *site) steady(rate int, while func() bool) [][]time.Duration {
	s.t.Helper()
	var took [][]time.Duration
	var mu sync.Mutex
	var wg sync.WaitGroup
	from := time.Now()
	for i := 0; while(); i++ {
		due := from.Add(time.Duration(i) * time.Second / time.Duration(rate))
		time.Sleep(time.Until(due))
		wg.Go(func() {
			s.callTool("hello", "{}").wantText(s.t, "hello")
			mu.Lock()
			defer mu.Unlock()
			second := i / rate
			for len(took) <= second {
				took = append(took, nil)
			}
			took[second] = append(took[second], time.Since(due))
		})
	}
	wg.Wait()
	return took
}
