package sqlite

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bossman-mcp/bossman/internal/queue"
)

const (
	// maxBatch is how many writes may share a commit.
	maxBatch = 128
	// lockWait is how long to wait for another process that holds the file.
	lockWait = 30 * time.Second
)

// A committer gathers writes that arrive together into one transaction. One
// goroutine takes what is waiting, runs each write in a savepoint of its own,
// commits once, and only then tells the callers. While it waits for the disk
// the next writes gather; a lone write is committed at once.
type committer struct {
	db      *sql.DB
	session *session      // the goroutine's alone; nil: to be opened again
	wake    chan struct{} // holds a token when there may be something to do
	stopped chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	queue  []*write
	closed bool
}

// A write is one caller's change on its way through the committer.
type write struct {
	change func(*session) error
	state  atomic.Int32  // waiting, then begun or abandoned
	err    error         // set before done is closed
	done   chan struct{} // closed when the outcome is certain
}

const (
	waiting int32 = iota
	begun
	abandoned
)

// newCommitter opens the writing connection, brings the schema up to date and
// starts the goroutine, which close ends and waits for.
func newCommitter(ctx context.Context, program, source string) (*committer, error) {
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(-1) // a session that is given up is closed, not kept
	c := &committer{db: db, wake: make(chan struct{}, 1), stopped: make(chan struct{})}
	err = retry(func() error {
		err := c.connect()
		if err == nil {
			err = migrate(c.session, program)
		}
		if err != nil {
			c.disconnect()
		}
		return err
	}, func() bool { return ctx.Err() == nil })
	if err != nil {
		db.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, explain(err)
	}
	go c.run() // close waits for it
	return c, nil
}

// do runs change in a transaction and returns when it is on the disk. When ctx
// ends before change has begun, it never will, and do returns ctx.Err(). The
// change must leave nothing behind when it returns an error but what it did to
// the database, which is undone.
func (c *committer) do(ctx context.Context, change func(*session) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &write{change: change, done: make(chan struct{})}
	if !c.add(w) {
		return queue.ErrClosed
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		if w.state.CompareAndSwap(waiting, abandoned) {
			return ctx.Err()
		}
		<-w.done
	}
	return w.err
}

// close lets the goroutine finish what is queued and closes the connection.
func (c *committer) close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.signal()
	<-c.stopped
	return c.db.Close()
}

// isClosed reports whether close has been called.
func (c *committer) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// add queues w and reports whether the committer is open.
func (c *committer) add(w *write) bool {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return false
	}
	c.queue = append(c.queue, w)
	c.mu.Unlock()
	c.signal()
	return true
}

// signal wakes the goroutine now or at its next look.
func (c *committer) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// take removes up to limit writes from the queue.
func (c *committer) take(limit int) []*write {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(limit, len(c.queue))
	batch := c.queue[:n:n]
	c.queue = c.queue[n:]
	return batch
}

// run commits batch after batch until the committer is closed and its queue
// empty.
func (c *committer) run() {
	defer close(c.stopped)
	defer c.disconnect()
	for {
		batch := c.take(maxBatch)
		if len(batch) > 0 {
			c.commit(batch)
			continue
		}
		if c.isClosed() {
			return
		}
		<-c.wake
	}
}

// commit runs the batch, and what joins it meanwhile, in one transaction and
// tells every caller its outcome.
func (c *committer) commit(batch []*write) {
	err := c.begin(batch)
	for i := 0; err == nil && i < len(batch); i++ {
		err = c.apply(batch[i])
		if i == len(batch)-1 {
			batch = append(batch, c.take(maxBatch-len(batch))...)
		}
	}
	if err == nil {
		err = c.session.exec("COMMIT")
	}
	if err != nil {
		c.disconnect() // which undoes what is left of the transaction
		err = explain(err)
	}
	for _, w := range batch {
		if err != nil {
			w.err = err
		}
		close(w.done)
	}
}

// begin takes the write lock. It gives up early when nobody waits any more.
func (c *committer) begin(batch []*write) error {
	return retry(func() error {
		if err := c.connect(); err != nil {
			return err
		}
		return c.session.exec("BEGIN IMMEDIATE")
	}, func() bool {
		for _, w := range batch {
			if w.state.Load() == waiting {
				return true
			}
		}
		return false
	})
}

// apply runs one write, unless its caller has gone, and undoes it alone when it
// fails. An error means that the whole transaction is lost.
func (c *committer) apply(w *write) error {
	if !w.state.CompareAndSwap(waiting, begun) {
		return nil
	}
	if err := c.session.exec("SAVEPOINT one"); err != nil {
		return err
	}
	w.err = w.change(c.session)
	if w.err != nil {
		if err := c.session.exec("ROLLBACK TO one"); err != nil {
			return w.err // SQLite has given up the transaction for this reason
		}
		w.err = explain(w.err)
	}
	return c.session.exec("RELEASE one")
}

// connect opens the session if there is none.
func (c *committer) connect() (err error) {
	if c.session == nil {
		c.session, err = newSession(c.db)
	}
	return err
}

// disconnect closes the session, whose state is no longer known. The next
// batch opens another.
func (c *committer) disconnect() {
	if c.session != nil {
		c.session.close()
		c.session = nil
	}
}

// retry calls try while another connection is in its way, for up to lockWait
// and while goOn returns true. It looks at irregular times about a millisecond
// apart, because a busy process leaves only short gaps, and less often when
// the wait gets long.
func retry(try func() error, goOn func() bool) error {
	start := time.Now()
	for {
		err := try()
		waited := time.Since(start)
		if !busy(err) || !goOn() || waited > lockWait {
			return err
		}
		pause := 2 * time.Millisecond
		if waited > time.Second {
			pause = 20 * time.Millisecond
		}
		time.Sleep(rand.N(pause))
	}
}
