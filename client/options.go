package client

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
)

// Dialer opens connections to one server.
type Dialer interface {
	// Dial returns a new connection. Its context ends with the dialling, the
	// connection does not. It may be called again: after a probe that the server
	// did not survive, and after the connection ended.
	Dial(ctx context.Context) (peer.Transport, error)
}

// The eras of the protocol: values of [Options.Revision] and [Verdict.Era].
const (
	EraHandshake = lifecycle.EraHandshake // a session is opened first
	EraStateless = lifecycle.EraStateless // every request describes itself
)

// Options are what a [Client] can be told; nil means the zero value of each.
//
// The functions that are named On… are called one after the other, in order,
// from a goroutine of the client; they may call the client, but for Close.
type Options struct {
	// Info is how the client introduces itself. Zero: "bossman".
	Info mcp.Implementation
	// Capabilities are declared besides those that the functions below imply:
	// extensions, experiments, or details such as sampling with tools.
	Capabilities mcp.ClientCapabilities

	// Elicit asks the user to fill in a form. Values that the answer lacks are
	// filled in with the form's defaults. Nil: the server may not ask.
	Elicit func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error)
	// Visit asks the user to visit p.URL, which is an http or https address, and
	// returns once the user has decided. It must show the user the address, and
	// never fetch it. Nil: the server may not ask.
	Visit func(ctx context.Context, p *mcp.ElicitParams) (mcp.ElicitAction, error)
	// Sample asks a model. Nil: the server may not ask.
	Sample func(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error)
	// Roots lists the folders to work in; see also [Client.RootsChanged]. Nil: the
	// server may not ask.
	Roots func(ctx context.Context) ([]mcp.Root, error)

	// OnProgress hears of the progress of calls that have no OnProgress of their
	// own, as [CallOptions.OnProgress] would. Nil: they do not ask for progress.
	OnProgress func(p *mcp.ProgressParams)
	// OnLog hears the server's log messages. Nil: it is asked to send none.
	OnLog func(p *mcp.LoggingMessageParams)
	// LogLevel is the least severe level that OnLog wants. Empty: info.
	LogLevel mcp.LoggingLevel
	// OnToolsChanged, OnPromptsChanged and OnResourcesChanged hear that a list is
	// not what it was. With any of them set the client keeps a subscription open,
	// and therefore the connection. Nil: nobody does.
	OnToolsChanged     func()
	OnPromptsChanged   func()
	OnResourcesChanged func()
	// OnResourceUpdated hears of the resources that [Client.Listen] watches. Nil:
	// nobody but the listener does.
	OnResourceUpdated func(uri string)
	// OnNotification hears of notifications outside the protocol. Nil: they are
	// passed over.
	OnNotification func(method string, params jsontext.Value)
	// OnLost hears that the connection ended by itself, and why. Nil: only the
	// calls in flight do.
	OnLost func(err error)

	// Timeout is how long a call waits for its answer. Each notification of its
	// progress starts it anew, and it stands still while the server waits for an
	// answer of ours. 0: a minute. Negative: no limit.
	Timeout time.Duration
	// MaxTimeout is how long a call waits in any case. 0: an hour. Negative: no
	// limit.
	MaxTimeout time.Duration
	// ConnectTimeout is how long it may take to dial and greet a server. 0: a
	// minute.
	ConnectTimeout time.Duration
	// ProbeTimeout is how long a server may be silent before it is taken to be
	// of the handshake era, and dialled again. 0: ten seconds.
	ProbeTimeout time.Duration

	// Revision holds the client to some protocol revisions: their dates, or eras,
	// separated by commas. Empty: any, as the server likes it.
	Revision string
	// Memory remembers the era of the server beyond this client. Nil: nothing
	// does.
	Memory Memory
	// Cache keeps results for as long as the server allows. Clients of the same
	// server may share one. Nil: a cache of its own.
	Cache *Cache
	// CacheKey names the caller that the server sees, such as a digest of the
	// credentials: what the server calls private is kept apart by it. Empty: a
	// caller of its own.
	CacheKey string
	// NoDeferred says that the client does not deal with results that come later.
	// By default it does: calls of tools wait for them, see [CallOptions.OnDeferred].
	NoDeferred bool
	// Unchecked says that structured results are not held to the output schema of
	// their tool.
	Unchecked bool
	// Logger hears of what callers do not. Nil: slog.Default().
	Logger *slog.Logger
}

