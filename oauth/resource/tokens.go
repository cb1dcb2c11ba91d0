package resource

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/oauth"
	"github.com/go-jose/go-jose/v4"
)

// asymmetric are all algorithms that may ever be allowed. With a shared secret
// or none at all, anyone who can read the public key could sign.
var asymmetric = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// JWTOptions are what [JWT] can be told; nil means the zero value of each.
type JWTOptions struct {
	// Audiences are other names that tokens may have for this server.
	Audiences []string
	// Algorithms are those that the issuer signs with, among RS, PS and ES with
	// 256, 384 or 512, and EdDSA. Nil: all of these.
	Algorithms []string
	// Leeway is how far the issuer's clock and ours may be apart. 0: 30 seconds.
	Leeway time.Duration
	// Transport carries the requests for keys. Nil: http.DefaultTransport.
	Transport http.RoundTripper
	// Logger hears of key sets that cannot be had. Nil: slog.Default().
	Logger *slog.Logger
}

// Tokens is a [Verifier] of the access tokens of one issuer: signed JWTs (RFC
// 9068) in the Authorization header.
type Tokens struct {
	issuer     string
	audiences  []string // in canonical form
	algorithms []jose.SignatureAlgorithm
	leeway     time.Duration
	keys       *keySet
}

// JWT returns a verifier of tokens that issuer made for audience, which is the
// identifier of this server: the resource of its metadata document. They are
// verified with the keys at the URL keys, the jwks_uri of the issuer's metadata.
// Both URLs are https, or plain http on this machine.
//
// A token is refused unless it names its key (kid) and issuer (iss), is made for
// the audience (aud, one or among several), says when it ends (exp) and for whom
// it is (sub), and is not bound to a key or certificate that the sender should
// prove to have (cnf). One whose header brings or links to a key (jwk, jku, x5u)
// is refused, too. The principal is the issuer, "#", and the subject; its scopes
// are those in scope and scp.
//
// Keys are fetched when the first token comes, kept for ten minutes, for an hour
// if the issuer is out of reach, and asked for again when a token names one that
// is not known; not more often than once a minute, or every ten seconds after a
// failure.
func JWT(issuer, keys, audience string, opts *JWTOptions) (*Tokens, error) {
	var o JWTOptions
	if opts != nil {
		o = *opts
	}
	if _, err := oauth.AuthorizationServerLocations(issuer); err != nil {
		return nil, fmt.Errorf("take tokens of %s: %w", issuer, err)
	}
	if err := errors.Join(oauth.CheckURL(issuer), oauth.CheckURL(keys)); err != nil {
		return nil, fmt.Errorf("take tokens of %s: %w", issuer, err)
	}
	t := &Tokens{issuer: issuer, algorithms: asymmetric, leeway: 30 * time.Second}
	for _, name := range append([]string{audience}, o.Audiences...) {
		if name == "" {
			return nil, fmt.Errorf("take tokens of %s: no audience", issuer)
		}
		t.audiences = append(t.audiences, canonical(name))
	}
	if o.Algorithms != nil {
		t.algorithms = nil
	}
	for _, name := range o.Algorithms {
		if !slices.Contains(asymmetric, jose.SignatureAlgorithm(name)) {
			return nil, fmt.Errorf("take tokens of %s: algorithm %q is not allowed", issuer, name)
		}
		t.algorithms = append(t.algorithms, jose.SignatureAlgorithm(name))
	}
	if o.Leeway != 0 {
		t.leeway = o.Leeway
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	t.keys = newKeySet(keys, o.Transport, o.Logger)
	return t, nil
}

// Verify returns the principal that the token is for. It may fetch the issuer's
// keys, which takes 5 seconds at most.
func (t *Tokens) Verify(ctx context.Context, c Credential) (*mcp.Principal, error) {
	if c.Header != authorization {
		return nil, fmt.Errorf("%w: tokens are taken in the %s header only", ErrInvalid, authorization)
	}
	head, claims, err := readToken(c.Secret)
	if err != nil {
		return nil, err
	}
	if err := head.check(t.algorithms); err != nil {
		return nil, err
	}
	if claims.Issuer != t.issuer {
		return nil, fmt.Errorf("%w: another issuer's token", ErrInvalid) // not ours to ask about keys
	}
	key, err := t.keys.find(ctx, head.KeyID, head.Algorithm)
	if err != nil {
		return nil, err
	}
	signed, err := jose.ParseSignedCompact(c.Secret, []jose.SignatureAlgorithm{head.Algorithm})
	if err != nil {
		return nil, fmt.Errorf("%w: not a signed token", ErrInvalid)
	}
	if _, err := signed.Verify(key); err != nil {
		return nil, fmt.Errorf("%w: wrong signature", ErrInvalid)
	}
	if err := claims.check(t.audiences, time.Now(), t.leeway); err != nil {
		return nil, err
	}
	return &mcp.Principal{Name: t.issuer + "#" + claims.Subject, Scopes: claims.scopes()}, nil
}

// canonical is the form in which audiences are compared: they may be URLs with
// the host in any case, or plain names.
func canonical(audience string) string {
	if c, err := oauth.Canonical(audience); err == nil {
		return c
	}
	return audience
}
