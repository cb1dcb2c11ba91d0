package fleet

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/client"
)

// member is one server of a fleet. While it is started, a goroutine keeps it; see
// keeper.go.
type member struct {
	name  string
	opts  *Options
	after <-chan struct{} // closed when what had the name before is gone

	mu      sync.Mutex
	config  ServerConfig
	client  *client.Client // nil unless it was started; only the keeper sets it
	status  Status
	changed chan struct{}      // closed at the next change of status
	tries   int                // attempts to start it that have ended
	calls   int                // in flight
	retry   time.Time          // when a member that is down may be started
	stop    context.CancelFunc // ends the keeper; nil before the first
	work    sync.WaitGroup     // the keeper
}

func newMember(name string, c ServerConfig, opts *Options, after <-chan struct{}) *member {
	m := &member{name: name, opts: opts, after: after, config: c, changed: make(chan struct{})}
	m.status = Status{Name: name, State: StateIdle, Since: time.Now()}
	switch {
	case c.Disabled:
		m.status.State = StateDisabled
	case c.Err != nil:
		m.status.State, m.status.Err = StateInvalid, c.Err
	}
	return m
}

// enter changes the state, and says so.
func (m *member) enter(s State, err error) {
	m.mu.Lock()
	entered := m.enterLocked(s, err)
	status := m.status
	m.mu.Unlock()
	if entered && m.opts.OnChange != nil {
		m.opts.OnChange(status)
	}
}

// enterLocked changes the state, which does not happen after the last one.
func (m *member) enterLocked(s State, err error) bool {
	if m.status.State == StateClosed {
		return false
	}
	m.status.State, m.status.Err, m.status.Since = s, err, time.Now()
	if m.client != nil {
		m.status.Server = m.client.Server()
	}
	close(m.changed)
	m.changed = make(chan struct{})
	return true
}

func (m *member) snapshot() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status
}

func (m *member) current() ServerConfig {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.config
}

// adjust puts other rules in place.
func (m *member) adjust(c ServerConfig) {
	m.mu.Lock()
	m.config = c
	m.mu.Unlock()
	m.startIfEager()
}

func (m *member) startIfEager() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.config.Eager && m.status.State == StateIdle {
		m.startLocked()
	}
}

// startLocked starts the keeper, and with it the server.
func (m *member) startLocked() {
	ctx, cancel := context.WithCancel(context.Background())
	m.stop = cancel
	m.enterLocked(StateStarting, nil)
	m.work.Go(func() { m.keep(ctx) }) // close waits for it
}

// acquire returns the client of a server that is ready, and starts the server if
// it has to. It waits until the server is ready or the attempt to start it has
// failed. The caller releases what it was given.
func (m *member) acquire(ctx context.Context) (*client.Client, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	tries := m.tries
	for {
		switch m.status.State {
		case StateReady:
			m.calls++
			return m.client, nil
		case StateDisabled:
			return nil, ErrDisabled
		case StateInvalid:
			return nil, m.status.Err
		case StateClosed:
			return nil, ErrClosed
		case StateDown:
			if tries != m.tries || time.Now().Before(m.retry) {
				return nil, fmt.Errorf("%w after %d failures, until %s: %w", ErrDown, m.opts.MaxFailures, m.retry.Format(time.TimeOnly), m.status.Err)
			}
			m.startLocked()
		case StateIdle:
			m.startLocked()
		case StateFailing:
			if tries != m.tries {
				return nil, m.status.Err
			}
		}
		changed := m.changed
		m.mu.Unlock()
		err := ctx.Err()
		if err == nil {
			select {
			case <-changed:
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		m.mu.Lock()
		if err != nil {
			return nil, fmt.Errorf("wait until it is ready (%s): %w", m.status.State, err)
		}
	}
}

func (m *member) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls--
}

// close ends the server for good and waits for that.
func (m *member) close() {
	m.enter(StateClosed, nil)
	m.mu.Lock()
	if m.stop != nil {
		m.stop()
	}
	m.mu.Unlock()
	m.work.Wait()
}
