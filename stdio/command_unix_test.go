//go:build unix

package stdio_test

import (
	"syscall"
	"testing"
	"time"
)

func TestAStoppedChildIsKilled(t *testing.T) { // R019
	before := children(t)
	c := dial(t, misbehaving("echo"))
	roundTrip(t, c)
	for pid := range children(t) {
		if !before[pid] {
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}
	}
	if took := closed(t, c); took > 4*time.Second {
		t.Errorf("Close took %v", took)
	}
	noneLeft(t, before)
}
