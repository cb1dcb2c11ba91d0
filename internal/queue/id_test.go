package queue_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
)

func TestNewIDForm(t *testing.T) {
	form := regexp.MustCompile(`^task_[0-7][0-9a-hjkmnp-tv-z]{25}$`)
	seen := make(map[string]bool)
	for range 10_000 {
		id := queue.NewID(noon)
		if !form.MatchString(id) {
			t.Fatalf("%q has another form", id)
		}
		if seen[id] {
			t.Fatalf("%q came twice", id)
		}
		seen[id] = true
	}
}

func TestNewIDHoldsItsTime(t *testing.T) {
	tests := []struct {
		ms   int64
		want string
	}{
		{0, "task_0000000000"},
		{1, "task_0000000001"},
		{32, "task_0000000010"},
		{1<<48 - 1, "task_7zzzzzzzzz"},
	}
	for _, test := range tests {
		if id := queue.NewID(time.UnixMilli(test.ms)); id[:len(test.want)] != test.want {
			t.Errorf("%d ms: got %s, want it to begin with %s", test.ms, id, test.want)
		}
	}
}

func TestNewIDsSortByTime(t *testing.T) {
	last := ""
	for i := range 1_000 {
		id := queue.NewID(noon.Add(time.Duration(i) * time.Millisecond))
		if id <= last {
			t.Fatalf("%s comes after %s", id, last)
		}
		last = id
	}
}
