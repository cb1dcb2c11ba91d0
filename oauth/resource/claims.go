package resource

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// tokenHeader is the part of a token that says how it is signed. Nothing in it
// can be trusted to choose a key but by name.
type tokenHeader struct {
	Algorithm jose.SignatureAlgorithm `json:"alg"`
	KeyID     string                  `json:"kid"`
	Type      string                  `json:"typ"`
	Critical  jsontext.Value          `json:"crit"`
	Key       jsontext.Value          `json:"jwk"`
	KeysURL   jsontext.Value          `json:"jku"`
	CertURL   jsontext.Value          `json:"x5u"`
}

// tokenClaims are the claims that decide. Times are seconds since 1970.
type tokenClaims struct {
	Issuer       string         `json:"iss"`
	Subject      string         `json:"sub"`
	Audience     oneOrMany      `json:"aud"`
	Expires      *float64       `json:"exp"`
	NotBefore    *float64       `json:"nbf"`
	IssuedAt     *float64       `json:"iat"`
	Scope        oneOrMany      `json:"scope"`
	SCP          oneOrMany      `json:"scp"`
	Confirmation jsontext.Value `json:"cnf"`
}

// readToken decodes a compact JWS without trusting any of it yet.
func readToken(token string) (*tokenHeader, *tokenClaims, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, nil, fmt.Errorf("%w: not a signed token", ErrInvalid)
	}
	var head tokenHeader
	var claims tokenClaims
	_, err := strictBase64(parts[2]) // so that a token cannot be written in two ways
	if err != nil || !decodePart(parts[0], &head) || !decodePart(parts[1], &claims) {
		return nil, nil, fmt.Errorf("%w: not a signed token", ErrInvalid)
	}
	return &head, &claims, nil
}

func decodePart(part string, into any) bool {
	text, err := strictBase64(part)
	if err != nil || jsontext.Value(text).Kind() != '{' {
		return false
	}
	return json.Unmarshal(text, into) == nil
}

func strictBase64(s string) ([]byte, error) { return base64.RawURLEncoding.Strict().DecodeString(s) }

func (h *tokenHeader) check(allowed []jose.SignatureAlgorithm) error {
	switch {
	case !slices.Contains(allowed, h.Algorithm):
		return fmt.Errorf("%w: signed in a way that is not allowed", ErrInvalid)
	case h.Key != nil || h.KeysURL != nil || h.CertURL != nil:
		return fmt.Errorf("%w: the token brings its own key", ErrInvalid)
	case h.Critical != nil:
		return fmt.Errorf("%w: the token needs an extension", ErrInvalid)
	case h.KeyID == "":
		return fmt.Errorf("%w: the token does not name its key", ErrInvalid)
	}
	switch strings.ToLower(h.Type) {
	case "", "jwt", "at+jwt", "application/at+jwt":
		return nil
	default: // such as a logout token, or a proof of possession (RFC 8725, section 3.11)
		return fmt.Errorf("%w: not an access token", ErrInvalid)
	}
}

// check is for claims whose signature was verified, and whose issuer is known.
func (c *tokenClaims) check(audiences []string, now time.Time, leeway time.Duration) error {
	ours := func(a string) bool { return slices.Contains(audiences, canonical(a)) }
	seconds, slack := float64(now.UnixMilli())/1000, leeway.Seconds()
	switch {
	case !slices.ContainsFunc(c.Audience, ours):
		return fmt.Errorf("%w: made for another audience", ErrInvalid)
	case c.Subject == "":
		return fmt.Errorf("%w: the token names nobody", ErrInvalid)
	case c.Confirmation != nil:
		return fmt.Errorf("%w: bound to a sender, and sent as bearer", ErrInvalid)
	case c.Expires == nil:
		return fmt.Errorf("%w: the token never ends", ErrInvalid)
	case seconds-slack >= *c.Expires:
		return fmt.Errorf("%w: the token has ended", ErrExpired)
	case c.NotBefore != nil && seconds+slack < *c.NotBefore, c.IssuedAt != nil && seconds+slack < *c.IssuedAt:
		return fmt.Errorf("%w: the token has not begun", ErrExpired)
	}
	return nil
}

// scopes joins what issuers write as a list or as one string, in either claim.
func (c *tokenClaims) scopes() []string {
	var all []string
	for _, text := range slices.Concat(c.Scope, c.SCP) {
		for _, scope := range strings.Fields(text) {
			if !slices.Contains(all, scope) {
				all = append(all, scope)
			}
		}
	}
	return all
}

// oneOrMany is a string, or a list of them.
type oneOrMany []string

// UnmarshalJSONFrom also takes null, for none.
func (o *oneOrMany) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '"' {
		return json.UnmarshalDecode(dec, (*[]string)(o))
	}
	var one string
	if err := json.UnmarshalDecode(dec, &one); err != nil {
		return err
	}
	*o = oneOrMany{one}
	return nil
}
