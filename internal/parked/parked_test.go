package parked_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/parked"
)

// soon is for what happens at once, on a machine that may be busy.
const soon = 10 * time.Second

// owner takes note of what it is told.
type owner chan bool

func (o owner) Ended(gone bool) { o <- gone }

func newOwner() owner { return make(owner, 2) } // room for a second word, which would be wrong

// want waits for the owner to be told.
func (o owner) want(t *testing.T, gone bool) {
	t.Helper()
	select {
	case got := <-o:
		if got != gone {
			t.Errorf("told that gone is %v, want %v", got, gone)
		}
	case <-time.After(soon):
		t.Fatal("nobody was told of the end")
	}
}

// quiet fails if the owner was told anything.
func (o owner) quiet(t *testing.T) {
	t.Helper()
	select {
	case gone := <-o:
		t.Errorf("told that gone is %v, want nothing", gone)
	default:
	}
}

// hidden is a connection of which nobody sees that it is TCP, so that it is held.
type hidden struct{ net.Conn }

// ways are the two ways to park. Where there is no epoll they are one.
var ways = map[string]func(net.Conn) net.Conn{
	"a TCP connection":   func(conn net.Conn) net.Conn { return conn },
	"another connection": func(conn net.Conn) net.Conn { return hidden{conn} },
}

// both runs a test for each way, with a fresh connection and its other side.
func both(t *testing.T, test func(t *testing.T, conn parked.Conn, client *net.TCPConn)) {
	t.Helper()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			var lot parked.Lot
			server, client := newSwitchboard(t).pair(t)
			conn := lot.Park(way(server))
			defer conn.Close()
			test(t, conn, client)
		})
	}
}

// switchboard connects. One for many connections spares the system the search for
// as many ports to listen on.
type switchboard struct {
	mu sync.Mutex
	l  net.Listener
}

func newSwitchboard(t *testing.T) *switchboard {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &switchboard{l: l}
}

// connect returns the sides of a connection.
func (b *switchboard) connect() (server net.Conn, client *net.TCPConn, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	dialed, err := net.Dial("tcp", b.l.Addr().String())
	if err != nil {
		return nil, nil, err
	}
	if server, err = b.l.Accept(); err != nil {
		dialed.Close()
		return nil, nil, err
	}
	return server, dialed.(*net.TCPConn), nil
}

// pair is connect for a test, which closes the client at its end.
func (b *switchboard) pair(t *testing.T) (server net.Conn, client *net.TCPConn) {
	t.Helper()
	server, client, err := b.connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return server, client
}

func TestHowConnectionsEnd(t *testing.T) {
	tests := []struct {
		name string
		end  func(conn parked.Conn, client *net.TCPConn)
		gone bool
	}{
		{"the other side hangs up", func(_ parked.Conn, client *net.TCPConn) { client.Close() }, true},
		{"the connection is reset", func(_ parked.Conn, client *net.TCPConn) { _ = client.SetLinger(0); client.Close() }, true},
		{"the other side closes its half", func(_ parked.Conn, client *net.TCPConn) { _ = client.CloseWrite() }, true},
		{"the other side talks without end", func(_ parked.Conn, client *net.TCPConn) { _, _ = client.Write(make([]byte, 1<<20)) }, true},
		{"it says a little and hangs up", func(_ parked.Conn, client *net.TCPConn) { _, _ = client.Write(make([]byte, 100)); client.Close() }, true},
		{"it is closed", func(conn parked.Conn, _ *net.TCPConn) { conn.Close(); conn.Close() }, true},
		{"it is interrupted", func(conn parked.Conn, _ *net.TCPConn) { conn.Interrupt(); conn.Interrupt() }, false},
		{"it is interrupted and then closed", func(conn parked.Conn, _ *net.TCPConn) { conn.Interrupt() }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			both(t, func(t *testing.T, conn parked.Conn, client *net.TCPConn) {
				o := newOwner()
				conn.Watch(o)
				tt.end(conn, client)
				o.want(t, tt.gone)
				conn.Close()
				conn.Interrupt()
				o.quiet(t)
			})
			both(t, func(t *testing.T, conn parked.Conn, client *net.TCPConn) { // before there is an owner
				tt.end(conn, client)
				o := newOwner()
				conn.Watch(o)
				o.want(t, tt.gone)
			})
		})
	}
}

