package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
)

// dialing is an attempt to open a connection that any number of calls wait for.
type dialing struct {
	done chan struct{} // closed after the rest is set
	conn *conn
	err  error
}

// connection returns the connection in use. If there is none it waits for one to
// be opened, as long as ctx lets it; the attempt goes on without it.
func (c *Client) connection(ctx context.Context) (*conn, error) {
	c.mu.Lock()
	if c.state.closed {
		c.mu.Unlock()
		return nil, ErrClosed
	}
	if k := c.state.conn; k != nil {
		c.mu.Unlock()
		return k, nil
	}
	d := c.state.dialing
	if d == nil {
		d = &dialing{done: make(chan struct{})}
		pause := time.Until(c.state.notBefore)
		if !c.crew.start(func(ctx context.Context) { c.redial(ctx, pause, d) }) {
			c.mu.Unlock()
			return nil, ErrClosed
		}
		c.state.dialing = d
	}
	c.mu.Unlock()
	select {
	case <-d.done:
		return d.conn, d.err
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a connection: %w", ctx.Err())
	}
}

// redial opens a connection after a pause and takes it into use.
func (c *Client) redial(ctx context.Context, pause time.Duration, d *dialing) {
	defer close(d.done)
	if d.err = sleep(ctx, pause); d.err == nil {
		d.conn, d.err = c.open(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.dialing = nil
	switch {
	case c.state.closed:
		d.err = ErrClosed
	case d.err != nil || d.conn.isLost():
		c.fellLocked()
	default:
		c.state.conn, c.state.known = d.conn, d.conn.agreement.Load()
		c.standLocked()
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const (
	firstPause = 100 * time.Millisecond
	longPause  = 30 * time.Second
	steadyAge  = 10 * time.Second // a connection this old did not fail to start
)

// fellLocked makes the next dialling wait, the longer the more often in a row
// it failed.
func (c *Client) fellLocked() {
	c.state.falls++
	c.state.notBefore = time.Now().Add(pauseAfter(c.state.falls))
}

// pauseAfter is how long to wait after n failures in a row. It is never the same,
// so that clients do not return all at once.
func pauseAfter(n int) time.Duration {
	pause := longPause
	if n <= 9 {
		pause = min(pause, firstPause<<(n-1))
	}
	return pause/2 + rand.N(pause)
}

// dropped notes that a connection ended.
func (c *Client) dropped(k *conn) {
	c.mu.Lock()
	if c.state.conn != k {
		c.mu.Unlock()
		return
	}
	c.state.conn = nil
	if time.Since(k.opened) < steadyAge {
		c.fellLocked()
	} else {
		c.state.falls, c.state.notBefore = 0, time.Time{}
	}
	c.mu.Unlock()
	why := k.link.reason()
	c.log.Debug("connection lost", "error", why)
	c.forget()
	if c.opts.OnLost != nil {
		c.courier.post(topic{}, func() { c.opts.OnLost(why) })
	}
}

// discard takes a connection out of use that may not know of its end yet.
func (c *Client) discard(k *conn) {
	c.dropped(k)
	c.crew.start(func(context.Context) { _ = k.peer.Close() }) // Close waits for it; why it failed is known
}

// forget drops what was learned from a server that may come back as another.
func (c *Client) forget() {
	c.tools.clear()
	c.opts.Cache.Clear()
}

// open dials and greets the server, in the way that worked before if that is
// known, and otherwise by a probe first.
func (c *Client) open(ctx context.Context) (*conn, error) {
	ctx, stop := c.patient(ctx, c.opts.ConnectTimeout)
	defer stop()
	k, err := c.greet(ctx)
	var late *TimeoutError
	if err != nil && errors.As(context.Cause(ctx), &late) {
		err = fmt.Errorf("%w: %v", late, err)
	}
	return k, err
}

// greet is open within the time that ctx has.
func (c *Client) greet(ctx context.Context) (*conn, error) {
	if c.greeting.MayInitialize() && (!c.greeting.MayProbe() || c.recall() == EraHandshake) {
		k, err := c.initialize(ctx, nil)
		if err == nil || !c.greeting.MayProbe() {
			return k, err
		}
		c.remember(Verdict{}) // the server may have become another
		if ctx.Err() != nil || errors.Is(err, peer.ErrClosed) || errors.Is(err, errDial) {
			return nil, err
		}
	}
	k, probeErr := c.probe(ctx, nil)
	var other *lifecycle.NotStatelessError
	if probeErr == nil || !errors.As(probeErr, &other) || !c.greeting.MayInitialize() || ctx.Err() != nil {
		return c.orClose(k, probeErr)
	}
	k, err := c.initialize(ctx, k)
	var refused *jsonrpc.Error
	if other.Silent && errors.As(err, &refused) { // it is there after all: perhaps it was only slow to start
		if k, again := c.probe(ctx, nil); again == nil {
			return k, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w (before that: %v)", err, probeErr)
	}
	return k, nil
}

// orClose returns a connection, or closes it if there is an error.
func (c *Client) orClose(k *conn, err error) (*conn, error) {
	if err == nil {
		return k, nil
	}
	if k != nil {
		_ = k.close() // the error is known
	}
	return nil, err
}

// probe tries the stateless era, on a new connection if k is nil. With an error
// it returns the connection if that can still be used.
func (c *Client) probe(ctx context.Context, k *conn) (*conn, error) {
	if k == nil {
		var err error
		if k, err = c.dial(ctx); err != nil {
			return nil, err
		}
	}
	brief, stop := c.patient(ctx, c.opts.ProbeTimeout)
	a, err := c.greeting.Probe(brief, k.peer)
	stop()
	if err == nil {
		c.agreed(k, a)
		return k, nil
	}
	var other *lifecycle.NotStatelessError
	if k.isLost() || errors.As(err, &other) && other.Silent {
		if k.isLost() {
			err = fmt.Errorf("%w; %v", err, k.link.reason())
		}
		_ = k.close() // and with it a server that would hold what the next one needs
		return nil, err
	}
	return k, err
}

// initialize tries the handshake era, on a new connection if k is nil.
func (c *Client) initialize(ctx context.Context, k *conn) (*conn, error) {
	if k == nil {
		var err error
		if k, err = c.dial(ctx); err != nil {
			return nil, err
		}
	}
	a, err := c.greeting.Initialize(ctx, k.peer)
	if err != nil {
		return c.orClose(k, err)
	}
	c.agreed(k, a)
	if level := *c.level.Load(); level != "" && a.Capabilities.Logging != nil {
		if err := k.peer.Call(ctx, mcp.MethodSetLevel, &mcp.SetLevelParams{Level: level}, nil); err != nil {
			c.log.Debug("set log level", "error", err)
		}
	}
	return k, nil
}

// agreed settles how a connection is spoken on, and remembers it.
func (c *Client) agreed(k *conn, a *lifecycle.Agreement) {
	k.agreement.Store(a)
	v := Verdict{Era: EraHandshake, Until: time.Now().Add(verdictTTL)}
	if a.Stateless {
		v.Era = EraStateless
	}
	c.remember(v)
}

// remember keeps a verdict; the zero one forgets it.
func (c *Client) remember(v Verdict) {
	c.mu.Lock()
	c.state.verdict = v
	c.mu.Unlock()
	if c.opts.Memory != nil {
		c.opts.Memory.Remember(v)
	}
}

// recall returns the era of the server as it was last found out, empty if that
// is not known or too long ago.
func (c *Client) recall() string {
	c.mu.Lock()
	v := c.state.verdict
	c.mu.Unlock()
	if v.Era == "" && c.opts.Memory != nil {
		v, _ = c.opts.Memory.Recall()
	}
	if !time.Now().Before(v.Until) {
		return ""
	}
	return v.Era
}
