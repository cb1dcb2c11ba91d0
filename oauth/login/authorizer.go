package login

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Options are what [New] can be told; nil means the zero value of each.
type Options struct {
	// Store keeps logins and registrations. Nil: they end with the Authorizer.
	Store Store
	// Scopes are asked for besides those that the server wants. Nil: none.
	Scopes []string
	// DPoP says to take only tokens that are bound to a key. False: the server
	// decides.
	DPoP bool
	// Networks may be reached besides the internet, for documents and tokens; see
	// the package comment. Nil: none.
	Networks []netip.Prefix
	// Transport sends the requests for documents and tokens. With one of its own
	// the caller answers for the addresses that names lead to; the rest of what
	// the package comment says still holds. Nil: one without proxy.
	Transport http.RoundTripper
	// Logger hears of logins that come and go, never of secrets. Nil:
	// slog.Default().
	Logger *slog.Logger
}

// Grant is a way to get a token: [*Code], [*ClientCredentials], [*Enterprise], or
// [*Workload].
type Grant interface {
	// credentials returns the issuer that the caller bound them to, if any, and an
	// id for those that no second issuer may see, if there are any.
	credentials() (issuer, id string)
	// open lets the guard reach what the caller named.
	open(g *guard)
	// obtain gets a token, and says as which client.
	obtain(ctx context.Context, t *trip) (*tokenAnswer, *Client, error)
	// identity returns the client that a login was made as; nil if the grant no
	// longer knows it.
	identity(r *record) *Client
	// name tells the logins of different grants apart in a store.
	name() string
}

// trip is one way to an authorization server and back.
type trip struct {
	*Authorizer
	site   *site
	scopes []string
	key    *proofKey // nil: the token need not be bound
	why    *challenge
	away   bool // it has begun
}

// Authorizer has the login at one MCP server. It may be used from many
// goroutines: they share one login, one renewal, and one browser window.
type Authorizer struct {
	address
	grant  Grant
	opts   Options
	store  Store
	log    *slog.Logger
	fetch  *fetcher
	nonces nonces

	mu sync.Mutex
	state
}

// state is what changes in an Authorizer, under its lock.
type state struct {
	loaded bool      // the store has been asked
	login  *record   // nil: none
	flight *flight   // nil: nobody is at it
	hold   time.Time // until when not to renew
	row    row
	issuer string // of the last login that was tried
}

// New returns the way past the MCP server at a URL, which must be https, or plain
// http on this machine. Nothing is sent yet, and nothing read.
func New(server string, grant Grant, opts *Options) (*Authorizer, error) {
	if grant == nil {
		return nil, errors.New("prepare login: no grant")
	}
	at, err := newAddress(server)
	if err != nil {
		return nil, fmt.Errorf("prepare login: the server's address: %w", err)
	}
	a := &Authorizer{address: *at, grant: grant}
	if opts != nil {
		a.opts = *opts
	}
	if a.store = a.opts.Store; a.store == nil {
		a.store = Memory()
	}
	if a.log = a.opts.Logger; a.log == nil {
		a.log = slog.Default()
	}
	g := newGuard(a.base, a.opts.Networks)
	grant.open(g)
	a.fetch = newFetcher(g, a.opts.Transport)
	return a, nil
}

// Authorize adds the token to a request, if there is one, and first renews it if
// it is about to end. It refuses requests to other origins than the server's.
// Without a token the request is left as it is: the server then says what it
// wants, which is for [Authorizer.Challenge].
func (a *Authorizer) Authorize(ctx context.Context, r *http.Request) error {
	if !a.sameOrigin(r.URL) {
		return fmt.Errorf("authorize a request to %s: it is not of %s", plain(r.URL.String()), a.origin)
	}
	login, err := a.current(ctx)
	if err != nil || login == nil {
		return err
	}
	if !login.Bound {
		r.Header.Set("Authorization", "Bearer "+login.Access)
		return nil
	}
	proof, err := login.proof.proof(r.Method, r.URL, login.Access, a.nonces.get(a.base))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "DPoP "+login.Access)
	r.Header.Set("DPoP", proof)
	return nil
}

// Challenge answers a response of status 401 or 403 to a request that Authorize
// has seen: it renews the login, or gets a new one, and reports whether to send
// the request again. That is false, without an error, for refusals that no login
// can change, such as those of a server that wants a key and knows no OAuth. With
// [*Code] it may wait for a person.
//
// Of the logins in a row, each within a minute of the last, three are made; after
// that it fails with [ErrTooMany].
func (a *Authorizer) Challenge(ctx context.Context, res *http.Response) (retry bool, err error) {
	c := readChallenge(res)
	if c == nil {
		return false, nil
	}
	a.mu.Lock()
	seen, now := a.login, time.Now()
	a.mu.Unlock()
	a.nonces.set(a.base, c.nonce)
	if c.err == "use_dpop_nonce" && seen != nil && seen.Bound && c.nonce != "" && provenNonce(res.Request) != c.nonce {
		return true, nil
	}
	refused, known := shown(res.Request)
	if !known && seen != nil {
		refused = seen.Access
	}
	c.ended = refused == "" && seen != nil && !seen.usable(now)
	settled := func() bool {
		return a.login.usable(now) && (a.login.Access != refused || a.login != seen)
	}
	err = a.together(ctx, entering, settled, func() error { return a.enter(ctx, c) })
	if errors.Is(err, errNowhere) {
		a.log.DebugContext(ctx, "the server refuses a request and names no way to log in", slog.String("server", a.name))
		return false, nil
	}
	return err == nil, err
}

// Forget removes the login, and the registration at its authorization server,
// here and from the store. The authorization server is not told.
func (a *Authorizer) Forget(ctx context.Context) error {
	if _, err := a.stored(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	var issuers []string
	if a.issuer != "" {
		issuers = append(issuers, a.issuer)
	}
	if a.login != nil {
		issuers = append(issuers, a.login.Issuer)
	}
	a.login, a.loaded = nil, true
	a.mu.Unlock()
	remove := func([]byte) ([]byte, error) { return nil, nil }
	err := a.store.Update(ctx, a.loginKey(), remove)
	for _, issuer := range issuers {
		err = errors.Join(err, a.store.Update(ctx, clientKey(issuer), remove))
	}
	return err
}

// String names the server.
func (a *Authorizer) String() string { return "login at " + a.name }
