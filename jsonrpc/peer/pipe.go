package peer

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// Pipe returns two transports that are connected in memory: what one sends the
// other receives. Send blocks while 64 messages wait. Closing either ends both;
// what was sent before is still received.
func Pipe() (Transport, Transport) {
	a, b := make(chan []byte, 64), make(chan []byte, 64)
	over := &ending{done: make(chan struct{})}
	return &memory{in: a, out: b, over: over}, &memory{in: b, out: a, over: over}
}

type ending struct {
	once sync.Once
	done chan struct{}
}

type memory struct {
	in   <-chan []byte
	out  chan<- []byte
	over *ending
}

func (m *memory) Send(ctx context.Context, message []byte) error {
	select {
	case <-m.over.done:
		return ErrClosed
	default:
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case m.out <- bytes.Clone(message):
		return nil
	case <-m.over.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *memory) Receive(ctx context.Context) ([]byte, error) {
	select {
	case message := <-m.in:
		return message, nil
	default:
	}
	select {
	case message := <-m.in:
		return message, nil
	case <-m.over.done:
		select { // what was sent before the close
		case message := <-m.in:
			return message, nil
		default:
			return nil, io.EOF
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *memory) Close() error {
	m.over.once.Do(func() { close(m.over.done) })
	return nil
}
