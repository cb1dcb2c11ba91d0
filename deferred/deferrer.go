package deferred

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// Options are what a [Deferrer] can be told; nil means the zero value of each.
type Options struct {
	// Store keeps the results. Nil: memory, see [NewMemory].
	Store Store
	// TTL is how long a result is kept after its last change; while it is being
	// worked on it is kept in any case. 0: an hour. Negative: for ever.
	TTL time.Duration
	// PollInterval is how often clients should look. 0: a second.
	PollInterval time.Duration
	// MaxRunning is how many results are worked on at once. 0: 64.
	MaxRunning int
	// MaxWaiting is how many more wait for their turn, before calls are refused.
	// 0: 1,000. Negative: none.
	MaxWaiting int
	// Logger hears of what clients must not. Nil: slog.Default().
	Logger *slog.Logger
}

func (o *Options) withDefaults() Options {
	var full Options
	if o != nil {
		full = *o
	}
	if full.Store == nil {
		full.Store = NewMemory(0, 0)
	}
	if full.TTL == 0 {
		full.TTL = time.Hour
	}
	full.TTL = max(full.TTL, 0) // which is for ever from here on
	if full.PollInterval <= 0 {
		full.PollInterval = time.Second
	}
	if full.MaxRunning <= 0 {
		full.MaxRunning = 64
	}
	if full.MaxWaiting == 0 {
		full.MaxWaiting = 1000
	}
	full.MaxWaiting = max(full.MaxWaiting, 0)
	if full.Logger == nil {
		full.Logger = slog.Default()
	}
	return full
}

// Deferrer works on deferred results of one server and answers for them. Its
// methods may be called from many goroutines.
type Deferrer struct {
	opts  Options
	store Store
	log   *slog.Logger
	next  atomic.Pointer[mcp.Handler] // the server behind us
	turns chan struct{}               // holds one for each result that is worked on
	mark  *mark                       // of this process in the store
	hub   hub

	mu      sync.Mutex
	jobs    map[string]*job // by id: at work here, or waiting for their turn
	beating bool            // the goroutine that looks after them exists
	closed  bool
	work    sync.WaitGroup // jobs
	keeping sync.WaitGroup // the goroutine that looks after them
	ended   chan struct{}  // closed by Close, for it
	swept   time.Time      // when it last removed what is over
}

// New announces the extension on a server and answers its methods. Middleware
// that the server uses later is run for the work itself too; middleware that it
// used before sees the request only, and the handle.
func New(s *server.Server, opts *Options) *Deferrer {
	full := opts.withDefaults()
	d := &Deferrer{
		opts: full, store: full.Store, log: full.Logger, turns: make(chan struct{}, full.MaxRunning),
		mark: newMark(full.Store), jobs: make(map[string]*job), ended: make(chan struct{}),
	}
	s.Extension(mcp.ExtensionDeferred, nil)
	s.Method(mcp.MethodGetDeferred, d.get)
	s.Method(mcp.MethodUpdateDeferred, d.update)
	s.Method(mcp.MethodCancelDeferred, d.cancel)
	s.Use(d.intercept)
	return d
}

// intercept looks for tools that want to go on later, and adds deferred results
// to subscriptions.
func (d *Deferrer) intercept(next mcp.Handler) mcp.Handler {
	d.next.Store(&next)
	return mcp.HandlerFunc(func(ctx context.Context, c *mcp.Call) (any, error) {
		switch c.Method {
		case mcp.MethodSubscriptionsListen:
			return d.listen(ctx, c, next)
		case mcp.MethodCallTool:
			result, err := next.Handle(ctx, c)
			if err != nil && d.isLater(err) && len(c.Input.Wanted) == 0 {
				return d.begin(ctx, c)
			}
			return result, err
		}
		return next.Handle(ctx, c)
	})
}

// laterError is what [Deferrer.Later] says. It is a kind of ErrInputRequired, so
// that whatever lies between passes it on.
type laterError struct{ by *Deferrer }

func (e *laterError) Error() string { return "the result is deferred" }
func (e *laterError) Unwrap() error { return mcp.ErrInputRequired }

func (d *Deferrer) isLater(err error) bool {
	var later *laterError
	return errors.As(err, &later) && later.by == d
}

// Later lets a tool go on after the client has got a handle in place of the
// result. The tool returns the error, as it is or wrapped, and is run again from
// its start, with a context that the request's end does not end; then Later
// returns nil. It returns nil at once for a client that does not declare the
// extension, which waits for the result.
func (d *Deferrer) Later(c *mcp.Call) error {
	if c.Detached || !c.Client.Capabilities.Deferred() {
		return nil
	}
	return &laterError{d}
}

// MustLater is [Deferrer.Later] for work that no client can wait for: one that
// does not declare the extension is told that it must.
func (d *Deferrer) MustLater(c *mcp.Call) error {
	if !c.Detached && !c.Client.Capabilities.Deferred() {
		return mcp.MissingDeferred()
	}
	return d.Later(c)
}

// Optional makes a tool that answers later where the client can deal with that.
// Arguments are checked first.
func (d *Deferrer) Optional(i server.Implementation) server.Implementation {
	return i.Wrap(after(d.Later))
}

// Required makes a tool that only clients of the extension can call. Others get
// an error that says so.
func (d *Deferrer) Required(i server.Implementation) server.Implementation {
	return i.Wrap(after(d.MustLater))
}

// after runs a tool once check lets it.
func after(check func(*mcp.Call) error) func(server.ToolFunc) server.ToolFunc {
	return func(next server.ToolFunc) server.ToolFunc {
		return func(ctx context.Context, c *mcp.Call, arguments jsontext.Value) (*mcp.CallToolResult, error) {
			if err := check(c); err != nil {
				return nil, err
			}
			return next(ctx, c, arguments)
		}
	}
}
