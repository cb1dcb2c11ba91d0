package login

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

// Loopback shows pages in a browser on this machine, and receives the answer at a
// port of its own, on 127.0.0.1, which is open only meanwhile (RFC 8252, section
// 7.3). The zero value can be used.
type Loopback struct {
	// Browser shows the page. Nil: SystemBrowser().
	Browser Browser
	// Port is where to listen. 0: any that is free, which authorization servers
	// must allow to programs; the one of the last registration is tried first.
	Port int
	// Path is where the answer comes. Empty: "/callback".
	Path string
	// Timeout is how long the person may take. 0: 5 minutes.
	Timeout time.Duration
}

const (
	goodPage = "<!doctype html><title>Logged in</title><p>The answer has arrived. You can close this window.</p>\n"
	badPage  = "<!doctype html><title>Not expected</title><p>This is not the answer that was expected.</p>\n"
)

// Visit opens the page, and takes the first answer that carries its state.
func (l *Loopback) Visit(ctx context.Context, prefer string, begin func(string) (string, error)) (string, error) {
	timeout, path, browser := l.Timeout, l.Path, l.Browser
	if timeout == 0 {
		timeout = 5 * time.Minute
	}
	if path == "" {
		path = "/callback"
	}
	if browser == nil {
		browser = SystemBrowser()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errors.New("nobody answered in time"))
	defer cancel()
	listener, err := l.listen(ctx, prefer, path)
	if err != nil {
		return "", fmt.Errorf("listen for the answer: %w", err)
	}
	defer listener.Close()
	host := listener.Addr().String()
	page, err := begin("http://" + host + path)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(page)
	if err != nil {
		return "", errors.New("open browser: malformed URL")
	}
	r := &receiver{host: host, path: path, state: u.Query().Get("state"), answer: make(chan string, 1)}
	return r.receive(ctx, listener, func() error { return browser.Open(ctx, page) })
}

// listen takes the port of a former redirect URI if it is free and of this kind,
// since some authorization servers compare ports.
func (l *Loopback) listen(ctx context.Context, prefer, path string) (net.Listener, error) {
	var config net.ListenConfig
	if l.Port == 0 {
		if u, err := url.Parse(prefer); err == nil && u.Hostname() == "127.0.0.1" && u.Path == path && u.Port() != "" {
			if listener, err := config.Listen(ctx, "tcp4", u.Host); err == nil {
				return listener, nil
			}
		}
	}
	return config.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(l.Port)))
}

// receiver waits for one answer.
type receiver struct {
	host, path, state string
	answer            chan string // has room for one
	taken             atomic.Bool
}

func (r *receiver) receive(ctx context.Context, listener net.Listener, open func() error) (string, error) {
	server := &http.Server{
		Handler: r, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second,
		MaxHeaderBytes: maxAnswer + 4<<10,
	}
	server.SetKeepAlivesEnabled(false)
	served := make(chan struct{})
	go func() { // receive waits for it
		defer close(served)
		_ = server.Serve(listener)
	}()
	defer func() {
		// The page gets a moment to reach the browser.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(last) != nil {
			_ = server.Close()
		}
		<-served
	}()
	if err := open(); err != nil {
		return "", err
	}
	select {
	case query := <-r.answer:
		return query, nil
	case <-ctx.Done():
		return "", fmt.Errorf("wait for the person: %w", context.Cause(ctx))
	}
}

// ServeHTTP takes the answer. Whatever else comes by, such as a page that tries
// ports, learns nothing and changes nothing.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	if !r.take(q) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(badPage))
		return
	}
	_, _ = w.Write([]byte(goodPage))
}

// take reports whether a request is the answer, which only one can be.
func (r *receiver) take(q *http.Request) bool {
	if q.Method != http.MethodGet || q.Host != r.host || q.URL.EscapedPath() != r.path {
		return false
	}
	a, err := parseAnswer(q.URL.RawQuery)
	if err != nil || a.state != r.state || r.state == "" {
		return false
	}
	if !r.taken.CompareAndSwap(false, true) {
		return false
	}
	r.answer <- q.URL.RawQuery
	return true
}
