package login

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// record is a login: a token, what it is for, and what renews it. It does not
// change.
type record struct {
	Issuer   string   `json:"issuer"`
	Resource string   `json:"resource"`
	Endpoint string   `json:"token_endpoint"`
	Access   string   `json:"access_token"`
	Bound    bool     `json:"dpop,omitzero"`
	Key      []byte   `json:"dpop_key,omitempty"` // PKCS#8
	Refresh  string   `json:"refresh_token,omitempty"`
	Issued   int64    `json:"issued"`            // Unix seconds
	Expires  int64    `json:"expires,omitzero"`  // Unix seconds; 0: not known
	Asked    []string `json:"asked,omitempty"`   // scopes
	Granted  []string `json:"granted,omitempty"` // scopes

	As clientRecord `json:"client"`

	proof   *proofKey // Key, parsed
	renewed bool      // by its refresh token, in this process
}

// clientRecord is the client that a login was made as.
type clientRecord struct {
	ID     string `json:"id"`
	Secret string `json:"secret,omitempty"` // of one that we registered
	Method string `json:"method"`
}

// Format keeps secrets out of whatever is printed.
func (r *record) Format(f fmt.State, _ rune) { fmt.Fprint(f, "a login") }

// LogValue keeps secrets out of logs.
func (r *record) LogValue() slog.Value { return slog.StringValue("a login") }

// parseRecord reads what marshal wrote. Errors do not repeat it.
func parseRecord(data []byte) (*record, error) {
	var r record
	if json.Unmarshal(data, &r) != nil || !visible(r.Access) || r.Issuer == "" || r.Resource == "" {
		return nil, errors.New("read stored login: malformed")
	}
	if r.Bound {
		key, err := parseProofKey(r.Key)
		if err != nil {
			return nil, fmt.Errorf("read stored login: %w", err)
		}
		r.proof = key
	}
	return &r, nil
}

func (r *record) marshal() ([]byte, error) { return json.Marshal(r) }

// fill notes what a token endpoint answered. Whatever is not said stays.
func (r *record) fill(t *tokenAnswer, now time.Time) error {
	switch {
	case strings.EqualFold(t.Type, "DPoP") && r.Bound:
	case (t.Type == "" || strings.EqualFold(t.Type, "Bearer")) && !r.Bound:
	case r.Bound:
		return fmt.Errorf("%w: the token is not bound to our key", ErrUnfit)
	default:
		return fmt.Errorf("%w: tokens of type %s are not known", ErrUnfit, clean(t.Type, 40))
	}
	r.Access, r.Issued, r.Expires = t.Access, now.Unix(), 0
	if lifetime := t.lifetime(); lifetime > 0 {
		r.Expires = now.Add(lifetime).Unix()
	}
	if t.Refresh != "" {
		r.Refresh = t.Refresh
	}
	if granted := strings.Fields(t.Scope); len(granted) > 0 {
		r.Granted = granted
	}
	return nil
}

// usable reports whether the token can be sent. It is false for nil.
func (r *record) usable(now time.Time) bool {
	return r != nil && (r.Expires == 0 || now.Unix() < r.Expires)
}

// due reports whether the token should be renewed before it is sent: in the last
// tenth of its life, but a minute at most before its end. It is false if it
// cannot be, and for nil.
func (r *record) due(now time.Time) bool {
	if r == nil || r.Refresh == "" || r.Expires == 0 {
		return false
	}
	margin := min((r.Expires-r.Issued)/10, 60)
	return now.Unix() >= r.Expires-margin
}

// young reports whether the token was got within the last minute.
func (r *record) young(now time.Time) bool {
	return now.Unix()-r.Issued < int64(patience/time.Second)
}

// withoutRefresh returns the login after its refresh token was refused.
func (r *record) withoutRefresh() *record {
	next := *r
	next.Refresh = ""
	return &next
}

// Keys under which a Store keeps things.
func (a *Authorizer) loginKey() string   { return "login " + a.grant.name() + " " + a.server }
func clientKey(issuer string) string     { return "client " + issuer }
func issuerKey(server, id string) string { return "issuer " + server + " " + id }
