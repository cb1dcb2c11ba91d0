package peer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
)

// scripted is a transport that receives what the test says, errors included.
type scripted struct {
	sent     chan []byte
	received chan any // a string or an error
	closed   chan struct{}
}

func (s *scripted) Send(_ context.Context, message []byte) error {
	s.sent <- bytes.Clone(message)
	return nil
}

func (s *scripted) Receive(context.Context) ([]byte, error) {
	select {
	case r := <-s.received:
		if err, ok := r.(error); ok {
			return nil, err
		}
		return []byte(r.(string)), nil
	case <-s.closed:
		return nil, io.EOF
	}
}

func (s *scripted) Close() error {
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	return nil
}

func TestALostAnswerFailsItsCallAndNoOther(t *testing.T) {
	s := &scripted{make(chan []byte, 4), make(chan any), make(chan struct{})}
	p := peer.New(s, handler{}, nil)
	over := make(chan error, 1)
	go func() { over <- p.Run(t.Context()) }() // awaited below

	broken := errors.New("the stream broke")
	call := func(method string) <-chan error {
		done := make(chan error, 1)
		go func() { done <- p.Call(t.Context(), method, nil, nil) }() // the test waits for it
		<-s.sent
		return done
	}
	first, second := call("first"), call("second")
	s.received <- &peer.LostError{ID: jsonrpc.IntID(7), Err: broken} // nobody waits for that one
	s.received <- &peer.LostError{ID: jsonrpc.IntID(1), Err: errors.Join(broken, peer.ErrTooLong)}
	var theirs *jsonrpc.Error
	if err := <-first; !errors.Is(err, broken) || errors.As(err, &theirs) {
		t.Errorf("first: %v", err)
	}
	s.received <- empty("2")
	if err := <-second; err != nil {
		t.Errorf("second: %v", err)
	}
	if len(s.sent) > 0 {
		t.Errorf("the other side was told: %s", <-s.sent)
	}
	_ = s.Close()
	if err := <-over; err != nil {
		t.Errorf("Run: %v", err)
	}
}
