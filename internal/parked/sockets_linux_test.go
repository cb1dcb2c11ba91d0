package parked_test

import (
	"errors"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bossman-mcp/bossman/internal/parked"
)

// descriptors returns how many are open, and how many of them a child process
// would get.
func descriptors(t *testing.T) (open, inherited int) {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		fd, err := strconv.Atoi(name.Name())
		if err != nil {
			t.Fatal(err)
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil { // the folder itself, which is closed
			continue
		}
		open++
		if flags&unix.FD_CLOEXEC == 0 {
			inherited++
		}
	}
	return open, inherited
}

// crowd parks connections and returns them and their other sides.
func crowd(t *testing.T, lot *parked.Lot, count int, owner func(i int, conn parked.Conn) parked.Owner) (conns []parked.Conn, clients []*net.TCPConn) {
	t.Helper()
	board := newSwitchboard(t)
	defer board.l.Close()
	for i := range count {
		server, client := board.pair(t)
		conn := lot.Park(server)
		conns, clients = append(conns, conn), append(clients, client)
		conn.Watch(owner(i, conn))
	}
	return conns, clients
}

// counter counts how many were told, and closes their connections.
type counter struct {
	conn  parked.Conn
	told  *atomic.Int32
	first func() // nil for most
}

func (c counter) Ended(bool) {
	if c.first != nil {
		c.first()
	}
	c.conn.Close()
	c.told.Add(1)
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(soon); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestACrowdCostsOneGoroutineAndLeavesNothing(t *testing.T) {
	const count = 1000
	var lot parked.Lot
	var told atomic.Int32
	_ = newSwitchboard(t) // so that the runtime has its own descriptors
	before, inherited := descriptors(t)
	goroutines := runtime.NumGoroutine()
	for range 3 {
		told.Store(0)
		_, clients := crowd(t, &lot, count, func(_ int, conn parked.Conn) parked.Owner { return counter{conn: conn, told: &told} })
		if got := runtime.NumGoroutine() - goroutines; got > 1 {
			t.Errorf("%d goroutines wait, want 1", got)
		}
		open, children := descriptors(t)
		if open != before+2*count+1 {
			t.Errorf("%d descriptors are open, want two for each connection and one", open-before)
		}
		if children != inherited {
			t.Errorf("a child process would get %d of them", children-inherited)
		}
		for _, client := range clients {
			client.Close()
		}
		eventually(t, "all were told", func() bool { return told.Load() == count })
		eventually(t, "all goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines })
		if open, _ := descriptors(t); open != before {
			t.Errorf("%d descriptors are left", open-before)
		}
	}
}

func TestACrowdThatEndsAtOnceIsToldByFew(t *testing.T) {
	const count = 1000
	var lot parked.Lot
	var told atomic.Int32
	goroutines, most := runtime.NumGoroutine(), atomic.Int32{}
	conns, _ := crowd(t, &lot, count, func(_ int, conn parked.Conn) parked.Owner {
		return counter{conn, &told, func() { most.Store(max(most.Load(), int32(runtime.NumGoroutine()-goroutines))) }}
	})
	for _, conn := range conns {
		conn.Interrupt()
	}
	eventually(t, "all were told", func() bool { return told.Load() == count })
	if got := most.Load(); got > count/10 { // a busy machine looks like slow owners
		t.Errorf("%d goroutines were there at a time", got)
	}
}

func TestSlowOwnersDoNotHoldUpOthers(t *testing.T) {
	const count, slow = 400, 100
	var lot parked.Lot
	var told atomic.Int32
	release := make(chan struct{})
	conns, _ := crowd(t, &lot, count, func(i int, conn parked.Conn) parked.Owner {
		if i < slow {
			return counter{conn, &told, func() { <-release }}
		}
		return counter{conn: conn, told: &told}
	})
	for _, conn := range conns {
		conn.Interrupt()
	}
	from := time.Now()
	eventually(t, "the others were told", func() bool { return told.Load() == count-slow })
	t.Logf("it took %v", time.Since(from))
	close(release)
	eventually(t, "all were told", func() bool { return told.Load() == count })
}

func TestTheConnectionThatWasParkedIsClosed(t *testing.T) {
	var lot parked.Lot
	server, _ := newSwitchboard(t).pair(t)
	conn := lot.Park(server)
	defer conn.Close()
	if _, err := server.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want that it is closed", err)
	}
}

func TestAConnectionThatCannotBeMovedIsHeld(t *testing.T) {
	var lot parked.Lot
	server, client := newSwitchboard(t).pair(t)
	server.Close() // it has no descriptor
	conn, o := lot.Park(server), newOwner()
	conn.Watch(o)
	o.want(t, true)
	client.Close()
}

func TestALotIsUsedAgainAndAgain(t *testing.T) {
	var lot parked.Lot
	board := newSwitchboard(t)
	var all sync.WaitGroup
	for range 4 { // the epoll comes and goes
		all.Go(func() {
			for range 200 {
				server, client, err := board.connect()
				if err != nil {
					t.Error(err)
					return
				}
				conn, o := lot.Park(server), newOwner()
				conn.Watch(o)
				client.Close()
				<-o
				conn.Close()
			}
		})
	}
	all.Wait()
}
