package streamable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/bossman-mcp/bossman/internal/sse"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

const (
	maxAnswers = 100 // messages in one array
	maxEventID = 4096
	linger     = time.Second            // for the end of a stream after the answer
	listenTime = 500 * time.Millisecond // for the start of the server's own stream

	firstRetry = time.Second // if the server does not ask for another time
	minRetry   = 100 * time.Millisecond
	maxRetry   = 5 * time.Minute
	maxBackoff = 30 * time.Second
	maxResumes = 5 // attempts in a row that fail
)

// noID is what some servers write where they should leave the id out.
var noID = jsonrpc.StringID("")

// errNoMessage marks a text that is no message.
var errNoMessage = errors.New("it is no message")

// follow reads the stream that a POST was answered with, to its answer. The flow
// ends with it.
func (f *flow) follow(ctx context.Context, body io.ReadCloser) {
	defer f.c.end(f)
	err := f.read(ctx, body)
	if !f.answered.Load() {
		err = f.resume(ctx, err)
	}
	if f.answered.Load() || context.Cause(ctx) == errGivenUp {
		return
	}
	f.c.lose(context.Background(), f.id, broken(ctx, err))
}

// broken says why a stream will not bring its answer.
func broken(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case cause != nil:
		return cause
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the stream ended before the answer: %w", io.ErrUnexpectedEOF)
	case errors.Is(err, sse.ErrTooLong):
		return fmt.Errorf("%w: %v", peer.ErrTooLong, err)
	}
	return fmt.Errorf("read answer: %w", err)
}

// read hands on what a stream brings until it ends. It returns io.EOF if that is
// all that happened.
func (f *flow) read(ctx context.Context, body io.ReadCloser) error {
	defer body.Close()
	return f.decode(ctx, sse.NewDecoder(body, f.c.opts.MaxMessage))
}

func (f *flow) decode(ctx context.Context, events *sse.Decoder) error {
	var patience *time.Timer
	for {
		e, err := events.Next()
		if err != nil {
			return err
		}
		if e.HasID && len(e.ID) <= maxEventID {
			f.lastEvent = e.ID
		}
		if e.Retry > 0 {
			f.retry = min(max(e.Retry, minRetry), maxRetry)
		}
		if len(e.Data) == 0 || e.Name != "" && e.Name != "message" {
			continue
		}
		switch err := f.take(ctx, e.Data); {
		case errors.Is(err, errNoMessage):
			f.c.opts.Logger.Warn("skipped an event", "error", err)
		case err != nil:
			return err
		}
		if patience == nil && !f.listens && f.answered.Load() { // the server should end it now
			patience = time.AfterFunc(linger, func() { f.cancel(errSettled) })
			defer patience.Stop()
		}
	}
}

// take hands on a text that the server sent: a message, or an array of them.
func (f *flow) take(ctx context.Context, text []byte) error {
	if !jsonrpc.IsBatch(text) {
		return f.takeMessage(ctx, text)
	}
	all, err := jsonrpc.ParseBatch(text, maxAnswers)
	if err != nil {
		return fmt.Errorf("%w: %v", errNoMessage, err) // what they did wrong, not what they said
	}
	for _, one := range all {
		if e := f.takeMessage(ctx, one); e != nil {
			err = e
		}
	}
	return err
}

func (f *flow) takeMessage(ctx context.Context, text []byte) error {
	m, err := jsonrpc.Parse(text)
	answers := m.Result != nil || m.Error != nil
	switch {
	case m.Error != nil && err == nil && !f.id.IsZero() && (m.ID.IsZero() || m.ID == noID): // about this request, whose id they did not read
		m.ID = f.id
		text = jsonrpc.AppendError(nil, f.id, m.Error)
	case answers && !m.ID.IsZero(): // if it is malformed, the receiver says so
	case err != nil:
		return fmt.Errorf("%w: %v", errNoMessage, err)
	case m.IsRequest() && f.on == nil:
		f.c.opts.Logger.Warn("skipped a request of the server, which the stateless era does not have", "method", m.Method)
		return nil
	}
	if answers {
		if f.opens && m.ID.Key() == f.id {
			f.c.agree(f.on, m.Result)
		}
		if !f.c.settle(m.ID, f) {
			f.c.opts.Logger.Debug("skipped an answer that nobody waits for", "id", m.ID.String(), "error", m.Error)
			return nil
		}
	}
	return f.c.push(ctx, text)
}

