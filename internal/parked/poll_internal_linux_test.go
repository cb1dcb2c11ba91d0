package parked

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestAnEventOfAClosedSocketIsNobodys(t *testing.T) {
	p, err := newPoll()
	if err != nil {
		t.Fatal(err)
	}
	defer p.file.Close()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	first, second := &socket{fd: fds[0]}, &socket{fd: fds[0]} // one after the other has the number
	if err := p.add(first); err != nil {
		t.Fatal(err)
	}
	event := unix.EpollEvent{Fd: int32(fds[0]), Pad: first.serial}
	if got := p.find(&event); got != first {
		t.Errorf("an event of the first is that of %v", got)
	}
	p.remove(first)
	if got := p.find(&event); got != nil {
		t.Errorf("an event that came late is that of %v", got)
	}
	if err := p.add(second); err != nil {
		t.Fatal(err)
	}
	if got := p.find(&event); got != nil {
		t.Errorf("an event that came late is that of %v", got)
	}
}
