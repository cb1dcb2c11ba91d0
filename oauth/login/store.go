package login

import (
	"context"
	"slices"
	"sync"
)

// Store keeps logins and client registrations, so that they outlive an
// [Authorizer]. Values are secrets. It is used from many goroutines, and may be
// shared by many Authorizers and processes.
type Store interface {
	// Load returns the value of a key, nil if there is none.
	Load(ctx context.Context, key string) ([]byte, error)
	// Update replaces the value of a key by what change makes of it: nil for none,
	// before and after. Nobody else updates the key meanwhile, in any process;
	// change may take seconds, and may not use the store. If change fails, its
	// error is returned and nothing is changed.
	Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error
}

// Memory returns a store that lasts as long as the process.
func Memory() Store {
	return &memory{values: make(map[string][]byte), locks: make(map[string]chan struct{})}
}

type memory struct {
	mu     sync.Mutex
	values map[string][]byte
	locks  map[string]chan struct{} // of one token each: whoever takes it may update
}

func (m *memory) Load(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.values[key]), nil
}

func (m *memory) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	m.mu.Lock()
	lock := m.locks[key]
	if lock == nil {
		lock = make(chan struct{}, 1)
		m.locks[key] = lock
	}
	m.mu.Unlock()
	select {
	case lock <- struct{}{}: // if it is free, even when it is late
	default:
		select {
		case lock <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() { <-lock }()
	old, _ := m.Load(ctx, key)
	value, err := change(old)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if value == nil {
		delete(m.values, key)
		return nil
	}
	m.values[key] = slices.Clone(value)
	return nil
}
