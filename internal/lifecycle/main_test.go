package lifecycle

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quiet are options whose logs nobody reads.
func quiet() *Options { return &Options{Logger: slog.New(slog.DiscardHandler)} }

// asking is a client that can be asked everything.
const asking = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`

// modern makes a request of the stateless era from params without _meta.
func modern(method, params string) *Incoming {
	meta := `"_meta":{"` + mcp.MetaProtocolVersion + `":"` + revision.Newest().Name + `","` + mcp.MetaClientCapabilities + `":` + asking + `}`
	if inner := strings.TrimSuffix(strings.TrimPrefix(params, "{"), "}"); inner != "" {
		meta += "," + inner
	}
	return &Incoming{ID: jsonrpc.IntID(1), Method: method, Params: jsontext.Value("{" + meta + "}")}
}

// answer runs a request through a door and returns its result as text.
func answer(t *testing.T, door interface {
	Answer(ctx context.Context, in *Incoming) (any, error)
}, in *Incoming) (string, error) {
	t.Helper()
	result, err := door.Answer(t.Context(), in)
	if err != nil {
		return "", err
	}
	text, err := jsonrpc.AppendValue(nil, result)
	if err != nil {
		t.Fatal(err)
	}
	if err := jsonscan.Check(text, jsonrpc.MaxDepth); err != nil {
		t.Fatalf("the result is no JSON: %v in %s", err, text)
	}
	return string(text), nil
}

// stateOf returns the requestState of a result.
func stateOf(t *testing.T, result string) string {
	t.Helper()
	state := jsonscan.Unquote(jsonscan.Get([]byte(result), "requestState"))
	if state == "" {
		t.Fatalf("there is no state in %s", result)
	}
	return state
}

// code returns the JSON-RPC code of an error, 0 for any other.
func code(err error) int {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return wire.Code
	}
	return 0
}

// form is a question to the user.
func form(c *mcp.Call, key string) (*mcp.ElicitResult, error) {
	return c.Elicit(key, &mcp.ElicitParams{Message: key + "?", RequestedSchema: jsontext.Value(`{"type":"object","properties":{}}`)})
}

// opened returns a handshake door in its operating state.
func opened(t *testing.T, h mcp.Handler, rev *revision.Revision, notify notifyFunc) *Handshake {
	t.Helper()
	if notify == nil {
		notify = func(context.Context, string, any) error { return nil }
	}
	d := NewHandshake(t.Context(), h, notify, quiet())
	t.Cleanup(func() { d.Close(); d.Wait() })
	init := `{"protocolVersion":"` + rev.Name + `","capabilities":` + asking + `,"clientInfo":{"name":"t","version":"1"}}`
	if _, err := answer(t, d, &Incoming{ID: jsonrpc.IntID(0), Method: mcp.MethodInitialize, Params: jsontext.Value(init)}); err != nil {
		t.Fatal(err)
	}
	d.Notice(t.Context(), mcp.NotificationInitialized)
	return d
}

// introduced answers server/discover, and leaves the rest to h.
func introduced(h mcp.HandlerFunc) mcp.Handler {
	return mcp.HandlerFunc(func(ctx context.Context, c *mcp.Call) (any, error) {
		switch c.Method {
		case mcp.MethodDiscover:
			return &mcp.DiscoverResult{Meta: mcp.Meta(`{"` + mcp.MetaServerInfo + `":{"name":"x","version":"1"}}`)}, nil
		case mcp.MethodSubscriptionsListen:
			return &mcp.Subscription{Stop: func() {}}, nil
		}
		return h(ctx, c)
	})
}
