package streamable

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/bossman-mcp/bossman/internal/deadline"
)

// shutdownTime is how long calls may take to end once a server was told to stop.
const shutdownTime = 10 * time.Second

// Run serves on l until ctx ends, which is no error. Then calls in flight are
// finished, open streams get their closing words, and what is left after ten
// seconds is cut off. A server with certificates in its TLSConfig speaks TLS.
//
// Streams without an end of their own, such as subscriptions, leave net/http once
// they are open. On Linux one goroutine waits for all of them, unless they speak
// TLS, and each costs about 2 KiB; elsewhere they have one each, and cost a quarter
// of what net/http needs. Srv counts their connections as hijacked, and middleware
// sees their requests end. Streams of HTTP/1.0 or behind a ResponseWriter that is
// not srv's own stay where they are.
//
// Deadlines of connections are kept in a way that costs nothing to move them, since
// net/http does that several times a request. So srv's hooks see connections that
// wrap those of l.
//
// After many streams have ended, Run gives their memory back to the
// system, which Go by itself does late, or never while a server is idle.
func Run(ctx context.Context, l net.Listener, srv *http.Server, e *Endpoint) error {
	e.lines.allowed.Store(true)
	l = deadline.Listener{Listener: l}
	failed := make(chan error, 1)
	go func() { // ends when srv is shut down, below
		if srv.TLSConfig != nil {
			failed <- srv.ServeTLS(l, "", "")
		} else {
			failed <- srv.Serve(l)
		}
	}()
	tidying, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // awaited below
		defer close(done)
		tidy(tidying, e)
	}()
	defer func() { stop(); <-done }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	err := errors.Join(e.Shutdown(grace), srv.Shutdown(grace))
	if err != nil {
		err = errors.Join(err, srv.Close())
	}
	<-failed
	return err
}

const (
	tidyEvery = 5 * time.Second // how often to look
	crowd     = 500             // streams that must have ended
)

// tidy frees memory after a crowd has left. It collects twice, since pools let go
// of what they hold only the second time.
func tidy(ctx context.Context, e *Endpoint) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if e.streams.fell(crowd) {
				debug.FreeOSMemory()
				debug.FreeOSMemory()
			}
		}
	}
}
