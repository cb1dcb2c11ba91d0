package streamable

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// shutdownTime is how long calls may take to end once a server was told to stop.
const shutdownTime = 10 * time.Second

// Run serves on l until ctx ends, which is no error. Then calls in flight are
// finished, open streams get their closing words, and what is left after ten
// seconds is cut off. A server with certificates in its TLSConfig speaks TLS.
func Run(ctx context.Context, l net.Listener, srv *http.Server, e *Endpoint) error {
	failed := make(chan error, 1)
	go func() { // ends when srv is shut down, below
		if srv.TLSConfig != nil {
			failed <- srv.ServeTLS(l, "", "")
		} else {
			failed <- srv.Serve(l)
		}
	}()
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
