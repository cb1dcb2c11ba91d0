package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/jsonrpc"
)

const (
	firstPause = 100 * time.Millisecond
	longPause  = 30 * time.Second
	steadyAge  = 10 * time.Second // a server that ran this long did not fail to start
)

// keep keeps a server running until ctx ends or it has failed too often.
func (m *member) keep(ctx context.Context) {
	if m.after != nil {
		select {
		case <-m.after:
		case <-ctx.Done():
			return
		}
	}
	m.enter(StateStarting, nil)
	if err := m.run(ctx); err != nil {
		m.giveUp(err)
		return
	}
	m.drop()
}

// run starts a server, looks after it, and starts it again. It returns nil when
// ctx ends, and the last failure when there were too many in a row.
func (m *member) run(ctx context.Context) error {
	lost := make(chan error, 1)
	for failures := 0; ctx.Err() == nil; {
		err := m.start(ctx, lost)
		if err == nil {
			began := time.Now()
			m.enter(StateReady, nil)
			if err = m.watch(ctx, lost); time.Since(began) >= steadyAge {
				failures = 0
			}
		}
		if ctx.Err() != nil {
			break
		}
		m.opts.Logger.Warn("server failed", "server", m.name, "error", err)
		if failures++; failures >= m.opts.MaxFailures {
			return err
		}
		m.failed(err)
		if sleep(ctx, pauseAfter(failures)) != nil {
			break
		}
		m.enter(StateStarting, err)
	}
	return nil
}

// start makes the server ready: with a new client, or by letting the one it has
// dial again.
func (m *member) start(ctx context.Context, lost chan error) error {
	m.mu.Lock()
	c, config := m.client, m.config
	m.mu.Unlock()
	if c != nil {
		return m.revive(ctx, c, lost)
	}
	dialer, err := m.opts.dialer(m.name, &config)
	if err != nil {
		return err
	}
	opts := m.opts.client(m.name, &config)
	also := opts.OnLost
	opts.OnLost = func(err error) {
		select {
		case lost <- err:
		default: // it is known already
		}
		if also != nil {
			also(err)
		}
	}
	forget(lost)
	if c, err = client.Connect(ctx, dialer, &opts); err != nil {
		return err
	}
	m.mu.Lock()
	m.client = c
	m.mu.Unlock()
	return nil
}

// revive lets a client dial again, which keeps its subscriptions. One that does
// not come back is replaced at the next attempt.
func (m *member) revive(ctx context.Context, c *client.Client, lost chan error) error {
	ctx, cancel := context.WithTimeout(ctx, m.opts.StartTimeout+longPause)
	defer cancel()
	forget(lost)
	err := c.Ping(ctx)
	if answered(err) {
		return nil
	}
	if errors.Is(err, context.DeadlineExceeded) {
		m.drop()
	}
	return err
}

// forget empties a channel of what was said about an earlier connection.
func forget(lost chan error) {
	select {
	case <-lost:
	default:
	}
}

// answered reports whether the server said something, even if it was no.
func answered(err error) bool {
	var refused *jsonrpc.Error
	return err == nil || errors.As(err, &refused)
}

// watch returns when a server is not what it should be, and why.
func (m *member) watch(ctx context.Context, lost chan error) error {
	var tick <-chan time.Time
	if m.opts.HealthEvery > 0 {
		ticker := time.NewTicker(m.opts.HealthEvery)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-lost:
			return err
		case <-tick:
			if err := m.check(ctx); err != nil {
				return err
			}
		}
	}
}

// check asks a server whether it is there, unless it is at work: many servers do
// one thing at a time. One that stays silent is ended.
func (m *member) check(ctx context.Context) error {
	m.mu.Lock()
	c, busy := m.client, m.calls > 0
	m.mu.Unlock()
	if busy {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.opts.HealthTimeout)
	defer cancel()
	err := c.Ping(ctx)
	if answered(err) {
		return nil
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	m.mu.Lock()
	busy = m.calls > 0
	m.mu.Unlock()
	if busy {
		return nil // it got something to do meanwhile
	}
	m.drop()
	return fmt.Errorf("it hangs: %w", err)
}

// drop ends the client, and with it the server.
func (m *member) drop() {
	m.mu.Lock()
	c := m.client
	m.client = nil
	if m.status.State == StateReady {
		m.enterLocked(StateFailing, errors.New("it is being ended")) // nobody may be given the client
	}
	m.mu.Unlock()
	if c == nil {
		return
	}
	if err := c.Close(); err != nil {
		m.opts.Logger.Debug("close client", "server", m.name, "error", err)
	}
}

// failed notes that an attempt has ended, and that another will be made.
func (m *member) failed(err error) {
	m.mu.Lock()
	m.tries++
	m.status.Restarts++
	m.mu.Unlock()
	m.enter(StateFailing, err)
}

// giveUp leaves a server alone for a while.
func (m *member) giveUp(err error) {
	m.drop()
	m.mu.Lock()
	m.tries++
	m.retry = time.Now().Add(m.opts.Rest)
	m.stop()
	m.mu.Unlock()
	m.enter(StateDown, err)
}

// pauseAfter is how long to wait after n failures in a row. It is never the same,
// so that servers do not all start at once.
func pauseAfter(n int) time.Duration {
	pause := longPause
	if n <= 9 {
		pause = min(pause, firstPause<<(n-1))
	}
	return pause/2 + rand.N(pause)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
