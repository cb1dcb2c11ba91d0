package deadline_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/internal/deadline"
)

// counted counts how often real deadlines are set.
type counted struct {
	net.Conn
	sets int
}

func (c *counted) SetReadDeadline(t time.Time) error  { c.sets++; return c.Conn.SetReadDeadline(t) }
func (c *counted) SetWriteDeadline(t time.Time) error { c.sets++; return c.Conn.SetWriteDeadline(t) }

// pipe returns a connection with cheap deadlines, what is behind it, and the other
// end.
func pipe(t *testing.T) (*deadline.Conn, *counted, net.Conn) {
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close(); far.Close() })
	behind := &counted{Conn: near}
	return deadline.New(behind), behind, far
}

// after returns how long it takes until f fails because of a deadline.
func after(t *testing.T, f func() error) time.Duration {
	t.Helper()
	from := time.Now()
	err := f()
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %v, want the deadline", err)
	}
	return time.Since(from)
}

func read(c net.Conn) func() error {
	return func() error { _, err := c.Read(make([]byte, 10)); return err }
}

func TestADeadlineThatIsMovedIsNotMissed(t *testing.T) {
	seconds := func(n int) time.Time { return time.Now().Add(time.Duration(n) * time.Second) }
	for name, test := range map[string]struct {
		sets func(c, far net.Conn)
		want time.Duration
	}{
		"one": {func(c, _ net.Conn) { c.SetReadDeadline(seconds(3)) }, 3 * time.Second},
		"one after another passed": {func(c, _ net.Conn) {
			c.SetDeadline(seconds(1))
			_ = read(c)()
			c.SetReadDeadline(seconds(2))
		}, 2 * time.Second},
		"a later one": {func(c, far net.Conn) {
			armed(c, far, time.Second)
			c.SetReadDeadline(seconds(5))
		}, 5 * time.Second},
		"an earlier one": {func(c, far net.Conn) {
			armed(c, far, 9*time.Second)
			c.SetReadDeadline(seconds(4))
		}, 4 * time.Second},
		"none, and one": {func(c, far net.Conn) {
			armed(c, far, time.Second)
			c.SetReadDeadline(time.Time{})
			c.SetReadDeadline(seconds(6))
		}, 6 * time.Second},
		"an interruption": {func(c, far net.Conn) {
			armed(c, far, time.Second)
			c.SetReadDeadline(time.Unix(1, 0))
		}, 0},
		"one after an interruption": {func(c, far net.Conn) {
			armed(c, far, time.Hour)
			c.SetReadDeadline(time.Unix(1, 0))
			_ = read(c)()
			c.SetReadDeadline(time.Time{})
			c.SetReadDeadline(seconds(7))
		}, 7 * time.Second},
		"one during a read": {func(c, _ net.Conn) {
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(seconds(1)) })
		}, 2 * time.Second},
		"an earlier one during a read": {func(c, _ net.Conn) {
			c.SetReadDeadline(seconds(3600))
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(seconds(1)) })
		}, 2 * time.Second},
		"a later one during a read": {func(c, _ net.Conn) {
			c.SetReadDeadline(seconds(2))
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(seconds(5)) })
		}, 6 * time.Second},
		"none during a read, and one": {func(c, _ net.Conn) {
			c.SetReadDeadline(seconds(2))
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(time.Time{}) })
			time.AfterFunc(8*time.Second, func() { c.SetReadDeadline(seconds(1)) })
		}, 9 * time.Second},
		"an interruption during a read": {func(c, _ net.Conn) {
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(time.Unix(1, 0)) })
		}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _, far := pipe(t)
				test.sets(c, far)
				if got := after(t, read(c)); got != test.want {
					t.Errorf("the read failed after %v, want %v", got, test.want)
				}
			})
		})
	}
}

// armed makes the real deadline d from now, by a read that is answered at once.
func armed(c, far net.Conn, d time.Duration) {
	c.SetReadDeadline(time.Now().Add(d))
	go far.Write([]byte("x")) // ends with the read
	_ = read(c)()
}

