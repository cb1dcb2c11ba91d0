package deferred

import (
	"context"
	"errors"
	"time"
)

// Store keeps the states of deferred results, each as a text of our own under an
// id, with a version. A store that several processes share makes their handles
// good in all of them. Its methods are called from many goroutines. The time
// until when an entry is kept may be zero: for ever.
type Store interface {
	// Create keeps a new entry, as version 1. It returns after the entry can no
	// longer be lost, and fails if the id is taken.
	Create(ctx context.Context, id string, data []byte, until time.Time) error
	// Load returns an entry and its version, and nil if there is none. An entry
	// whose time is over may still be there. The caller does not change data.
	Load(ctx context.Context, id string) (data []byte, version int64, err error)
	// Swap puts data into the place of an entry if that still has the version,
	// which grows by one, and reports whether it did. It returns after the change
	// can no longer be lost.
	Swap(ctx context.Context, id string, version int64, data []byte, until time.Time) (bool, error)
	// Sweep removes the entries whose time was over at now, and returns how many.
	Sweep(ctx context.Context, now time.Time) (int, error)
}

// ErrFull is what a [Store] returns that has no room. The client is told to try
// again later.
var ErrFull = errors.New("the store of deferred results is full")
