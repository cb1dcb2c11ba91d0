// Package queue is the domain of bossman's task queue: what a task is, which
// states it passes through, what input is allowed, and what a Store promises.
//
// The package holds no state and does no I/O. A Store keeps the tasks; the
// rules that every Store must apply alike (NewTask.Make, Task.Finish, Pager)
// live here, and package storetest checks that a Store keeps them.
package queue

import "context"

// A Store keeps tasks durably. Its methods may be called from any number of
// goroutines.
//
// A verb that changes something returns without error only when the change
// has reached stable storage. When it returns an error, nothing was changed,
// with one exception: after ErrUnavailable from a failing disk a change that
// was never acknowledged may still be found after a crash.
//
// When ctx ends before a change has begun, the verb returns ctx.Err() and
// nothing happens. A change that has begun is carried through and its true
// outcome returned, so that a claim is never lost between the two.
//
// Beside the errors named below, every verb may return ErrUnavailable, and
// ErrClosed after Close.
type Store interface {
	// Create adds a pending task and returns it with its new ID.
	// It returns ErrInvalid when a field is outside its limits.
	Create(ctx context.Context, task NewTask) (Task, error)

	// Get returns the task with the given ID, or ErrNotFound.
	Get(ctx context.Context, id string) (Task, error)

	// List returns one page of the tasks that match the filter, in the order
	// in which they were created. Following Page.Next gives every task that
	// was there at the start exactly once, and those added meanwhile at the
	// end. It returns ErrInvalid for a bad filter or cursor.
	List(ctx context.Context, filter Filter) (Page, error)

	// ClaimNext hands the pending task with the highest priority, among equals
	// the oldest, to worker and to nobody else. The name may be empty.
	// It returns ErrEmpty when no task is pending.
	ClaimNext(ctx context.Context, worker string) (Task, error)

	// Finish ends a task, claimed or not. Repeating a call returns the task as
	// it is; a different outcome for a finished task is ErrFinished. It
	// returns ErrNotFound and ErrInvalid as the other verbs do.
	Finish(ctx context.Context, id string, outcome Outcome) (Task, error)

	// Close carries through the changes under way, then releases the store.
	// Closing twice is no error.
	Close() error
}
