package mcptest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// Middleware records in front of a handler; it is an [mcp.Middleware]. There the
// client's revision is no longer seen: each Call is written, when it has ended,
// as the request of the newest revision that would have made it. Subscriptions
// are passed over.
func (r *Recorder) Middleware(next mcp.Handler) mcp.Handler {
	return mcp.HandlerFunc(func(ctx context.Context, c *mcp.Call) (any, error) {
		if c.Method == mcp.MethodSubscriptionsListen || c.Client == nil || c.Client.Revision == "" {
			return next.Handle(ctx, c) // the last is a door that asks for itself
		}
		w := &witness{recorder: r, next: next, params: c.Params, input: c.Input}
		if notify := c.Notify; notify != nil {
			defer func() { c.Notify = notify }()
			c.Notify = func(ctx context.Context, method string, params any) error {
				w.heard(method, params)
				return notify(ctx, method, params)
			}
		}
		result, err := next.Handle(ctx, c)
		if ctx.Err() == nil { // a Call that was cancelled gets no answer
			w.write(ctx, c, result, err)
		}
		return result, err
	})
}

// witness saw one Call.
type witness struct {
	recorder *Recorder
	next     mcp.Handler
	params   jsontext.Value
	input    mcp.Input // as it was before

	mu   sync.Mutex
	said []string // notifications
}

func (w *witness) heard(method string, params any) {
	text, err := jsonrpc.AppendRequest(nil, jsonrpc.ID{}, method, params)
	if err != nil {
		return // the caller is told by the real Notify
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, string(text))
}

// write puts the Call on record.
func (w *witness) write(ctx context.Context, c *mcp.Call, result any, err error) {
	id, state := w.recorder.begin(c.Method, w.params)
	params := w.request(c, state)
	fixed := mcp.HandlerFunc(func(ctx context.Context, asked *mcp.Call) (any, error) {
		if asked.Client.Revision == "" { // the door asks for the server's name
			return w.next.Handle(ctx, asked)
		}
		asked.Input = c.Input
		return result, err
	})
	door := lifecycle.NewStateless(fixed, &lifecycle.Options{Sealer: w.recorder.sealer})
	in := &lifecycle.Incoming{ID: id, Method: c.Method, Params: params, Principal: c.Principal}
	shaped, err := door.Answer(ctx, in)
	answer, encodeErr := jsonrpc.AppendResult(nil, id, shaped)
	if err = errors.Join(err, encodeErr); err != nil {
		wire := jsonrpc.InternalError("the request failed")
		errors.As(err, &wire)
		answer = jsonrpc.AppendError(nil, id, wire)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recorder.end(message(id, c.Method, params), append(w.said, string(answer)), c.Method, w.params)
}

// request returns the params that the newest revision would have sent: with what
// the client is in _meta, and with the answers of earlier rounds.
func (w *witness) request(c *mcp.Call, state string) jsontext.Value {
	params := object{}
	for name, value := range jsonscan.Members(w.params) {
		if s := string(name); s != "inputResponses" && s != "requestState" {
			params.set(s, value)
		}
	}
	if len(w.input.Answers) > 0 {
		params.marshal("inputResponses", w.input.Answers)
	}
	if state != "" {
		params.set("requestState", jsontext.Value(state))
	}
	return withMeta(params.JSON(), requestMeta(c.Client, c.LogLevel))
}

// begin gives a Call its id, and the state that an earlier round of it left.
func (r *Recorder) begin(method string, params jsontext.Value) (jsonrpc.ID, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	key := roundKey(method, params)
	state := r.kept[key]
	delete(r.kept, key)
	return jsonrpc.IntID(int64(r.calls)), state
}

// end writes a Call as one exchange, and remembers the state it leaves.
func (r *Recorder) end(request string, answers []string, method string, params jsontext.Value) {
	answer := []byte(answers[len(answers)-1])
	r.mu.Lock()
	defer r.mu.Unlock()
	if state := jsonscan.Get(jsonscan.Get(answer, "result"), "requestState"); state != nil {
		r.kept[roundKey(method, params)] = string(state)
	}
	r.noteLocked(Client, request)
	for _, text := range answers {
		r.noteLocked(Server, text)
	}
}

// roundKey is equal for the rounds of one request.
func roundKey(method string, params jsontext.Value) string {
	key := method
	for name, value := range jsonscan.Members(params) {
		switch string(name) {
		case "_meta", "inputResponses", "requestState":
		default:
			key += fmt.Sprintf("\x00%s\x00%s", name, value)
		}
	}
	return key
}