// CallOptions are what a single call can be told; nil means the zero value of
// each.
type CallOptions struct {
	// Timeout and MaxTimeout replace those of [Options]. 0: they do not.
	Timeout    time.Duration
	MaxTimeout time.Duration
	// OnProgress hears how far the call is. It runs on the goroutine that makes
	// the call, and never after the call has returned; while it runs, only the
	// latest notifications are kept. Nil: that of [Options].
	OnProgress func(p *mcp.ProgressParams)
	// OnDeferred hears that the result of a tool will come later, and how far it
	// is, once for each change; it runs on the goroutine that makes the call. The
	// id lets another client fetch the result, see [Client.Await]. Nil: nobody
	// hears of it.
	OnDeferred func(d *mcp.Deferred)
	// Leave says that the server goes on with a deferred result when the call is
	// given up. Otherwise it is told not to.
	Leave bool
	// Meta is added to the request's _meta: a JSON object. Nil: nothing is.
	Meta mcp.Meta
	// Fresh asks the server even if the cache has an answer.
	Fresh bool
}

// Verdict is what a client found out about the era of a server.
type Verdict struct {
	Era   string    // EraHandshake or EraStateless
	Until time.Time // when it is to be found out anew
}

// Memory keeps the verdict about one server, so that the next client need not
// probe it. Its methods are called from many goroutines.
type Memory interface {
	// Recall returns the verdict, and false if there is none.
	Recall() (v Verdict, ok bool)
	// Remember keeps a verdict in the place of the last. The zero Verdict says
	// that the last has proved wrong.
	Remember(v Verdict)
}

// verdictTTL is how long a verdict is worth something: servers are updated.
const verdictTTL = 24 * time.Hour

func (o *Options) withDefaults() Options {
	var full Options
	if o != nil {
		full = *o
	}
	if full.Info.Name == "" {
		full.Info.Name = "bossman"
	}
	if full.Info.Version == "" {
		full.Info.Version = "0"
	}
	if full.OnLog == nil {
		full.LogLevel = ""
	} else if full.LogLevel == "" {
		full.LogLevel = mcp.LevelInfo
	}
	orElse(&full.Timeout, time.Minute)
	orElse(&full.MaxTimeout, time.Hour)
	orElse(&full.ConnectTimeout, time.Minute)
	orElse(&full.ProbeTimeout, 10*time.Second)
	if full.Cache == nil {
		full.Cache = NewCache(0)
	}
	if full.Logger == nil {
		full.Logger = slog.Default()
	}
	return full
}

// orElse sets a duration that was left zero.
func orElse(d *time.Duration, otherwise time.Duration) {
	if *d == 0 {
		*d = otherwise
	}
}

// greeting is what the client will say of itself.
func (o *Options) greeting() (*lifecycle.Greeting, error) {
	have := o.Capabilities
	if o.Elicit != nil || o.Visit != nil {
		both := mcp.ElicitationCapability{}
		if have.Elicitation != nil {
			both = *have.Elicitation
		}
		if o.Elicit != nil {
			both.Form = &mcp.Supported{}
		}
		if o.Visit != nil {
			both.URL = &mcp.Supported{}
		}
		have.Elicitation = &both
	}
	if !o.NoDeferred {
		have.Extensions = maps.Clone(have.Extensions)
		if have.Extensions == nil {
			have.Extensions = make(map[string]jsontext.Value)
		}
		have.Extensions[mcp.ExtensionDeferred] = jsontext.Value("{}")
	}
	if o.Sample != nil && have.Sampling == nil {
		have.Sampling = &mcp.SamplingCapability{}
	}
	if o.Roots != nil && have.Roots == nil {
		have.Roots = &mcp.RootsCapability{ListChanged: true}
	}
	return lifecycle.NewGreeting(o.Info, have, o.Revision)
}