// listen opens the stream on which a server of the handshake era says what
// belongs to no request. Servers need not have one. It waits for the server's word
// on that, but not for long: what the next request brings about would be lost if
// it came first.
func (c *conn) listen(ctx context.Context, on *footing) {
	if c.isOldest() {
		return
	}
	opened := make(chan struct{})
	f := &flow{on: on, listens: true, opened: opened}
	own, err := c.begin(context.Background(), f)
	if err != nil {
		return
	}
	started := c.spawn(func() { // Close waits for it
		defer c.end(f)
		c.opts.Logger.Debug("the server's own stream ended", "error", f.resume(own, nil))
	})
	if !started {
		c.end(f)
		return
	}
	brief, cancel := context.WithTimeout(ctx, listenTime)
	defer cancel()
	select {
	case <-opened:
	case <-own.Done():
	case <-brief.Done(): // it may be a server that says nothing before it has something to say
	}
}

// resume takes a stream up where it broke, as often as it breaks, until it has
// brought its answer. It returns why it does not go on. The server's own stream,
// which has no answer, it opens as well.
func (f *flow) resume(ctx context.Context, why error) error {
	fails := 0
	for f.canResume(ctx, why) {
		if (why != nil || !f.listens) && !pause(ctx, f.wait(fails)) {
			break
		}
		body, hopeless, err := f.reopen(ctx)
		f.announce()
		if err == nil {
			fails = 0
			why = f.read(ctx, body)
			continue
		}
		if hopeless {
			return err
		}
		if why = err; fails == maxResumes && !f.listens {
			break
		}
		fails++
	}
	return why
}

// announce says that the server has answered the first attempt.
func (f *flow) announce() {
	if f.opened != nil {
		close(f.opened)
		f.opened = nil
	}
}

func (f *flow) canResume(ctx context.Context, why error) bool {
	return f.on != nil && ctx.Err() == nil && !f.answered.Load() &&
		(f.listens || f.lastEvent != "" && !errors.Is(why, sse.ErrTooLong))
}

// wait returns how long to wait before the next attempt, after so many that
// failed.
func (f *flow) wait(fails int) time.Duration {
	d := f.retry
	if d == 0 {
		d = firstRetry
	}
	if fails > 0 {
		d = max(d, min(d<<min(fails, 10), maxBackoff))
		d += rand.N(d / 4) // not all clients at once
	}
	return d
}

// pause reports whether the time passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// reopen asks for a stream from its last event on. If it fails, it reports
// whether to try again is hopeless.
func (f *flow) reopen(ctx context.Context) (body io.ReadCloser, hopeless bool, err error) {
	a := &ask{method: http.MethodGet, url: f.c.base}
	a.header, _ = f.c.sessionHeader(f.on)
	a.header["Accept"] = typeEvents
	if f.lastEvent != "" {
		a.header[headerLastEvent] = []string{f.lastEvent}
	}
	res, err := f.c.out.do(ctx, a)
	switch {
	case err != nil:
		var redirect *RedirectError
		return nil, errors.As(err, &redirect) || errors.Is(err, peer.ErrUnauthorized), err
	case res.StatusCode >= 200 && res.StatusCode <= 299 && essence(res.Header) == eventStream:
		return res.Body, false, nil
	}
	r := f.c.readRefusal(a.method, a.url, res)
	if !f.listens { // there, a 404 may mean that there is no such stream
		if err := f.c.checkLost(f.on, jsonrpc.ID{}, r); err != nil {
			return nil, true, err
		}
	}
	retry := r.http.Status >= 500 && r.http.Status != http.StatusNotImplemented || r.http.Status == http.StatusTooManyRequests
	return nil, !retry, r.http
}
