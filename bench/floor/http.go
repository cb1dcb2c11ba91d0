package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// sessions are the ids given out; all that an idle session is here.
type sessions struct {
	mu  sync.Mutex
	ids map[string]struct{}
}

func (s *sessions) open() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := strconv.Itoa(len(s.ids)) + "-floor-session"
	s.ids[id] = struct{}{}
	return id
}

// serveHTTP answers each POST with canned JSON, and opens event streams that stay
// silent.
func serveHTTP(addr string, c *canned) error {
	s := &sessions{ids: make(map[string]struct{})}
	buffers := sync.Pool{New: func() any { return new([2][]byte) }}
	http.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			stream(w, r, ": open\n\n")
			return
		}
		b := buffers.Get().(*[2][]byte)
		defer buffers.Put(b)
		var err error
		if b[0], err = readBody(b[0], r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if has(b[0], `"subscriptions/listen"`) {
			stream(w, r, "data: "+acked+"\n\n")
			return
		}
		if has(b[0], `"initialize"`) {
			w.Header().Set("Mcp-Session-Id", s.open())
		}
		out, rep := c.answer(b[1][:0], b[0])
		b[1] = out
		respond(w, out, rep)
	})
	return http.ListenAndServe(addr, nil)
}

// readBody reads a request into a buffer that may grow.
func readBody(buf []byte, r *http.Request) ([]byte, error) {
	if n := r.ContentLength; n >= 0 {
		if int64(cap(buf)) < n {
			buf = make([]byte, n)
		}
		buf = buf[:n]
		_, err := io.ReadFull(r.Body, buf)
		return buf, err
	}
	b := bytes.NewBuffer(buf[:0])
	_, err := b.ReadFrom(r.Body)
	return b.Bytes(), err
}

func respond(w http.ResponseWriter, out []byte, rep reply) {
	switch {
	case len(out) == 0:
		w.WriteHeader(http.StatusAccepted)
		return
	case rep.events > 0:
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w)
		for i := range rep.events {
			fmt.Fprintf(w, "data: "+progress+"\n\n", i+1)
			_ = flush.Flush()
		}
		fmt.Fprintf(w, "data: %s\n\n", out)
		return
	}
	time.Sleep(rep.delay)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	_, _ = w.Write(out)
}

// stream opens an event stream that lasts as long as its client.
func stream(w http.ResponseWriter, r *http.Request, first string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, first)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}
