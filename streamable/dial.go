package streamable

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/bossman-mcp/bossman/internal/sse"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// DialOptions are what [Dial] can be told; nil means the zero value of each.
type DialOptions struct {
	// Header goes with every request, such as an API key. The protocol's own
	// headers win over it. Nil: nothing.
	Header http.Header
	// Auth authorizes the requests. Nil: Header has all they need.
	Auth Authorizer
	// Client sends the requests. Only its Transport and its Jar are used: there
	// are no timeouts but those of the contexts, and redirects are this
	// package's business. Nil: a connection has one of its own, without cookies
	// and HTTP/2.
	Client *http.Client
	// Proxy finds the proxy of a request, as in http.Transport, unless Client is
	// set. Nil: there is none, whatever the environment says.
	Proxy func(*http.Request) (*url.URL, error)
	// MaxMessage is the largest answer or event that is taken, in bytes. A larger
	// one fails its call with an error that wraps [peer.ErrTooLong]. 0: 16 MiB.
	MaxMessage int
	// SSE says that the server is one of the oldest revision, HTTP with SSE, and
	// spares the attempts that would find it out.
	SSE bool
	// Logger hears of what no caller is told. Nil: slog.Default().
	Logger *slog.Logger
}

// Authorizer lets requests pass a server that asks who is calling. Its methods
// are called from many goroutines.
type Authorizer interface {
	// Authorize adds what proves who is calling to a request that is ready to be
	// sent. It is called anew for each attempt, redirected ones included.
	Authorize(ctx context.Context, r *http.Request) error
	// Challenge looks at a response of status 401 or 403, whose body it may read
	// and need not close, and reports whether to try again. A request is tried at
	// most five times.
	Challenge(ctx context.Context, r *http.Response) (retry bool, err error)
}

// Dialer reaches one server over HTTP. Make it with [Dial]. It may be used many
// times, and at once.
type Dialer struct {
	target string
	opts   DialOptions
}

// Dial returns the way to the server at target, an http or https URL. Nothing is
// sent yet.
func Dial(target string, opts *DialOptions) *Dialer {
	d := &Dialer{target: target}
	if opts != nil {
		d.opts = *opts
	}
	setDefault(&d.opts.MaxMessage, sse.MaxEvent)
	if d.opts.Logger == nil {
		d.opts.Logger = slog.Default()
	}
	return d
}

// String returns where the server is, without what may be secret.
func (d *Dialer) String() string {
	u, err := url.Parse(d.target)
	if err != nil {
		return "an address that is no URL"
	}
	return plainURL(u)
}

// Dial returns a connection on which nothing has happened yet: the first message
// is the first request. It fails only if the URL cannot be used.
//
// Each message that is sent is a POST, made on the sender's goroutine. Send
// returns when the response has begun, or is there if it is no stream; so a
// request may take as long as its answer, and the sender's context ends it. It
// fails if the server did not execute the request: with an [*HTTPError] if it was
// refused without a word of JSON-RPC, with a [*RedirectError] if it was to go
// elsewhere, with [ErrSessionLost] if the server has forgotten the session. What
// leaves it open whether the request was executed, such as a stream that breaks
// or a status of 500 and more, is received as a [*peer.LostError].
//
// A message that describes itself in _meta is of the stateless era: headers
// repeat its version, method and name, and to cancel it is to hang up. Any other
// belongs to the handshake era. There the connection keeps the session and the
// version that initialize brings, listens for what the server says by itself,
// and takes up broken streams again, at least after the time that the server
// asked for, five minutes at most. If initialize is refused, the server may be
// one of the oldest revision; then it is spoken to in that way.
//
// The connection has a method
//
//	SetToolHeaders(tool string, headers map[string]string)
//
// which says what calls of a tool repeat in headers: the keys are JSON pointers
// to parameters within the arguments, the values what follows Mcp-Param- in the
// header's name.
//
// With [DialOptions.Auth], which may wait for a person, it also has
//
//	Waiting() (now bool, last time.Time)
//
// so that this is not taken for the silence of the server. If there is no way
// past the server, errors match [peer.ErrUnauthorized].
//
// Closing the connection ends its streams, and its session if it has one, which
// takes at most a second.
func (d *Dialer) Dial(ctx context.Context) (peer.Transport, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	base, err := url.Parse(d.target)
	switch {
	case err != nil: // which would show the URL
		return nil, errors.New("dial: the address is no URL")
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("dial %s: it must be an http or https URL", d)
	}
	c := newConn(d, base)
	if d.opts.Auth != nil {
		return &patientConn{c}, nil
	}
	return c, nil
}

// patientConn is a connection whose requests may wait for a person.
type patientConn struct{ *conn }

// Waiting reports whether a request waits for the authorizer, and when one last
// did.
func (c *patientConn) Waiting() (now bool, last time.Time) {
	if nanos := c.out.login.last.Load(); nanos != 0 {
		last = time.Unix(0, nanos)
	}
	return c.out.login.many.Load() > 0, last
}

func newConn(d *Dialer, base *url.URL) *conn {
	endpoint := *base
	endpoint.User, endpoint.Fragment = nil, ""
	c := &conn{
		opts:   d.opts,
		base:   &endpoint,
		out:    requester{auth: d.opts.Auth, header: make(http.Header), hangUp: func() {}},
		queue:  make(chan delivery, 16),
		done:   make(chan struct{}),
		flows:  make(map[*flow]struct{}),
		calls:  make(map[jsonrpc.ID]*flow),
		oldest: d.opts.SSE,
	}
	if user := base.User; user != nil {
		password, _ := user.Password()
		c.out.header["Authorization"] = []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password))}
	}
	for name, values := range d.opts.Header {
		if name = http.CanonicalHeaderKey(name); name == "Host" && len(values) > 0 {
			c.out.host = values[0]
			continue
		}
		c.out.header[name] = slices.Clone(values)
	}
	if client := d.opts.Client; client != nil {
		c.out.sender, c.out.jar = client.Transport, client.Jar
		if c.out.sender == nil {
			c.out.sender = http.DefaultTransport
		}
		return c
	}
	own := ownTransport(d.opts.Proxy)
	c.out.sender, c.out.hangUp = own, own.CloseIdleConnections
	return c
}

// ownTransport sends the requests of one connection. Nothing in it limits how
// long an answer takes.
func ownTransport(proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	http1 := new(http.Protocols)
	http1.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    15 * time.Second,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		DisableCompression:     true, // a compressed stream is a delayed stream
		Protocols:              http1,
	}
}
