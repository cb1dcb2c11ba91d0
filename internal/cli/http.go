package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bossman-mcp/bossman/internal/queue"
	"github.com/bossman-mcp/bossman/oauth/resource"
	"github.com/bossman-mcp/bossman/streamable"
)

// httpFlags are the settings of a server over HTTP.
type httpFlags struct {
	serveFlags
	stdioToo bool
	addr     string
	cert     string
	key      string
	keyFile  string
	hosts    []string
	origins  []string
}

func newServe() *cobra.Command {
	f := &httpFlags{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve agents over HTTP, or over standard input and output",
		Long: `Serve the task queue over HTTP:

  /mcp      the Model Context Protocol, every revision
  /sse      the same for clients that still want the pair of endpoints of 2024
  /healthz  200 while tasks can be read
  /metrics  figures for Prometheus

On a loopback address anybody on this machine may use it, though no web page may.
Any other address needs API keys, which clients send as "Authorization: Bearer KEY"
or "X-Api-Token: KEY". Keys come from the environment, as BOSSMAN_API_KEYS with
name=key pairs split at commas, or from a file of hashed keys that may change while
bossman runs; 'bossman new-key' makes keys and the file's lines.

With --stdio it does what bossman does without a command.`,
		Example: `  bossman serve
  bossman serve --http 127.0.0.1:9000 --db ./tasks.db
  bossman new-key alice >> keys
  bossman serve --http 0.0.0.0:8181 --api-key-file keys --tls-cert cert.pem --tls-key key.pem`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.stdioToo {
				return f.stdio(cmd.Context())
			}
			return f.http(cmd.Context())
		},
	}
	f.bind(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.stdioToo, "stdio", false, "serve standard input and output instead")
	flags.StringVar(&f.addr, "http", streamable.DefaultAddr, "address to listen on")
	flags.StringVar(&f.cert, "tls-cert", "", "file with the certificate for HTTPS")
	flags.StringVar(&f.key, "tls-key", "", "file with the certificate's key")
	flags.StringVar(&f.keyFile, "api-key-file", "", "file with API keys (default $BOSSMAN_API_KEY_FILE)")
	flags.StringSliceVar(&f.hosts, "allow-host", nil, "name that clients may call this server by; may be repeated")
	flags.StringSliceVar(&f.origins, "allow-origin", nil, "web page, such as https://example.com, that may use this server; may be repeated")
	return cmd
}

// http serves until a signal comes.
func (f *httpFlags) http(ctx context.Context) error {
	log, err := f.logger()
	if err != nil {
		return err
	}
	keys, err := f.keys(log)
	if err != nil {
		return err
	}
	if keys == nil && !isLoopback(f.addr) {
		return &usageError{fmt.Errorf("will not listen on %s without API keys, for anybody could use it: set BOSSMAN_API_KEYS or --api-key-file, or listen on a loopback address", f.addr)}
	}
	config, err := f.tlsConfig()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	store, path, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err := store.Close(); err != nil {
			log.Error("close task store", "error", err)
		}
	}()
	listener, err := net.Listen("tcp", f.addr)
	if err != nil {
		return err
	}
	handler, endpoint := f.handler(store, keys, log)
	srv := streamable.NewServer(f.addr, handler)
	srv.TLSConfig, srv.ErrorLog = config, slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	scheme := "http"
	if config != nil {
		scheme = "https"
	}
	log.Info("bossman serves", "url", fmt.Sprintf("%s://%s/mcp", scheme, listener.Addr()), "tasks", path, "keys", keys != nil)
	return streamable.Run(ctx, listener, srv, endpoint)
}

// handler lays out the paths.
func (f *httpFlags) handler(store queue.Store, keys resource.Verifier, log *slog.Logger) (http.Handler, *streamable.Endpoint) {
	s := f.server(store, log)
	figures := newMetrics()
	s.Use(figures.middleware)
	endpoint := streamable.Handler(s, &streamable.Options{AllowedHosts: f.hosts, AllowedOrigins: f.origins, Logger: log})
	known := func(h http.Handler) http.Handler {
		if keys == nil {
			return h
		}
		return resource.Require(h, &resource.Options{Logger: log}, keys)
	}
	measured := known(figures.handler(endpoint))
	if keys == nil { // then they are for this machine, and not for web pages
		measured = endpoint.Guard(measured)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", endpoint.Guard(known(endpoint))) // pages that may come ask first, without a key
	mux.Handle("/sse", endpoint.Guard(known(endpoint.SSE())))
	mux.Handle("GET /healthz", health(store))
	mux.Handle("GET /metrics", measured)
	return mux, endpoint
}

// health says whether tasks can be read.
func health(store queue.Store) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if _, err := store.List(r.Context(), queue.Filter{Limit: 1}); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, "tasks cannot be read")
			return
		}
		fmt.Fprintln(w, "ok")
	})
}

// keys returns who may enter, nil for anybody.
func (f *httpFlags) keys(log *slog.Logger) (resource.Verifier, error) {
	opts := &resource.KeysOptions{Logger: log}
	file, pairs := setting(f.keyFile, "BOSSMAN_API_KEY_FILE"), os.Getenv("BOSSMAN_API_KEYS")
	switch {
	case file != "" && pairs != "":
		return nil, &usageError{errors.New("API keys come from a file or from BOSSMAN_API_KEYS, not from both")}
	case file != "":
		return resource.KeysFile(file, opts)
	case pairs == "":
		return nil, nil
	}
	var keys []resource.Key
	for pair := range strings.SplitSeq(pairs, ",") {
		name, secret, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || name == "" || secret == "" {
			return nil, &usageError{errors.New("BOSSMAN_API_KEYS must be name=key pairs, split at commas")}
		}
		keys = append(keys, resource.Key{Name: name, Secret: secret})
	}
	return resource.Keys(keys, opts)
}

func (f *httpFlags) tlsConfig() (*tls.Config, error) {
	if f.cert == "" && f.key == "" {
		return nil, nil
	}
	if f.cert == "" || f.key == "" {
		return nil, &usageError{errors.New("--tls-cert and --tls-key go together")}
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, fmt.Errorf("load certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}, nil
}

// isLoopback reports whether only this machine can reach an address.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
