package lifecycle

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// wireError chooses what a handler's error is called in a revision. Errors it
// does not know pass as they are: the transport reports them as internal.
func wireError(rev *revision.Revision, err error) error {
	var (
		known    *jsonrpc.Error
		missing  *mcp.MissingCapabilityError
		notFound *mcp.ResourceNotFoundError
	)
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.As(err, &missing) && rev.Stateless:
		return missing.Wire()
	case errors.As(err, &missing):
		return jsonrpc.InvalidRequest("%v", missing)
	case errors.As(err, &notFound):
		wire := notFound.Wire()
		wire.Code = rev.NotFoundCode
		return wire
	}
	return err
}

// unsupported refuses a protocol version that needs no handshake by its form but
// is none that we speak.
func (d *Stateless) unsupported(requested string) *jsonrpc.Error {
	return withData(mcp.CodeUnsupportedVersion, "Unsupported protocol version", struct {
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}{revision.Names(d.opts.Revisions.Stateless), requested})
}

// NoHandshake says, for people, what initialize is told where there is no other
// door: clients of that era know no other way in. See the spec's Backward
// Compatibility with Initialization-Based Versions.
func (d *Stateless) NoHandshake() string {
	return "this server speaks " + strings.Join(revision.Names(d.opts.Revisions.Stateless), ", ") + ", which has no initialize"
}

func withData(code int, message string, data any) *jsonrpc.Error {
	text, err := json.Marshal(data)
	if err != nil {
		text = nil // only our own structs come here
	}
	return &jsonrpc.Error{Code: code, Message: message, Data: text}
}
