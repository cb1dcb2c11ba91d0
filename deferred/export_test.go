package deferred

import (
	"context"
	"time"
)

// The times that tests wait for.
const (
	Lease = lease
	Beat  = beat
)

// Settle returns when nothing is worked on.
func (d *Deferrer) Settle(ctx context.Context) error {
	for {
		d.mu.Lock()
		left := len(d.jobs)
		d.mu.Unlock()
		if left == 0 {
			return nil
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Decode reads a record and writes it again.
func Decode(data []byte) ([]byte, error) {
	r, err := decode(data, 1)
	if err != nil {
		return nil, err
	}
	return r.encode()
}

// Die ends a Deferrer as a process that is killed would: nothing is written.
func (d *Deferrer) Die() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	select {
	case <-d.ended:
	default:
		close(d.ended)
	}
	for id, j := range d.jobs {
		j.cancel(errGivenUp)
		delete(d.jobs, id)
	}
}
