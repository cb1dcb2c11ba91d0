package streamable

import "testing"

func TestACrowdThatLeavesIsNoticedOnce(t *testing.T) {
	l := &limit{most: 10}
	for range 6 {
		l.take()
	}
	if l.fell(4) {
		t.Error("nobody has left, and it was noticed")
	}
	for range 4 {
		l.give()
	}
	if l.fell(5) {
		t.Error("four left, and five were noticed")
	}
	if !l.fell(4) || l.fell(4) {
		t.Error("four left, which must be noticed once")
	}
	l.take()
	l.give()
	if l.fell(2) {
		t.Error("a stream that came and went was noticed as two")
	}
}
