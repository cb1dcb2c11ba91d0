package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Idle is a crowd of clients that do nothing.
type Idle struct {
	mu    sync.Mutex
	wires []*wire
}

// Close hangs up.
func (i *Idle) Close() {
	for _, w := range i.wires {
		w.conn.Close()
	}
}

func (i *Idle) keep(w *wire) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.wires = append(i.wires, w)
}

// openers is how many clients greet the server at the same time.
const openers = 8

// each calls f n times on a few goroutines, each with a connection of its own. It
// returns the first error.
func (h *HTTP) each(n int, f func(w *wire) error) error {
	var wg sync.WaitGroup
	errs := make([]error, openers)
	for k := range openers {
		wg.Go(func() { // awaited below
			w, err := dial(h.addr)
			if err != nil {
				errs[k] = err
				return
			}
			defer w.conn.Close()
			for i := k; i < n && errs[k] == nil; i += openers {
				errs[k] = f(w)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Sessions opens n sessions of the legacy era, each with its GET stream if
// streams is true. Without streams no connection stays open.
func (h *HTTP) Sessions(n int, streams bool) (*Idle, error) {
	idle := new(Idle)
	err := h.each(n, func(w *wire) error {
		session, err := h.greet(w)
		if err != nil || !streams {
			return err
		}
		get := fmt.Appendf(nil, "GET /mcp HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n", h.addr)
		for _, line := range h.headersFor(session) {
			get = append(append(get, line...), "\r\n"...)
		}
		return idle.stream(h.addr, append(get, "\r\n"...), "")
	})
	return idle, err
}

// Listeners opens n streams of the modern era that wait for changes of the list
// of tools.
func (h *HTTP) Listeners(n int) (*Idle, error) {
	idle := new(Idle)
	body := Modern.body(firstID, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "")
	request := post(h.addr, body, h.headers("subscriptions/listen", "")...)
	err := h.each(n, func(*wire) error {
		return idle.stream(h.addr, request, "notifications/subscriptions/acknowledged")
	})
	return idle, err
}

// stream opens an event stream and keeps it once it has said what is awaited. Its
// connection is kept in any case.
func (i *Idle) stream(addr string, request []byte, await string) error {
	w, err := dial(addr)
	if err != nil {
		return err
	}
	i.keep(w)
	if err := w.send(request, 20*time.Second); err != nil {
		return err
	}
	head, err := w.readHead()
	if err != nil {
		return err
	}
	if head.status != 200 || !head.events {
		rest, _ := io.ReadAll(io.LimitReader(w.r, int64(max(head.length, 0))))
		return fmt.Errorf("status %d instead of an event stream: %s", head.status, abridged(rest))
	}
	for await != "" {
		line, err := w.r.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("wait for %s: %w", await, err)
		}
		if bytes.Contains(line, []byte(await)) {
			break
		}
	}
	w.r = nil // idle clients need no buffer
	return nil
}
