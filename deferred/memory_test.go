package deferred_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/deferred"
	"github.com/bossman-mcp/bossman/deferred/storetest"
)

func TestMemory(t *testing.T) {
	stores := make(map[*testing.T]*deferred.Memory)
	storetest.Run(t, func(t *testing.T) deferred.Store {
		if stores[t] == nil {
			stores[t] = deferred.NewMemory(0, 0)
		}
		return stores[t]
	})
}

func TestMemoryIsBounded(t *testing.T) {
	ctx := t.Context()
	t.Run("by the number of entries", func(t *testing.T) {
		m := deferred.NewMemory(3, 0)
		for i := range 3 {
			if err := m.Create(ctx, fmt.Sprint(i), []byte("a"), time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Create(ctx, "4", []byte("a"), time.Time{}); !errors.Is(err, deferred.ErrFull) {
			t.Errorf("got %v, want that it is full", err)
		}
	})
	t.Run("by the bytes of all entries", func(t *testing.T) {
		m := deferred.NewMemory(0, 10)
		if err := m.Create(ctx, "a", []byte("12345"), time.Time{}); err != nil {
			t.Fatal(err)
		}
		if err := m.Create(ctx, "b", []byte("123456"), time.Time{}); !errors.Is(err, deferred.ErrFull) {
			t.Errorf("got %v, want that it is full", err)
		}
		if _, err := m.Swap(ctx, "a", 1, []byte("12345678901"), time.Time{}); !errors.Is(err, deferred.ErrFull) {
			t.Errorf("got %v, want that it is full", err)
		}
		if done, err := m.Swap(ctx, "a", 1, []byte("1"), time.Time{}); !done || err != nil {
			t.Errorf("to shrink: %v, %v", done, err)
		}
		if err := m.Create(ctx, "b", []byte("123456789"), time.Time{}); err != nil {
			t.Errorf("after shrinking: %v", err)
		}
	})
	t.Run("and makes room by what is over", func(t *testing.T) {
		m := deferred.NewMemory(1, 5)
		for i := range 10 {
			if err := m.Create(ctx, fmt.Sprint(i), []byte("12345"), time.Now().Add(-time.Second)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
