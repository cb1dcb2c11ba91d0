package resource

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
)

// Options are what [Require] can be told; nil means the zero value of each.
type Options struct {
	// Headers are where a credential may be: one in Authorization after the word
	// Bearer, in others the whole value. A request with two credentials is
	// refused. Nil: Authorization and X-Api-Token.
	Headers []string
	// Metadata is what challenges refer clients to. Nil: they refer to nothing,
	// as is right for API keys alone.
	Metadata *Document
	// Scopes returns what a request needs; it must not read the body. All of it
	// goes into the challenge of a request that has less. Nil: nothing.
	Scopes func(*http.Request) []string
	// Implies reports whether a broader scope that the caller has stands for one
	// that is needed. Nil: only for itself.
	Implies func(have, need string) bool
	// Timeout is how long all verifiers together may take. 0: 5 seconds.
	Timeout time.Duration
	// MaxFailures is how many refused credentials an address may show within
	// FailureWindow, until whose end it then gets 429. A credential that was good
	// before is not held up. 0: 20. Negative: no limit.
	MaxFailures int
	// FailureWindow begins with an address's first failure. 0: a minute.
	FailureWindow time.Duration
	// Address names whom failures are counted against. Behind a proxy it should
	// read the header that the proxy sets. Nil: the host of RemoteAddr, or the
	// /64 network it is in for IPv6.
	Address func(*http.Request) string
	// Logger hears of refusals, without the credentials. Nil: slog.Default().
	Logger *slog.Logger
}

// Require returns a handler that lets a request through to next once a verifier
// has named its caller, which next finds with [mcp.PrincipalFrom]. The header
// with the credential is taken out on the way. Verifiers are asked in order. All
// requests need a credential, so CORS preflights must be answered before.
//
// It answers 401 to requests without a good credential, 403 to those whose
// caller lacks a scope, 400 to malformed ones, 429 after too many failures, and
// 503 when a verifier could not tell; the first three with a challenge.
//
// Require panics without a verifier.
func Require(next http.Handler, opts *Options, verifiers ...Verifier) http.Handler {
	if len(verifiers) == 0 || slices.Contains(verifiers, nil) {
		panic("resource: Require without a verifier")
	}
	g := &guard{next: next, verifiers: verifiers}
	if opts != nil {
		g.Options = *opts
	}
	if g.Headers == nil {
		g.Headers = []string{authorization, "X-Api-Token"}
	}
	names := make([]string, len(g.Headers))
	for i, name := range g.Headers {
		names[i] = textproto.CanonicalMIMEHeaderKey(name)
	}
	g.Headers = names
	if g.Timeout == 0 {
		g.Timeout = 5 * time.Second
	}
	if g.MaxFailures == 0 {
		g.MaxFailures = 20
	}
	if g.FailureWindow == 0 {
		g.FailureWindow = time.Minute
	}
	if g.Address == nil {
		g.Address = remoteHost
	}
	if g.Logger == nil {
		g.Logger = slog.Default()
	}
	g.failures = newFailures(g.MaxFailures, g.FailureWindow)
	return g
}

// guard is the handler that [Require] returns; its Options are filled in.
type guard struct {
	Options
	next      http.Handler
	verifiers []Verifier
	failures  *failures
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var need []string
	if g.Scopes != nil {
		need = g.Scopes(r)
	}
	c, ok, err := credential(r.Header, g.Headers)
	switch {
	case errors.Is(err, ErrInvalid):
		g.challenge(w, need, "invalid_token", refusedText)
		return
	case err != nil:
		g.malformed(w, err)
		return
	case !ok:
		g.challenge(w, need, "", "")
		return
	}
	g.enter(w, r, c, need)
}

// enter is for a request that shows a credential.
func (g *guard) enter(w http.ResponseWriter, r *http.Request, c Credential, need []string) {
	address := g.Address(r)
	if wait := g.failures.wait(address, c); wait > 0 {
		g.tooMany(w, wait)
		return
	}
	p, err := g.verify(r.Context(), c)
	switch {
	case err == nil:
		g.failures.forgive(c)
	case errors.Is(err, ErrExpired):
		g.challenge(w, need, "invalid_token", expiredText)
		return
	case errors.Is(err, ErrInvalid):
		g.note(r.Context(), address, c, err)
		g.challenge(w, need, "invalid_token", refusedText)
		return
	default:
		g.Logger.LogAttrs(r.Context(), slog.LevelError, "cannot verify a credential",
			slog.String("header", c.Header), slog.String("error", withoutSecret(err, c)))
		g.unavailable(w)
		return
	}
	if !g.sufficient(p.Scopes, need) {
		g.insufficient(w, need)
		return
	}
	g.next.ServeHTTP(w, admit(r, p, c))
}

// verify asks the verifiers in order. Without a name from any, what one could
// not tell weighs more than what the others refused.
func (g *guard) verify(ctx context.Context, c Credential) (*mcp.Principal, error) {
	ctx, cancel := context.WithTimeout(ctx, g.Timeout)
	defer cancel()
	var worst error
	for _, v := range g.verifiers {
		p, err := v.Verify(ctx, c)
		switch {
		case err == nil && p != nil && p.Name != "":
			return p, nil
		case err == nil:
			g.Logger.LogAttrs(ctx, slog.LevelError, "a verifier named nobody and gave no error",
				slog.String("header", c.Header))
		case worst == nil || weight(err) > weight(worst):
			worst = err
		}
	}
	if worst == nil {
		worst = ErrInvalid
	}
	return nil, worst
}

func weight(err error) int {
	switch {
	case errors.Is(err, ErrExpired):
		return 1
	case errors.Is(err, ErrInvalid):
		return 0
	default:
		return 2
	}
}

func (g *guard) sufficient(have, need []string) bool {
	for _, n := range need {
		held := func(h string) bool { return h == n || g.Implies != nil && g.Implies(h, n) }
		if !slices.ContainsFunc(have, held) {
			return false
		}
	}
	return true
}

func (g *guard) note(ctx context.Context, address string, c Credential, err error) {
	full := g.failures.note(address)
	g.Logger.LogAttrs(ctx, slog.LevelInfo, "refused a credential", slog.String("address", address),
		slog.String("header", c.Header), slog.String("reason", withoutSecret(err, c)))
	if full {
		g.Logger.LogAttrs(ctx, slog.LevelWarn, "too many refused credentials from an address",
			slog.String("address", address))
	}
}

// withoutSecret is the text of an error of a verifier that others wrote.
func withoutSecret(err error, c Credential) string {
	return strings.ReplaceAll(err.Error(), c.Secret, "[secret]")
}

// admit is the request as next sees it: with its caller, without the credential.
func admit(r *http.Request, p *mcp.Principal, c Credential) *http.Request {
	r = r.WithContext(mcp.WithPrincipal(r.Context(), p))
	header := make(http.Header, len(r.Header))
	for name, values := range r.Header {
		if name != c.Header {
			header[name] = values
		}
	}
	r.Header = header
	return r
}
