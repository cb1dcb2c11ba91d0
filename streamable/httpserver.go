package streamable

import (
	"net/http"
	"time"
)

// DefaultAddr is where [NewServer] listens unless told otherwise: the loopback
// interface only.
const DefaultAddr = "127.0.0.1:8181"

// NewServer returns a server for h with the limits that keep slow and greedy
// connections off: 10 seconds for a request's header, 30 for the whole request,
// 120 for an idle connection, 64 KiB of header. It does not speak HTTP/2. An
// empty addr means [DefaultAddr].
//
// Call [Endpoint.Shutdown] before its Shutdown: streams have no end of their own.
func NewServer(addr string, h http.Handler) *http.Server {
	if addr == "" {
		addr = DefaultAddr
	}
	only := new(http.Protocols)
	only.SetHTTP1(true)
	return &http.Server{
		Addr:              addr,
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second, // lifted once a body is read, and by endpoints where there is none
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    64 << 10,
		Protocols:         only,
	}
}
