package client

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// RPC is a client of JSON-RPC 2.0 and no more: calls and notifications over a
// transport, which moves whole messages. Its methods may be called from many
// goroutines.
type RPC struct {
	peer    *peer.Peer
	courier *courier

	mu       sync.Mutex
	handlers map[string]func(params jsontext.Value) error
}

// NewRPC returns the client that speaks over t. Answers arrive while
// [RPC.Listen] runs.
func NewRPC(t peer.Transport) *RPC {
	r := &RPC{courier: newCourier(slog.Default()), handlers: make(map[string]func(jsontext.Value) error)}
	r.peer = peer.New(t, rpcHandler{r}, &peer.Options{Quiet: true})
	return r
}

// Call sends a request and decodes the result of its answer into result, a
// pointer; nil drops it. An error of the server is a *jsonrpc.Error. When ctx
// ends first, the server is told.
func (r *RPC) Call(ctx context.Context, method string, params, result any) error {
	return r.peer.Call(ctx, method, params, result)
}

// Notify sends a notification, which has no answer. Nil params are left out.
func (r *RPC) Notify(ctx context.Context, method string, params any) error {
	return r.peer.Notify(ctx, method, params)
}

// OnNotification sets who hears of the server's notifications of a method, in the
// place of who did before. Handlers are called one after the other, and may make
// calls. Params are an object or nil; an error is logged.
func (r *RPC) OnNotification(method string, handler func(params jsontext.Value) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handlers[method] = handler
}

// Listen reads what the server sends. It returns nil when the server is done or
// after [RPC.Close], and otherwise why it cannot read on.
func (r *RPC) Listen() error {
	if err := r.peer.Run(context.Background()); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return nil
}

// Close ends the connection. Calls that wait for an answer fail.
func (r *RPC) Close() error {
	err := r.peer.Close()
	r.courier.crew.end(callbackPatience)
	return err
}

// rpcHandler keeps the methods that a peer needs out of sight.
type rpcHandler struct{ r *RPC }

// Answer refuses: a client has nothing to offer.
func (h rpcHandler) Answer(_ context.Context, r *peer.Request) (any, error) {
	return nil, jsonrpc.MethodNotFound(r.Method)
}

// Notice finds the handler of a notification.
func (h rpcHandler) Notice(_ context.Context, method string, params []byte) {
	h.r.mu.Lock()
	handler := h.r.handlers[method]
	h.r.mu.Unlock()
	if handler == nil {
		return
	}
	h.r.courier.post(topic{}, func() {
		if err := handler(params); err != nil {
			slog.Default().Warn("notification failed", "method", method, "error", err)
		}
	})
}
