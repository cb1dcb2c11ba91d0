package deferred_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/deferred"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcptest"
	"github.com/bossman-mcp/bossman/server"
)

// transcriptServer is what the transcripts speak with.
func transcriptServer(t *testing.T, _ string) mcp.Handler {
	return newFixture(t, &deferred.Options{TTL: -1}).s
}

// fixture is a server with tools that answer later.
type fixture struct {
	s *server.Server
	d *deferred.Deferrer
	// open lets the tool "wait" end.
	open chan struct{}
}

type pair struct {
	A int `json:"a"`
	B int `json:"b"`
}

type sum struct {
	Sum int `json:"sum"`
}

type none struct{}

func newFixture(t testing.TB, opts *deferred.Options) *fixture {
	t.Helper()
	f := &fixture{s: server.New("later", "1.0.0", nil), open: make(chan struct{})}
	var full deferred.Options
	if opts != nil {
		full = *opts
	}
	if full.Logger == nil {
		full.Logger = slog.New(slog.DiscardHandler)
	}
	f.d = deferred.New(f.s, &full)
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = f.d.Close(ended)
	})
	add := func(name string, i server.Implementation) {
		f.s.AddTool(mcp.Tool{Name: name, Description: "A tool named " + name}, i)
	}
	add("add", f.d.Optional(server.Func(func(_ context.Context, in pair) (sum, error) { return sum{in.A + in.B}, nil })))
	add("must", f.d.Required(server.Func(func(context.Context, none) (string, error) { return "done", nil })))
	add("fail", f.d.Optional(server.Func(func(context.Context, none) (string, error) { return "", errors.New("out of luck") })))
	add("break", f.d.Optional(server.Func(func(context.Context, none) (string, error) {
		return "", &jsonrpc.Error{Code: -31999, Message: "broken", Data: jsontext.Value(`{"n":1.0}`)}
	})))
	add("panic", f.d.Optional(server.Func(func(context.Context, none) (string, error) { panic("secret") })))
	add("wait", f.d.Optional(server.Func(f.wait)))
	add("confirm", f.d.Optional(server.CallFunc(confirm)))
	add("greet", server.CallFunc(f.greet))
	server.Tool(f.s, "settle", "Return when nothing is worked on", func(ctx context.Context, _ none) (string, error) {
		return "settled", f.d.Settle(ctx)
	})
	return f
}

// wait ends when the fixture is opened, or its context.
func (f *fixture) wait(ctx context.Context, _ none) (string, error) {
	select {
	case <-f.open:
		return "waited", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

const form = `{"type":"object","properties":{"value":{"type":"string"}},"required":["value"]}`

func ask(c *mcp.Call, key string) (string, error) {
	answer, err := c.Elicit(key, &mcp.ElicitParams{Message: key + "?", RequestedSchema: jsontext.Value(form)})
	if err != nil {
		return "", err
	}
	var content struct {
		Value string `json:"value"`
	}
	if err := json.Unmarshal(answer.Content, &content); err != nil {
		return "", err
	}
	return content.Value, nil
}

// confirm asks two things at once, and then a third, while it is at work.
func confirm(_ context.Context, c *mcp.Call, _ none) (string, error) {
	name, err1 := ask(c, "name")
	city, err2 := ask(c, "city")
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	if err := c.Keep(name + " from " + city); err != nil {
		return "", err
	}
	sure, err := ask(c, "sure")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, kept %s", sure, c.State()), nil
}

// greet asks before it answers later.
func (f *fixture) greet(_ context.Context, c *mcp.Call, _ none) (string, error) {
	name, err := ask(c, "name")
	if err != nil {
		return "", err
	}
	if err := f.d.Later(c); err != nil {
		return "", fmt.Errorf("greet: %w", err)
	}
	return "Hello, " + name + "!", nil
}

// declared are the capabilities of a client of the extension.
var declared = mcp.ClientCapabilities{
	Elicitation: &mcp.ElicitationCapability{},
	Extensions:  map[string]jsontext.Value{mcp.ExtensionDeferred: jsontext.Value("{}")},
}

// user is a connection of one principal.
type user struct {
	*mcptest.Conn
	t testing.TB
}

// as connects somebody to the fixture; an empty name is nobody.
func (f *fixture) as(t testing.TB, name string) *user {
	t.Helper()
	opts := &mcptest.Options{Capabilities: declared}
	if name != "" {
		opts.Principal = &mcp.Principal{Name: name, Scopes: []string{"x"}}
	}
	return &user{mcptest.Connect(t, f.s, opts), t}
}

// call calls a tool and returns the handle.
func (u *user) call(tool, arguments string) *mcp.Deferred {
	u.t.Helper()
	result, err := u.Request(mcp.MethodCallTool, jsontext.Value(`{"name":"`+tool+`","arguments":`+arguments+`}`))
	if err != nil {
		u.t.Fatalf("call %s: %v", tool, err)
	}
	handle := u.read(result)
	if handle.ResultType != mcp.ResultTask || handle.ID == "" || handle.Result != nil || handle.Error != nil || handle.InputRequests != nil {
		u.t.Fatalf("call %s: %s is no handle", tool, result)
	}
	return handle
}

func (u *user) read(text jsontext.Value) *mcp.Deferred {
	u.t.Helper()
	d := new(mcp.Deferred)
	if err := json.Unmarshal(text, d); err != nil {
		u.t.Fatalf("read %s: %v", text, err)
	}
	return d
}

// get reads a state.
func (u *user) get(id string) *mcp.Deferred {
	u.t.Helper()
	result, err := u.Request(mcp.MethodGetDeferred, &mcp.DeferredParams{ID: id})
	if err != nil {
		u.t.Fatalf("get: %v", err)
	}
	d := u.read(result)
	if d.ResultType != mcp.ResultComplete {
		u.t.Errorf("get answered with the result type %q", d.ResultType)
	}
	return d
}

// wantStatus reads a state and compares its status.
func (u *user) wantStatus(id string, want mcp.DeferredStatus) *mcp.Deferred {
	u.t.Helper()
	d := u.get(id)
	if d.Status != want {
		u.t.Fatalf("the status is %s (%s), want %s", d.Status, d.StatusMessage, want)
	}
	return d
}

// update gives answers, and wants an acknowledgement.
func (u *user) update(id, answers string) {
	u.t.Helper()
	if _, err := u.Request(mcp.MethodUpdateDeferred, jsontext.Value(`{"taskId":"`+id+`","inputResponses":`+answers+`}`)); err != nil {
		u.t.Fatalf("update: %v", err)
	}
}

// give up a result, and want an acknowledgement.
func (u *user) cancel(id string) {
	u.t.Helper()
	if _, err := u.Request(mcp.MethodCancelDeferred, &mcp.DeferredParams{ID: id}); err != nil {
		u.t.Fatalf("cancel: %v", err)
	}
}

// wantCode fails unless err is an error of the server with that code.
func wantCode(t testing.TB, what string, err error, code int) {
	t.Helper()
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != code {
		t.Errorf("%s: got %v, want the code %d", what, err, code)
	}
}
