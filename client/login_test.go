package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

// guarded is a server, without a network, that wants the key of the day.
type guarded struct {
	handler http.Handler
	key     atomic.Value // a string
}

func (g *guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	r = r.Clone(r.Context())
	r.Host = r.URL.Host
	if r.Header.Get("Authorization") == g.key.Load() {
		g.handler.ServeHTTP(w, r)
	} else {
		w.WriteHeader(http.StatusUnauthorized)
	}
	res := w.Result()
	res.Request = r
	return res, nil
}

// person needs some time for each login, or does not want to.
type person struct {
	key    atomic.Value // a string
	takes  time.Duration
	no     error
	logins atomic.Int32
}

func (p *person) Authorize(_ context.Context, r *http.Request) error {
	key, _ := p.key.Load().(string)
	r.Header.Set("Authorization", key)
	return nil
}

func (p *person) Challenge(ctx context.Context, _ *http.Response) (bool, error) {
	p.logins.Add(1)
	select {
	case <-time.After(p.takes):
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if p.no == nil {
		p.key.Store("today")
	}
	return true, p.no
}

// enter connects a person with a guarded server.
func enter(t *testing.T, p *person, opts *client.Options) (*client.Client, error) {
	t.Helper()
	s := server.New("guarded", "1", nil)
	server.Tool(s, "hello", "Say hello", func(context.Context, struct{}) (string, error) { return "hello", nil })
	g := &guarded{handler: streamable.Handler(s, &streamable.Options{Logger: quiet})}
	g.key.Store("today")
	d := streamable.Dial("http://localhost/mcp", &streamable.DialOptions{Auth: p, Client: &http.Client{Transport: g}, Logger: quiet})
	opts.Logger = quiet
	return client.Connect(t.Context(), d, opts)
}

func TestAPersonMayTakeMinutesToLogIn(t *testing.T) {
	for _, era := range []string{client.EraStateless, client.EraHandshake, ""} {
		t.Run("in the era "+era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &person{takes: 4 * time.Minute}
				c, err := enter(t, p, &client.Options{Revision: era})
				if err != nil {
					t.Fatal(err)
				}
				p.key.Store("yesterday") // so that the person has to log in again, in the middle of a call
				if said, err := client.Call[string](t.Context(), c, "hello", nil); err != nil || said != "hello" || p.logins.Load() != 2 {
					t.Errorf("got %q, %v after %d logins", said, err, p.logins.Load())
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestALoginThatFailedIsNotTriedInTheOtherEra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &person{no: errors.New("not now")}
		_, err := enter(t, p, &client.Options{})
		if !errors.Is(err, p.no) || !errors.Is(err, peer.ErrUnauthorized) || p.logins.Load() != 1 {
			t.Errorf("got %v after %d logins", err, p.logins.Load())
		}
	})
}

func TestASilentServerIsNotWaitedForAsAPersonIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := &script{serve: func(f *fake, _ int) {
			for more := true; more; _, more = f.next() {
			}
		}}
		_, err := client.Connect(t.Context(), s, &client.Options{ConnectTimeout: 30 * time.Second, Logger: quiet})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 31*time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}
