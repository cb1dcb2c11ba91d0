package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/stdio"
	"github.com/bossman-mcp/bossman/streamable"
)

// Options are what a [Fleet] can be told; nil means the zero value of each.
type Options struct {
	// Env is what every child gets of the environment, as name=value, besides
	// what its configuration lists: nothing else is inherited. Nil: nothing.
	Env []string
	// Stderr returns what gets the standard error of a server's child. Nil: it is
	// dropped, but for the tail that errors show.
	Stderr func(server string) io.Writer
	// HTTP is how servers with a URL are reached. The headers of their
	// configuration are added. Zero: as streamable.Dial does.
	HTTP streamable.DialOptions
	// Dial replaces the way to a server; for those it returns nil, it does not.
	// Nil: for none.
	Dial func(server string, c ServerConfig) client.Dialer
	// Client returns the options of a server's client: who we are, what answers
	// the server's questions, what hears of changes. Timeout of the configuration
	// and Memory are put in. Nil: the zero value for each.
	Client func(server string) client.Options
	// Memory returns what remembers the era of a server, by a digest of how it is
	// reached. Nil: the fleet remembers.
	Memory func(key string) client.Memory

	// StartTimeout is how long a server may take to start, unless the options of
	// its client say so. 0: 30 seconds.
	StartTimeout time.Duration
	// ListTimeout is how long [Fleet.Tools] waits for a server, its start
	// included. 0: 30 seconds.
	ListTimeout time.Duration
	// HealthEvery is how often a server that runs and has nothing to do is asked
	// whether it is there. 0: 30 seconds. Negative: never.
	HealthEvery time.Duration
	// HealthTimeout is how long it may take to answer that. A server that does
	// not is ended, and started anew. 0: 10 seconds.
	HealthTimeout time.Duration
	// MaxFailures is how often in a row a server may fail to start, or not last
	// ten seconds, before it is given up. 0: 5.
	MaxFailures int
	// Rest is how long a server that was given up is left alone. The first call
	// after it tries anew. 0: a minute.
	Rest time.Duration

	// OnChange hears of each change of a server's state. It is called from many
	// goroutines, must not block, and must not call Close or Reload. Nil: nobody
	// does.
	OnChange func(Status)
	// Logger hears of what callers do not. Nil: slog.Default().
	Logger *slog.Logger
}

func (o *Options) withDefaults() Options {
	var full Options
	if o != nil {
		full = *o
	}
	orElse(&full.StartTimeout, 30*time.Second)
	orElse(&full.ListTimeout, 30*time.Second)
	orElse(&full.HealthEvery, 30*time.Second)
	orElse(&full.HealthTimeout, 10*time.Second)
	orElse(&full.Rest, time.Minute)
	if full.MaxFailures == 0 {
		full.MaxFailures = 5
	}
	if full.Memory == nil {
		full.Memory = (&verdicts{kept: make(map[string]client.Verdict)}).of
	}
	if full.Logger == nil {
		full.Logger = slog.Default()
	}
	return full
}

func orElse(d *time.Duration, otherwise time.Duration) {
	if *d == 0 {
		*d = otherwise
	}
}

// dialer returns the way to a server.
func (o *Options) dialer(name string, c *ServerConfig) (client.Dialer, error) {
	if o.Dial != nil {
		if d := o.Dial(name, *c); d != nil {
			return d, nil
		}
	}
	log := o.Logger.With("server", name)
	switch {
	case c.Command != "":
		cmd := stdio.Command(c.Command, c.Args...)
		cmd.Dir, cmd.Logger = c.Dir, log
		cmd.Env = append([]string{}, o.Env...) // never nil, which would be all of ours
		for name, value := range c.Env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		if o.Stderr != nil {
			cmd.Stderr = o.Stderr(name)
		}
		return cmd, nil
	case c.URL != "":
		opts := o.HTTP
		opts.SSE, opts.Logger = c.SSE, log
		if opts.Header = o.HTTP.Header.Clone(); opts.Header == nil {
			opts.Header = make(http.Header)
		}
		for name, value := range c.Header {
			opts.Header.Set(name, value)
		}
		return streamable.Dial(c.URL, &opts), nil
	}
	return nil, errors.New("it has neither a command nor a URL")
}

// client returns the options of a server's client.
func (o *Options) client(name string, c *ServerConfig) client.Options {
	var opts client.Options
	if o.Client != nil {
		opts = o.Client(name)
	}
	if c.Timeout != 0 {
		opts.Timeout = c.Timeout
	}
	orElse(&opts.ConnectTimeout, o.StartTimeout)
	opts.Memory = o.Memory(key(c))
	if opts.Logger == nil {
		opts.Logger = o.Logger.With("server", name)
	}
	return opts
}

// key tells servers apart by how they are reached, without showing it.
func key(c *ServerConfig) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %t", c.Command, strings.Join(c.Args, "\x00"), c.Dir, c.URL, c.SSE))
	return hex.EncodeToString(sum[:16])
}

// verdicts remembers the eras of servers.
type verdicts struct {
	mu   sync.Mutex
	kept map[string]client.Verdict
}

func (v *verdicts) of(key string) client.Memory { return &verdict{v, key} }

// verdict is the memory of one server.
type verdict struct {
	all *verdicts
	key string
}

// Recall returns the verdict, unless it has expired.
func (v *verdict) Recall() (client.Verdict, bool) {
	v.all.mu.Lock()
	defer v.all.mu.Unlock()
	kept, ok := v.all.kept[v.key]
	if ok && !time.Now().Before(kept.Until) {
		delete(v.all.kept, v.key)
		return client.Verdict{}, false
	}
	return kept, ok
}

// Remember keeps a verdict.
func (v *verdict) Remember(found client.Verdict) {
	v.all.mu.Lock()
	defer v.all.mu.Unlock()
	v.all.kept[v.key] = found
}
