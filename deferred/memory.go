package deferred

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Memory is a [Store] that ends with the process. Make one with [NewMemory].
type Memory struct {
	maxEntries int
	maxBytes   int

	mu      sync.Mutex
	entries map[string]memoryEntry
	bytes   int // of all entries
}

type memoryEntry struct {
	data    []byte
	version int64
	until   time.Time
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store for so many entries with so many bytes in all;
// 0 stands for 10,000 entries and 256 MiB. Beyond that it is full.
func NewMemory(maxEntries, maxBytes int) *Memory {
	if maxEntries <= 0 {
		maxEntries = 10_000
	}
	if maxBytes <= 0 {
		maxBytes = 256 << 20
	}
	return &Memory{maxEntries: maxEntries, maxBytes: maxBytes, entries: make(map[string]memoryEntry)}
}

// Create keeps a new entry.
func (m *Memory) Create(ctx context.Context, id string, data []byte, until time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.entries[id]; taken {
		return fmt.Errorf("keep a deferred result: the id %s is taken", id)
	}
	if len(m.entries) >= m.maxEntries || m.bytes+len(data) > m.maxBytes {
		m.sweepLocked(time.Now())
	}
	if len(m.entries) >= m.maxEntries || m.bytes+len(data) > m.maxBytes {
		return ErrFull
	}
	m.putLocked(id, memoryEntry{data, 1, until})
	return nil
}

// Load returns an entry.
func (m *Memory) Load(_ context.Context, id string) ([]byte, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	return e.data, e.version, nil
}

// Swap replaces an entry.
func (m *Memory) Swap(ctx context.Context, id string, version int64, data []byte, until time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, known := m.entries[id]
	if !known || old.version != version {
		return false, nil
	}
	grows := len(data) - len(old.data)
	if m.bytes+grows > m.maxBytes {
		m.sweepLocked(time.Now())
	}
	if grows > 0 && m.bytes+grows > m.maxBytes {
		return false, ErrFull
	}
	m.putLocked(id, memoryEntry{data, version + 1, until})
	return true, nil
}

// Sweep removes the entries whose time is over.
func (m *Memory) Sweep(_ context.Context, now time.Time) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sweepLocked(now), nil
}

func (m *Memory) sweepLocked(now time.Time) int {
	before := len(m.entries)
	for id, e := range m.entries {
		if !e.until.IsZero() && e.until.Before(now) {
			m.bytes -= len(e.data)
			delete(m.entries, id)
		}
	}
	return before - len(m.entries)
}

func (m *Memory) putLocked(id string, e memoryEntry) {
	m.bytes += len(e.data) - len(m.entries[id].data)
	m.entries[id] = e
}
