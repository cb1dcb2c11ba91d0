package resource

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bossman-mcp/bossman/mcp"
)

var (
	// ErrInvalid is what a [Verifier] returns, bare or wrapped, for a credential
	// that it does not take. The caller gets 401, and the failure is counted.
	ErrInvalid = errors.New("credential refused")
	// ErrExpired is what a [Verifier] returns, bare or wrapped, for a credential
	// that is genuine but not valid at this time. The caller gets 401, and the
	// failure is not counted: many requests may meet the end of one token.
	ErrExpired = errors.New("credential outside its time")
)

// Verifier knows some credentials. It is used by many requests at once.
type Verifier interface {
	// Verify returns whom the credential belongs to; the principal is shared, and
	// its name is not empty. An error that is neither [ErrInvalid] nor
	// [ErrExpired] means that the verifier cannot tell, because something it needs
	// is out of reach: unless another verifier knows the credential, the caller
	// gets 503. Verify must return soon after ctx ends. Its errors must not tell
	// the secret.
	Verify(ctx context.Context, c Credential) (*mcp.Principal, error)
}

// Credential is what a request shows to be let in. Printing or logging it shows
// the header's name only.
type Credential struct {
	Header string // the canonical name of the header it came in
	Secret string // the token or key: printable ASCII, never empty
}

// Format keeps the secret out of whatever is printed.
func (c Credential) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "credential in %s", c.Header) }

// LogValue keeps the secret out of logs.
func (c Credential) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }
