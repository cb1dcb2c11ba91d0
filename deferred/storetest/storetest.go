// Package storetest is the specification of a [deferred.Store] as tests. Every
// store runs the whole suite.
package storetest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/deferred"
)

// Run tests the store that open opens. Called again with the same t, open must
// return a store with the same entries; with another t, an empty one.
func Run(t *testing.T, open func(t *testing.T) deferred.Store) {
	stories := []struct {
		name string
		test func(t *testing.T, s, same deferred.Store)
	}{
		{"an entry is read as it was written", readBack},
		{"an unknown entry is nothing", unknown},
		{"an id is taken once", taken},
		{"an entry is swapped by whoever knows its version", swapped},
		{"a swap of what is not there does nothing", swappedNothing},
		{"of many that swap at once one does", swapOnce},
		{"of many that create at once one does", createOnce},
		{"a sweep removes what is over, and nothing else", swept},
		{"a swap gives an entry another time", prolonged},
		{"a cancelled caller changes nothing", cancelled},
	}
	for _, story := range stories {
		t.Run(story.name, func(t *testing.T) { story.test(t, open(t), open(t)) })
	}
}

func create(t *testing.T, s deferred.Store, id, data string, until time.Time) {
	t.Helper()
	if err := s.Create(t.Context(), id, []byte(data), until); err != nil {
		t.Fatalf("create %s: %v", id, err)
	}
}

func want(t *testing.T, s deferred.Store, id, data string, version int64) {
	t.Helper()
	got, v, err := s.Load(t.Context(), id)
	if err != nil || v != version || string(got) != data {
		t.Errorf("load %s: got %q, version %d, %v; want %q, version %d", id, shorten(got), v, err, shorten([]byte(data)), version)
	}
}

func shorten(data []byte) []byte { return data[:min(len(data), 100)] }

func swap(t *testing.T, s deferred.Store, id string, version int64, data string) bool {
	t.Helper()
	done, err := s.Swap(t.Context(), id, version, []byte(data), time.Time{})
	if err != nil {
		t.Fatalf("swap %s: %v", id, err)
	}
	return done
}

func readBack(t *testing.T, s, same deferred.Store) {
	texts := []string{"a", "{}", "\x00\xff\xfe", "'; DROP TABLE deferred; --", "ü€𝄞", strings.Repeat("x", 5<<20)}
	for i, text := range texts {
		id := fmt.Sprintf("ID%d'\"%%_", i)
		create(t, s, id, text, time.Time{})
		want(t, s, id, text, 1)
		want(t, same, id, text, 1)
	}
}

func unknown(t *testing.T, s, _ deferred.Store) {
	create(t, s, "A", "a", time.Time{})
	for _, id := range []string{"", "B", "a", "A ", "A%"} {
		got, version, err := s.Load(t.Context(), id)
		if got != nil || version != 0 || err != nil {
			t.Errorf("load %q: got %q, version %d, %v", id, got, version, err)
		}
	}
}

func taken(t *testing.T, s, same deferred.Store) {
	create(t, s, "A", "first", time.Time{})
	if err := same.Create(t.Context(), "A", []byte("second"), time.Time{}); err == nil {
		t.Error("an id that is taken was given again")
	}
	want(t, s, "A", "first", 1)
}

func swapped(t *testing.T, s, same deferred.Store) {
	create(t, s, "A", "one", time.Time{})
	create(t, s, "B", "other", time.Time{})
	if !swap(t, same, "A", 1, "two") {
		t.Error("the swap of version 1 was refused")
	}
	want(t, s, "A", "two", 2)
	for _, version := range []int64{0, 1, 3, -1} {
		if swap(t, s, "A", version, "no") {
			t.Errorf("the swap of version %d was not refused", version)
		}
	}
	if !swap(t, s, "A", 2, strings.Repeat("three", 1000)) {
		t.Error("the swap of version 2 was refused")
	}
	want(t, same, "A", strings.Repeat("three", 1000), 3)
	want(t, s, "B", "other", 1)
}

