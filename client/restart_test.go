package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/stdio"
)

func TestCallsInFlightFailAtOnceWhenTheServerDiesR020(t *testing.T) {
	both(t, func(t *testing.T, _ string, play func(*fake, func(jsonrpc.Message))) {
		synctest.Test(t, func(t *testing.T) {
			s := &script{serve: func(f *fake, n int) {
				pending := 0
				play(f, func(m jsonrpc.Message) {
					if n > 1 {
						f.reply(m, text("again"))
					} else if pending++; pending == 100 {
						_ = f.far.Close()
					}
				})
			}}
			c := connect(t, s, nil)
			start := time.Now()
			var wg sync.WaitGroup
			for range 100 {
				wg.Go(func() {
					_, err := c.CallTool(t.Context(), "x", nil, nil)
					var ours *client.LocalError
					if !errors.Is(err, peer.ErrClosed) || !errors.As(err, &ours) {
						t.Errorf("got %v", err)
					}
				})
			}
			wg.Wait()
			if took := time.Since(start); took > time.Second {
				t.Errorf("took %v", took)
			}
			if got := len(s.requests(mcp.MethodCallTool)); got != 100 {
				t.Errorf("%d calls were sent: some twice", got)
			}
			if result, err := c.CallTool(t.Context(), "x", nil, nil); err != nil || client.TextOf(result.Content) != "again" {
				t.Errorf("the next call: %v, %v", result, err)
			}
			if s.count() != 2 {
				t.Errorf("dialled %d times", s.count())
			}
		})
	})
}

func TestAChildThatDiesLeavesItsLastWordsAndIsStartedAgainR020(t *testing.T) {
	for _, era := range []string{"handshake", "stateless"} {
		t.Run(era, func(t *testing.T) {
			lost := make(chan error, 10)
			c := connect(t, stdio.Command(os.Args[0], asServer), &client.Options{Revision: era, OnLost: func(err error) { lost <- err }})
			for range 2 {
				_, err := c.CallTool(t.Context(), "die", nil, nil)
				var ours *client.LocalError
				var exit *stdio.ExitError
				if !errors.As(err, &ours) || !errors.As(err, &exit) || !strings.Contains(exit.Stderr, "farewell") {
					t.Errorf("got %v", err)
				}
				if err := <-lost; !errors.As(err, &exit) {
					t.Errorf("lost by %v", err)
				}
				if got, err := client.Call[sum](t.Context(), c, "add", pair{2, 40}); err != nil || got.Result != 42 {
					t.Errorf("the next call: %v, %v", got, err)
				}
			}
		})
	}
}

func TestAServerMayComeBackInTheOtherEraR045(t *testing.T) {
	modern, legacy := (*fake).modern, (*fake).legacy
	onlyModern := func(f *fake, handle func(jsonrpc.Message)) {
		modern(f, func(m jsonrpc.Message) {
			if m.Method == mcp.MethodInitialize {
				f.refuse(m, jsonrpc.CodeMethodNotFound, "")
				return
			}
			handle(m)
		})
	}
	for _, tc := range []struct {
		name          string
		first, second func(f *fake, handle func(jsonrpc.Message))
		stateless     bool
	}{
		{"from the handshake to the stateless era", legacy, onlyModern, true},
		{"from the stateless to the handshake era", modern, legacy, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{serve: func(f *fake, n int) {
					play := tc.first
					if n > 1 {
						play = tc.second
					}
					play(f, func(m jsonrpc.Message) {
						f.reply(m, text("done"))
						if n == 1 {
							_ = f.far.Close()
						}
					})
				}}
				c := connect(t, s, nil)
				for range 3 {
					if _, err := c.CallTool(t.Context(), "x", nil, nil); err != nil {
						t.Error(err)
					}
					synctest.Wait()
				}
				if c.Server().Stateless != tc.stateless {
					t.Errorf("took the server for %+v", c.Server())
				}
			})
		})
	}
}

func TestAnUpgradeUnderAnOpenConnectionIsFollowed(t *testing.T) {
	newest, older := revision.Newest().Name, revision.NewestHandshake().Name
	for _, tc := range []struct {
		name, supported string
		dials           int
		stateless       bool
	}{
		{"to a revision of the same era", newest, 1, true},
		{"to the other era", older, 2, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &script{serve: func(f *fake, n int) {
				if n > 1 {
					f.legacy(func(m jsonrpc.Message) { f.reply(m, text("done")) })
					return
				}
				calls := 0
				f.modern(func(m jsonrpc.Message) {
					if calls++; calls == 2 {
						f.refuse(m, mcp.CodeUnsupportedVersion, fmt.Sprintf(`{"supported":[%q],"requested":%q}`, tc.supported, newest))
						return
					}
					f.reply(m, text("done"))
				})
			}}
			c := connect(t, s, nil)
			for range 3 {
				if _, err := c.CallTool(t.Context(), "x", nil, nil); err != nil {
					t.Error(err)
				}
			}
			if s.count() != tc.dials || c.Server().Stateless != tc.stateless {
				t.Errorf("dialled %d times, took the server for %+v", s.count(), c.Server())
			}
		})
	}
}

func TestAServerThatRefusesItsOwnRevisionForEverIsNotAskedForEver(t *testing.T) {
	s := &script{serve: func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) {
			f.refuse(m, mcp.CodeUnsupportedVersion, fmt.Sprintf(`{"supported":[%q]}`, revision.Newest().Name))
		})
	}}
	c := connect(t, s, nil)
	var theirs *jsonrpc.Error
	if _, err := c.CallTool(t.Context(), "x", nil, nil); !errors.As(err, &theirs) || theirs.Code != mcp.CodeUnsupportedVersion {
		t.Errorf("got %v", err)
	}
	if got := len(s.requests(mcp.MethodCallTool)); got > 5 {
		t.Errorf("asked %d times", got)
	}
}

