package login

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ServerError is an authorization server's refusal (RFC 6749, section 5.2).
type ServerError struct {
	Op     string // what was asked for
	Status int    // of HTTP; 0 for an answer that came through the browser
	Code   string // such as invalid_grant; empty if there was none that can be read
	// Description is what the server says about it, for people: visible ASCII, 300
	// bytes at most, with our secrets taken out. It is not part of Error.
	Description string
}

// Error returns the refusal in the standard's words.
func (e *ServerError) Error() string {
	text := e.Op + ": the authorization server refused"
	if e.Code != "" {
		text += ": " + e.Code
	}
	if e.Status != 0 {
		text += fmt.Sprintf(" (status %d)", e.Status)
	}
	return text
}

// tokenRequest is a request to a token endpoint.
type tokenRequest struct {
	op       string
	endpoint string
	issuer   string
	client   *Client
	form     url.Values
	key      *proofKey // nil: the token is not bound
}

// tokenAnswer is what a token endpoint gave.
type tokenAnswer struct {
	Access   string         `json:"access_token"`
	Type     string         `json:"token_type"`
	Lifetime jsontext.Value `json:"expires_in"`
	Refresh  string         `json:"refresh_token"`
	Scope    string         `json:"scope"`
	Issued   string         `json:"issued_token_type"`
}

// token asks a token endpoint. It goes on if ctx ends, since what it asks with
// can often be used only once.
func (a *Authorizer) token(ctx context.Context, q *tokenRequest) (*tokenAnswer, error) {
	ctx = context.WithoutCancel(ctx)
	endpoint, err := url.Parse(q.endpoint)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: bad token endpoint", q.op, ErrUnfit)
	}
	for tries := 1; ; tries++ {
		nonce := a.nonces.get(endpoint)
		r, err := a.postToken(ctx, q, endpoint, nonce)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.op, err)
		}
		fresh := r.header.Get("DPoP-Nonce")
		if q.key != nil {
			a.nonces.set(endpoint, fresh)
		}
		if r.status == http.StatusOK {
			return readToken(q, r.body)
		}
		refusal := readRefusal(q, r)
		again := q.key != nil && refusal.Code == "use_dpop_nonce" && validNonce(fresh) && fresh != nonce && tries == 1
		if !again {
			return nil, refusal
		}
	}
}

func (a *Authorizer) postToken(ctx context.Context, q *tokenRequest, endpoint *url.URL, nonce string) (*reply, error) {
	form, header := make(url.Values, len(q.form)+3), make(http.Header)
	for name, values := range q.form {
		form[name] = values
	}
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	if err := q.client.authenticate(q.issuer, form, header); err != nil {
		return nil, err
	}
	if q.key != nil {
		proof, err := q.key.proof(http.MethodPost, endpoint, "", nonce)
		if err != nil {
			return nil, err
		}
		header.Set("DPoP", proof)
	}
	return a.fetch.post(ctx, q.endpoint, header, form.Encode())
}

// readToken reads a good answer. Errors do not repeat it.
func readToken(q *tokenRequest, body []byte) (*tokenAnswer, error) {
	var t tokenAnswer
	if json.Unmarshal(body, &t) != nil {
		return nil, fmt.Errorf("%s: %w: its answer cannot be read", q.op, ErrUnfit)
	}
	if !visible(t.Access) || t.Refresh != "" && !visible(t.Refresh) {
		return nil, fmt.Errorf("%s: %w: its answer has no token that can be sent", q.op, ErrUnfit)
	}
	return &t, nil
}

// readRefusal makes the best of any other answer.
func readRefusal(q *tokenRequest, r *reply) *ServerError {
	var body struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	e := &ServerError{Op: q.op, Status: r.status}
	if json.Unmarshal(r.body, &body) != nil {
		return e
	}
	text := body.Description
	for _, secret := range q.secrets() {
		text = strings.ReplaceAll(text, secret, "***")
	}
	e.Code, e.Description = errorCode(body.Error), clean(text, 300)
	return e
}

// secrets are what was sent and must not be shown.
func (q *tokenRequest) secrets() []string {
	var all []string
	for _, name := range []string{"code", "code_verifier", "refresh_token", "assertion", "subject_token"} {
		all = append(all, q.form.Get(name))
	}
	all = append(all, q.client.Secret)
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// errorCode returns an OAuth error code, empty if it does not look like one.
func errorCode(code string) string {
	for _, c := range code {
		if (c < 'a' || c > 'z') && c != '_' {
			return ""
		}
	}
	if len(code) > 64 {
		return ""
	}
	return code
}

// visible reports whether text can be sent as a token in a header.
func visible(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return text != ""
}

// lifetime returns how long the token lives, 0 if that is not said. Some servers
// write the number as text.
func (t *tokenAnswer) lifetime() time.Duration {
	const most = 365 * 24 * time.Hour
	text := strings.Trim(string(t.Lifetime), `"`)
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, most.Seconds())) * time.Second
}