func swappedNothing(t *testing.T, s, _ deferred.Store) {
	for _, version := range []int64{0, 1} {
		if swap(t, s, "A", version, "a") {
			t.Errorf("nothing was swapped as version %d", version)
		}
	}
	if got, _, err := s.Load(t.Context(), "A"); got != nil || err != nil {
		t.Errorf("load: got %q, %v", got, err)
	}
}

// together runs do(0) to do(n-1) at once and returns how many return true.
func together(n int, do func(i int) bool) int {
	var count atomic.Int32
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { // together waits for it
			if do(i) {
				count.Add(1)
			}
		})
	}
	wg.Wait()
	return int(count.Load())
}

func swapOnce(t *testing.T, s, same deferred.Store) {
	create(t, s, "A", "0", time.Time{})
	for version := range int64(20) {
		winners := together(8, func(i int) bool {
			store := s
			if i%2 == 0 {
				store = same
			}
			done, err := store.Swap(t.Context(), "A", version+1, []byte{byte(i)}, time.Time{})
			if err != nil {
				t.Errorf("swap: %v", err)
			}
			return done
		})
		if winners != 1 {
			t.Fatalf("%d callers swapped version %d", winners, version+1)
		}
	}
}

func createOnce(t *testing.T, s, same deferred.Store) {
	winners := together(8, func(i int) bool {
		store := s
		if i%2 == 0 {
			store = same
		}
		return store.Create(t.Context(), "A", bytes.Repeat([]byte{'a'}, i+1), time.Time{}) == nil
	})
	if winners != 1 {
		t.Errorf("%d callers created the same entry", winners)
	}
}

func swept(t *testing.T, s, same deferred.Store) {
	now := time.Now()
	create(t, s, "over", "a", now.Add(-time.Minute))
	create(t, s, "just over", "a", now.Add(-time.Millisecond))
	create(t, s, "soon", "a", now.Add(time.Minute))
	create(t, s, "never", "a", time.Time{})
	n, err := same.Sweep(t.Context(), now)
	if n != 2 || err != nil {
		t.Errorf("a sweep removed %d, %v; want 2", n, err)
	}
	for id, there := range map[string]bool{"over": false, "just over": false, "soon": true, "never": true} {
		if got, _, err := s.Load(t.Context(), id); (got != nil) != there || err != nil {
			t.Errorf("%s: got %q, %v", id, got, err)
		}
	}
	if n, err := s.Sweep(t.Context(), now.Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("an hour later a sweep removed %d, %v; want 1", n, err)
	}
	create(t, s, "over", "again", time.Time{})
	want(t, s, "over", "again", 1)
}

func prolonged(t *testing.T, s, _ deferred.Store) {
	now := time.Now()
	create(t, s, "longer", "a", now.Add(-time.Second))
	create(t, s, "shorter", "a", now.Add(time.Hour))
	create(t, s, "for ever", "a", now.Add(-time.Second))
	for id, until := range map[string]time.Time{"longer": now.Add(time.Hour), "shorter": now.Add(-time.Second), "for ever": {}} {
		if done, err := s.Swap(t.Context(), id, 1, []byte("b"), until); !done || err != nil {
			t.Errorf("swap %s: %v, %v", id, done, err)
		}
	}
	if n, err := s.Sweep(t.Context(), now); n != 1 || err != nil {
		t.Errorf("a sweep removed %d, %v; want 1", n, err)
	}
	if got, _, _ := s.Load(t.Context(), "shorter"); got != nil {
		t.Error("an entry outlived its time")
	}
}

func cancelled(t *testing.T, s, _ deferred.Store) {
	create(t, s, "A", "a", time.Time{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Create(ctx, "B", []byte("b"), time.Time{}); err == nil {
		t.Error("create: no error")
	}
	if done, err := s.Swap(ctx, "A", 1, []byte("b"), time.Time{}); done || err == nil {
		t.Errorf("swap: %v, %v", done, err)
	}
	want(t, s, "A", "a", 1)
	if got, _, _ := s.Load(t.Context(), "B"); got != nil {
		t.Error("a cancelled caller created an entry")
	}
}
