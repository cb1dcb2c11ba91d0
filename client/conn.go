package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
)

// conn is one connection of a client. It is the [peer.Handler] of what the
// server sends.
type conn struct {
	client    *Client
	peer      *peer.Peer
	link      *link
	mirror    paramHeaders // nil unless the transport repeats parameters in headers
	waiter    waiter       // nil unless requests may wait for a person
	agreement atomic.Pointer[lifecycle.Agreement]
	opened    time.Time
	alarm     alarm // for calls that wait too long
	questions

	lost  chan struct{} // closed when nothing more will be read
	ended chan struct{} // closed when the transport is closed too

	mu        sync.Mutex
	progress  map[int64]*progress       // by token
	numbered  map[jsonrpc.ID]*listening // of the stateless era, by the id of the request
	listeners []*Subscription           // of the handshake era
}

// questions are those of the server to us.
type questions struct {
	asking   atomic.Int32              // that wait for our answer
	answered atomic.Pointer[time.Time] // when the last was answered; nil: none was
}

// paramHeaders is a transport that repeats parameters of tool calls in headers:
// HTTP. Headers maps the JSON pointer of a parameter within the arguments to the
// name that follows Mcp-Param-; none forgets the tool.
type paramHeaders interface {
	SetToolHeaders(tool string, headers map[string]string)
}

// waiter is a transport whose requests may wait for a person to log in: HTTP.
type waiter interface {
	// Waiting reports whether a request does, and when one last did.
	Waiting() (now bool, last time.Time)
}

// lender is a transport whose messages a caller can receive for itself: a child's.
type lender interface {
	Lend(on bool) bool
	Ready() bool
	ReceiveSoon(ctx context.Context) ([]byte, error)
}

// busy reports whether it is not the server that is waited for but we are, and
// when that was so last.
func (k *conn) busy() (now bool, last time.Time) {
	if answered := k.answered.Load(); answered != nil {
		last = *answered
	}
	now = k.asking.Load() > 0
	if k.waiter != nil {
		waits, waited := k.waiter.Waiting()
		now = now || waits
		if waited.After(last) {
			last = waited
		}
	}
	return now, last
}

// link is a transport that remembers why it ended. A message that was too long
// ends it: it may have been the answer that somebody waits for.
type link struct {
	peer.Transport
	lender lender // the transport, if it is one

	mu  sync.Mutex
	why error
}

// Receive is that of the transport.
func (l *link) Receive(ctx context.Context) ([]byte, error) {
	message, err := l.Transport.Receive(ctx)
	return message, l.note(err)
}

// note remembers an error that is the end.
func (l *link) note(err error) error {
	if err == nil || isLostAnswer(err) {
		return err
	}
	if errors.Is(err, peer.ErrTooLong) {
		err = fmt.Errorf("the server sent too much at once: %v", err) // not wrapped: it is the end
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.why = err
	return err
}

// Lend is that of a transport that has it; see package peer.
func (l *link) Lend(on bool) bool { return l.lender != nil && l.lender.Lend(on) }

// Ready is that of the transport.
func (l *link) Ready() bool { return l.lender != nil && l.lender.Ready() }

// ReceiveSoon is that of the transport.
func (l *link) ReceiveSoon(ctx context.Context) ([]byte, error) {
	message, err := l.lender.ReceiveSoon(ctx)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, err
	}
	return message, l.note(err)
}

// isLostAnswer reports whether an error costs one call only.
func isLostAnswer(err error) bool {
	var lost *peer.LostError
	return errors.As(err, &lost)
}

func (l *link) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why == nil {
		return peer.ErrClosed
	}
	return l.why
}

// errDial marks the errors of the Dialer.
var errDial = errors.New("dial")

// dial opens a connection on which nothing was said yet.
func (c *Client) dial(ctx context.Context) (*conn, error) {
	t, err := c.dialer.Dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDial, err)
	}
	k := &conn{
		client: c, link: &link{Transport: t}, opened: time.Now(),
		lost: make(chan struct{}), ended: make(chan struct{}),
		progress: make(map[int64]*progress), numbered: make(map[jsonrpc.ID]*listening),
	}
	k.link.lender, _ = t.(lender)
	k.mirror, _ = t.(paramHeaders)
	k.waiter, _ = t.(waiter)
	k.peer = peer.New(k.link, k, &peer.Options{
		Batches:     func() bool { a := k.agreement.Load(); return a != nil && a.Batch },
		OnEnd:       func() { close(k.lost); c.dropped(k) },
		OnCancel:    k.cancelled,
		Quiet:       true,
		MaxInFlight: 1_000,
		Drain:       time.Millisecond, // answers have no way to leave any more
		Logger:      c.log,
	})
	started := c.crew.start(func(ctx context.Context) {
		defer close(k.ended)
		defer k.alarm.stop()
		if err := k.peer.Run(ctx); err != nil {
			c.log.Debug("connection failed", "error", err)
		}
	})
	if !started {
		_ = t.Close() // nobody used it
		return nil, ErrClosed
	}
	c.newest.Store(k)
	return k, nil
}

// close ends the connection and waits for that.
func (k *conn) close() error {
	err := k.peer.Close()
	<-k.ended
	return err
}

func (k *conn) isLost() bool {
	select {
	case <-k.lost:
		return true
	default:
		return false
	}
}

// Answer answers a request of the server. The stateless era has none, and no
// answers to them either: there it is left unanswered.
func (k *conn) Answer(ctx context.Context, r *peer.Request) (any, error) {
	a := k.agreement.Load()
	switch {
	case a != nil && a.Stateless:
		k.client.log.Warn("the server sent a request, which its protocol revision does not have", "method", r.Method)
		return peer.Open, nil
	case r.Method == mcp.MethodPing:
		return struct{}{}, nil
	case a == nil:
		return nil, jsonrpc.InvalidRequest("%s came before the handshake", r.Method)
	}
	k.asking.Add(1)
	defer func() {
		now := time.Now()
		k.answered.Store(&now)
		k.asking.Add(-1)
	}()
	return k.client.answer(ctx, r.Method, r.Params)
}

// Notice takes a notification of the server, on the reading goroutine.
func (k *conn) Notice(_ context.Context, method string, params []byte) {
	c := k.client
	switch method {
	case mcp.NotificationProgress:
		k.advance(params)
	case mcp.NotificationMessage:
		if c.opts.OnLog == nil {
			return
		}
		p := new(mcp.LoggingMessageParams)
		if err := json.Unmarshal(params, p); err != nil {
			c.log.Debug("passed over a log message", "error", err)
			return
		}
		c.courier.post(topic{}, func() { c.opts.OnLog(p) })
	case mcp.NotificationSubscriptionsAcknowledged:
		k.acknowledged(params)
	case mcp.NotificationToolsListChanged, mcp.NotificationPromptsListChanged, mcp.NotificationResourcesListChanged:
		k.changed(mcp.Event{Method: method}, params)
	case mcp.NotificationResourceUpdated:
		if uri := jsonscan.Unquote(jsonscan.Get(params, "uri")); uri != "" {
			k.changed(mcp.Event{Method: method, URI: uri}, params)
		}
	case mcp.NotificationDeferred:
		if d, err := lifecycle.ReadDeferred(params); err == nil {
			k.changed(mcp.Event{Method: method, Deferred: d}, params)
		} else {
			c.log.Debug("passed over the state of a deferred result", "error", err)
		}
	case mcp.NotificationElicitationComplete, mcp.NotificationDeferredStatus:
	default:
		if c.opts.OnNotification != nil {
			c.courier.post(topic{}, func() { c.opts.OnNotification(method, params) })
		}
	}
}