func TestWhatComesIsThrownAway(t *testing.T) {
	both(t, func(t *testing.T, conn parked.Conn, client *net.TCPConn) {
		o := newOwner()
		conn.Watch(o)
		for i := range 50 { // in all less than is too much
			if _, err := client.Write(make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
			if err := conn.Write([]byte{byte(i)}, soon); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(client, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		o.quiet(t)
		client.Close()
		o.want(t, true)
	})
}

// filling is more than both systems hold for a connection.
var filling = bytes.Repeat([]byte("0123456789abcde\n"), 1<<20)

func TestASlowReaderGetsEverything(t *testing.T) {
	both(t, func(t *testing.T, conn parked.Conn, client *net.TCPConn) {
		o := newOwner()
		conn.Watch(o)
		wrote := make(chan error, 1)
		go func() { wrote <- conn.Write(filling, soon) }() // awaited below
		got := make([]byte, 0, len(filling))
		for buf := make([]byte, 1<<20); len(got) < len(filling); {
			n, err := client.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, buf[:n]...)
		}
		if err := <-wrote; err != nil || !bytes.Equal(got, filling) {
			t.Errorf("wrote with %v, and it came as it was: %v", err, bytes.Equal(got, filling))
		}
		o.quiet(t)
	})
}

func TestAWriteThatNobodyTakes(t *testing.T) {
	tests := []struct {
		name      string
		patience  time.Duration
		meanwhile func(conn parked.Conn, client *net.TCPConn)
		want      error // nil: any
	}{
		{"is given up", 50 * time.Millisecond, func(parked.Conn, *net.TCPConn) {}, os.ErrDeadlineExceeded},
		{"ends with the connection", time.Hour, func(conn parked.Conn, _ *net.TCPConn) { conn.Close() }, net.ErrClosed},
		{"ends when the other side hangs up", time.Hour, func(_ parked.Conn, client *net.TCPConn) { client.Close() }, nil},
		{"ends when the other side resets", time.Hour, func(_ parked.Conn, client *net.TCPConn) { _ = client.SetLinger(0); client.Close() }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			both(t, func(t *testing.T, conn parked.Conn, client *net.TCPConn) {
				o := newOwner()
				conn.Watch(o)
				wrote := make(chan error, 1)
				go func() { wrote <- conn.Write(filling, tt.patience) }() // awaited below
				if _, err := io.ReadFull(client, make([]byte, 1000)); err != nil {
					t.Fatal(err)
				}
				tt.meanwhile(conn, client)
				select {
				case err := <-wrote:
					if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
						t.Errorf("got %v, want %v", err, tt.want)
					}
				case <-time.After(soon):
					t.Fatal("it still waits")
				}
				o.want(t, true)
				if err := conn.Write([]byte("more"), soon); err == nil {
					t.Error("more could be written after half a text")
				}
			})
		})
	}
}

func TestLastWordsAfterAnInterrupt(t *testing.T) {
	both(t, func(t *testing.T, conn parked.Conn, client *net.TCPConn) {
		o := newOwner()
		conn.Watch(o)
		conn.Interrupt()
		o.want(t, false)
		if err := conn.Write([]byte("good bye"), soon); err != nil {
			t.Error(err)
		}
		conn.Close()
		if text, err := io.ReadAll(client); string(text) != "good bye" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

// Descriptors are numbers, and a number that was closed is soon another's. What is
// written to a connection must reach that one or none, whoever closes it meanwhile.
func TestNobodyHearsWhatIsMeantForOthers(t *testing.T) {
	const workers, rounds = 8, 150
	var lot parked.Lot
	board := newSwitchboard(t)
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for round := range rounds {
				word := fmt.Sprintf("%d.%d ", worker, round)
				if err := exchange(board, &lot, word, round); err != nil {
					t.Errorf("round %s: %v", word, err)
				}
			}
		})
	}
	all.Wait()
}

// exchange writes a word many times while somebody closes the connection, and
// checks what arrives.
func exchange(board *switchboard, lot *parked.Lot, word string, round int) error {
	server, client, err := board.connect()
	if err != nil {
		return err
	}
	defer client.Close()
	conn, o := lot.Park(server), newOwner()
	conn.Watch(o)
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := 0; i < 200 && conn.Write([]byte(word), soon) == nil; i++ {
		}
	})
	buf := make([]byte, 100*len(word))
	n, err := io.ReadAtLeast(client, buf, len(word)*(1+round%3))
	if err != nil {
		return err
	}
	if text := string(buf[:n]); text != strings.Repeat(word, n/len(word))+word[:n%len(word)] {
		return fmt.Errorf("got %q", text)
	}
	gone := true
	switch round % 3 {
	case 0:
		client.Close()
	case 1:
		conn.Close()
	case 2:
		conn.Interrupt()
		gone = false
	}
	if got := <-o; got != gone {
		err = fmt.Errorf("told that gone is %v, want %v", got, gone)
	}
	conn.Close()
	writing.Wait()
	return err
}