// TestDeadlinesAreThoseOfAnyConnection sets deadlines at random, before and during
// a read, here and on a plain connection.
func TestDeadlinesAreThoseOfAnyConnection(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			c, _, _ := pipe(t)
			plain, far := net.Pipe()
			defer plain.Close()
			defer far.Close()
			random := rand.New(rand.NewPCG(seed, 1))
			story := ""
			for range 6 {
				for i := range random.IntN(4) {
					at, d := time.Duration(random.IntN(2)*random.IntN(5)), time.Duration(random.IntN(6)-1)
					story += fmt.Sprintf(" after %d s: %d s;", at, d)
					set := func() {
						for _, c := range []net.Conn{c, plain} {
							switch d {
							case -1:
								c.SetReadDeadline(time.Unix(1, 0))
							case 0:
								c.SetReadDeadline(time.Time{})
							default:
								c.SetReadDeadline(time.Now().Add(d*time.Second - time.Millisecond)) // never at the moment of another
							}
						}
					}
					if at == 0 {
						set()
					} else {
						time.AfterFunc(at*time.Second+time.Duration(i)*time.Microsecond, set)
					}
				}
				time.AfterFunc(20*time.Second, func() { c.SetReadDeadline(time.Unix(1, 0)); plain.SetReadDeadline(time.Unix(1, 0)) })
				got := make(chan time.Duration, 1)
				go func() { got <- after(t, read(c)) }() // awaited below
				want := after(t, read(plain))
				if d := <-got; d != want {
					t.Fatalf("seed %d:%s failed after %v, want %v", seed, story, d, want)
				}
				story += " read;"
				time.Sleep(30 * time.Second)
			}
		})
		if t.Failed() {
			return
		}
	}
}

func TestARequestMovesNoRealDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, behind, far := pipe(t)
		go func() { // ends with the pipe
			for {
				if _, err := far.Write([]byte("request")); err != nil {
					return
				}
				_, _ = io.ReadFull(far, make([]byte, 6))
			}
		}()
		for i := range 100 { // as net/http does, for a second each
			if i == 2 {
				behind.sets = 0
			}
			c.SetReadDeadline(time.Now().Add(time.Hour))
			if _, err := c.Read(make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
			c.SetReadDeadline(time.Now().Add(10 * time.Second))
			c.SetReadDeadline(time.Time{})
			c.SetWriteDeadline(time.Now().Add(time.Hour))
			if _, err := c.Write([]byte("answer")); err != nil {
				t.Fatal(err)
			}
			c.SetReadDeadline(time.Unix(1, 0)) // before its background read began
			_ = after(t, read(c))
			c.SetReadDeadline(time.Time{})
			c.SetWriteDeadline(time.Time{})
			time.Sleep(time.Second)
		}
		if behind.sets > 0 {
			t.Errorf("the real deadlines were moved %d times", behind.sets)
		}
	})
}

func TestAWriteGoesOnWhereItStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, far := pipe(t)
		c.SetWriteDeadline(time.Now().Add(2 * time.Second))
		time.AfterFunc(time.Second, func() {
			_, _ = io.ReadFull(far, make([]byte, 3))
			c.SetWriteDeadline(time.Now().Add(9 * time.Second))
		})
		rest := make(chan string, 1)
		time.AfterFunc(5*time.Second, func() {
			text := make([]byte, 7)
			_, _ = io.ReadFull(far, text)
			rest <- string(text)
		})
		n, err := c.Write([]byte("0123456789"))
		if got := <-rest; n != 10 || err != nil || got != "3456789" {
			t.Errorf("wrote %d, %v; the rest is %q", n, err, got)
		}
		c.SetWriteDeadline(time.Now().Add(3 * time.Second))
		if got := after(t, func() error { _, err := c.Write([]byte("more")); return err }); got != 3*time.Second {
			t.Errorf("a write that nobody reads failed after %v", got)
		}
	})
}

func TestReleaseLeavesTheDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, behind, _ := pipe(t)
		c.SetReadDeadline(time.Now().Add(time.Second))
		_ = read(c)()
		c.SetReadDeadline(time.Now().Add(4 * time.Second))
		c.SetWriteDeadline(time.Now().Add(5 * time.Second))
		plain := deadline.Release(c)
		if plain != net.Conn(behind) {
			t.Errorf("got %T", plain)
		}
		if got := after(t, read(plain)); got != 4*time.Second {
			t.Errorf("a read failed after %v", got)
		}
		if got := after(t, func() error { _, err := plain.Write([]byte("x")); return err }); got != time.Second {
			t.Errorf("a write failed %v after that", got)
		}
		if deadline.Release(plain) != plain {
			t.Error("a plain connection is another after Release")
		}
	})
}

func TestTheEndOfAConnectionIsSeen(t *testing.T) {
	c, _, far := pipe(t)
	far.Close()
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("read: %v", err)
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("write: %v", err)
	}
	if err := c.CloseWrite(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("half a pipe was closed: %v", err)
	}
}

func TestListenerAcceptsConnections(t *testing.T) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := deadline.Listener{Listener: plain}
	go func() { // ends at once
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			_, _ = io.Copy(c, c)
			c.Close()
		}
	}()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Errorf("close half of it: %v", err)
	}
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the other end saw no end: %v", err)
	}
	l.Close()
	if _, err := l.Accept(); err == nil {
		t.Error("a closed listener accepts")
	}
}