// lossy is a transport that refuses a message without having sent it, once.
type lossy struct {
	peer.Transport
	method string
	err    error
	once   sync.Once
}

func (l *lossy) Send(ctx context.Context, message []byte) (err error) {
	if strings.Contains(string(message), l.method) {
		l.once.Do(func() { err = l.err })
	}
	if err != nil {
		return err
	}
	return l.Transport.Send(ctx, message)
}

// lossyDialer makes the first connection lossy.
type lossyDialer struct {
	*script
	err error
}

func (d *lossyDialer) Dial(ctx context.Context) (peer.Transport, error) {
	t, err := d.script.Dial(ctx)
	if d.count() == 1 {
		t = &lossy{Transport: t, method: mcp.MethodCallTool, err: d.err}
	}
	return t, err
}

func TestOnlyARequestThatNeverLeftIsSentAgain(t *testing.T) {
	lost := errors.New("session lost")
	for _, tc := range []struct {
		name  string
		err   error
		again bool
	}{
		{"a connection that is gone", fmt.Errorf("%w: %w", peer.ErrClosed, lost), true},
		{"an error that may have come after the request was executed", lost, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			both(t, func(t *testing.T, _ string, play func(*fake, func(jsonrpc.Message))) {
				d := &lossyDialer{script: &script{serve: func(f *fake, _ int) {
					play(f, func(m jsonrpc.Message) { f.reply(m, text("done")) })
				}}, err: tc.err}
				c := connect(t, d, nil)
				_, err := c.CallTool(t.Context(), "x", nil, nil)
				var ours *client.LocalError
				if tc.again && err != nil || !tc.again && (!errors.Is(err, lost) || !errors.As(err, &ours)) {
					t.Errorf("got %v", err)
				}
				if dials := d.count(); (dials == 2) != tc.again {
					t.Errorf("dialled %d times", dials)
				}
			})
		})
	}
}

func TestAServerThatKeepsDyingIsStartedLessAndLessOftenR025(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts []time.Time
		s := &script{serve: func(f *fake, n int) {
			starts = append(starts, time.Now())
			if n == 1 {
				f.legacy(func(jsonrpc.Message) { _ = f.far.Close() })
			}
			time.Sleep(10 * time.Millisecond) // and exit
		}}
		c := connect(t, s, nil)
		start := time.Now()
		failed := 0
		for time.Since(start) < 10*time.Minute {
			if _, err := c.CallTool(t.Context(), "x", nil, nil); err == nil {
				t.Fatal("answered")
			}
			failed++
		}
		if len(starts) > 600 || failed < 10 {
			t.Errorf("%d starts and %d calls in ten minutes", len(starts), failed)
		}
		first := slices.IndexFunc(starts, func(at time.Time) bool { return at.After(start) })
		if pause := starts[first].Sub(start); pause > time.Second {
			t.Errorf("the first restart came after %v", pause)
		}
	})
}

func TestASteadyServerIsStartedAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{serve: func(f *fake, _ int) {
			f.modern(func(m jsonrpc.Message) { f.reply(m, text("done")); _ = f.far.Close() })
		}}
		lost := make(chan error, 10)
		c := connect(t, s, &client.Options{OnLost: func(err error) { lost <- err }})
		for range 5 {
			time.Sleep(time.Hour)
			start := time.Now()
			if _, err := c.CallTool(t.Context(), "x", nil, nil); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took > 0 {
				t.Errorf("took %v", took)
			}
			if err := <-lost; !errors.Is(err, io.EOF) {
				t.Errorf("lost by %v", err)
			}
		}
	})
}

func TestAMessageThatIsTooLongEndsTheConnectionR018(t *testing.T) {
	d := dialFunc(func(context.Context) (peer.Transport, error) {
		toServer, fromClient := io.Pipe()
		toClient, fromServer := io.Pipe()
		f := &fake{far: peer.Lines(toServer, fromServer, 0), script: &script{}}
		go func() { // ends with the connection
			defer func() { _ = f.far.Close() }()
			f.modern(func(m jsonrpc.Message) { f.reply(m, text(strings.Repeat("x", 5000))) })
		}()
		return peer.Lines(toClient, fromClient, 4000), nil
	})
	c := connect(t, d, nil)
	_, err := c.CallTool(t.Context(), "x", nil, nil)
	var ours *client.LocalError
	if !errors.As(err, &ours) || !strings.Contains(err.Error(), "too much at once") {
		t.Errorf("got %v", err)
	}
}

type dialFunc func(ctx context.Context) (peer.Transport, error)

func (f dialFunc) Dial(ctx context.Context) (peer.Transport, error) { return f(ctx) }

func TestCallersWaitForOneDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{serve: func(f *fake, _ int) {
			time.Sleep(2 * time.Second)
			f.modern(func(m jsonrpc.Message) { f.reply(m, text("done")) })
		}}
		c, err := client.New(s, &client.Options{Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%2+1)*1500*time.Millisecond)
				defer cancel()
				_, err := c.CallTool(ctx, "x", nil, nil)
				if i%2 == 1 && err != nil || i%2 == 0 && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("caller %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if s.count() != 1 {
			t.Errorf("dialled %d times", s.count())
		}
	})
}
