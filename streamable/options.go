package streamable

import (
	"log/slog"
	"time"
)

// Options are what [Handler] can be told; nil means the zero value of each.
type Options struct {
	// Revision holds the endpoint to some protocol revisions: their dates, or
	// the eras handshake and stateless, separated by commas. [Handler] panics if
	// there is no such revision. Empty: all.
	Revision string
	// AllowedHosts are the values of the Host header that are served, with or
	// without a port; "*" is any. The loopback names are always served to those
	// who connect to a loopback address. Nil: connections to a loopback address
	// must name it, others may name anything. Set it behind a proxy on the same
	// machine.
	AllowedHosts []string
	// AllowedOrigins are the web pages, such as "https://example.com", that may
	// use the endpoint from a browser; they are told so by CORS headers. Nil:
	// none but the server's own origin, and no CORS.
	AllowedOrigins []string
	// MaxBody is the largest request in bytes; larger ones get 413. 0: 4 MiB.
	MaxBody int64
	// MaxBatch is how many messages a batch may hold. 0: 100.
	MaxBatch int
	// MaxSessions is how many sessions may be open; beyond it, initialize gets
	// 503. 0: 10,000.
	MaxSessions int
	// MaxStreams is how many streams without an end of their own may be open, in
	// all sessions and outside of them; further ones get 503. 0: 20,000.
	MaxStreams int
	// SessionIdle is how long a session without requests and streams is kept. 0:
	// 30 minutes.
	SessionIdle time.Duration
	// KeepAlive is how often a quiet stream gets a comment, so that nothing on
	// the way takes it for dead. 0: 15 seconds. Negative: never.
	KeepAlive time.Duration
	// Retry is how long clients are asked to wait before they take up a stream
	// again. 0: 1 second.
	Retry time.Duration
	// BodyTimeout is how long a request's body may take to arrive. A ReadTimeout
	// of the server's that is shorter, or as long, holds in its place. 0: 30
	// seconds.
	BodyTimeout time.Duration
	// WriteTimeout is how long a client may take to accept one answer or event
	// before its connection is closed. 0: 30 seconds.
	WriteTimeout time.Duration
	// AlwaysStream says to answer every request with an event stream, for long
	// calls over networks that break and proxies that give up on silence. In
	// sessions the first event lets the client come back for the rest: an answer
	// that is lost with its connection can be fetched by Last-Event-ID, in the
	// revisions that have that. In the newest revision comments are sent while the
	// handler is silent, as often as KeepAlive says; an error still has its status
	// if it comes before the first. False: what says nothing before its answer is
	// answered with JSON.
	AlwaysStream bool
	// Events keeps what was sent in sessions, for streams that break. Nil: a
	// [MemoryStore] of its own.
	Events EventStore
	// StateSecret seals the state that questions to the user send through the
	// client. Processes that answer for each other share it. Nil: random.
	StateSecret []byte
	// OtherStateSecrets open state too, and seal none: the last secret, for the
	// ten minutes after a change in which questions may still be answered, and,
	// where several processes change one after the other, the next secret before
	// that. A secret that is in neither place opens nothing. Nil: none do.
	OtherStateSecrets [][]byte
	// Logger hears of what the protocol cannot report. Nil: slog.Default().
	Logger *slog.Logger
}

func (o *Options) withDefaults() Options {
	var full Options
	if o != nil {
		full = *o
	}
	setDefault(&full.MaxBody, 4<<20)
	setDefault(&full.MaxBatch, 100)
	setDefault(&full.MaxSessions, 10_000)
	setDefault(&full.MaxStreams, 20_000)
	setDefault(&full.SessionIdle, 30*time.Minute)
	setDefault(&full.KeepAlive, 15*time.Second)
	setDefault(&full.Retry, time.Second)
	setDefault(&full.BodyTimeout, 30*time.Second)
	setDefault(&full.WriteTimeout, 30*time.Second)
	if full.Events == nil {
		full.Events = NewMemoryStore(0, 0)
	}
	if full.Logger == nil {
		full.Logger = slog.Default()
	}
	return full
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
