package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// wantTimeout checks that a call ended by a limit of ours, and that the server
// was told.
func wantTimeout(t *testing.T, s *script, err error, inAll bool) {
	t.Helper()
	var ours *client.LocalError
	var theirs *jsonrpc.Error
	var late *client.TimeoutError
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &ours) || errors.As(err, &theirs) || !errors.As(err, &late) || late.InAll != inAll {
		t.Errorf("got %v", err)
	}
	synctest.Wait()
	calls, cancelled := s.requests(mcp.MethodCallTool), s.requests(mcp.NotificationCancelled)
	if len(cancelled) == 0 {
		t.Error("the server was not told")
		return
	}
	last := cancelled[len(cancelled)-1]
	if got, want := string(jsonscan.Get(last.Params, "requestId")), calls[len(calls)-1].ID.String(); got != want {
		t.Errorf("cancelled %s, want %s", got, want)
	}
	if reason := string(jsonscan.Get(last.Params, "reason")); !strings.Contains(reason, "no answer within") {
		t.Errorf("the reason was %s", reason)
	}
}

func TestACallThatIsNotAnsweredIsCancelled(t *testing.T) {
	both(t, func(t *testing.T, _ string, play func(*fake, func(jsonrpc.Message))) {
		synctest.Test(t, func(t *testing.T) {
			s := &script{serve: func(f *fake, _ int) { play(f, func(jsonrpc.Message) {}) }}
			c := connect(t, s, &client.Options{Timeout: 3 * time.Second})
			for _, tc := range []struct {
				name string
				opts *client.CallOptions
				want time.Duration
				all  bool
			}{
				{"by the client's limit", nil, 3 * time.Second, false},
				{"by its own limit", &client.CallOptions{Timeout: 9 * time.Second}, 9 * time.Second, false},
				{"by the upper limit, if that is the smaller", &client.CallOptions{Timeout: time.Minute, MaxTimeout: 5 * time.Second}, 5 * time.Second, true},
				{"by the upper limit alone", &client.CallOptions{Timeout: -1, MaxTimeout: 5 * time.Second}, 5 * time.Second, true},
				{"by its own limit alone", &client.CallOptions{Timeout: 2 * time.Second, MaxTimeout: -1}, 2 * time.Second, false},
			} {
				start := time.Now()
				_, err := c.CallTool(t.Context(), "x", nil, tc.opts)
				if took := time.Since(start); took != tc.want {
					t.Errorf("%s: took %v, want %v", tc.name, took, tc.want)
				}
				wantTimeout(t, s, err, tc.all)
			}
		})
	})
}

func TestACallerMayGiveUp(t *testing.T) {
	both(t, func(t *testing.T, _ string, play func(*fake, func(jsonrpc.Message))) {
		synctest.Test(t, func(t *testing.T) {
			s := &script{serve: func(f *fake, _ int) { play(f, func(jsonrpc.Message) {}) }}
			c := connect(t, s, &client.Options{Timeout: -1, MaxTimeout: -1})
			ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
			defer cancel()
			_, err := c.CallTool(ctx, "x", nil, nil)
			var ours *client.LocalError
			var late *client.TimeoutError
			if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &ours) || errors.As(err, &late) {
				t.Errorf("got %v", err)
			}
			synctest.Wait()
			if len(s.requests(mcp.NotificationCancelled)) != 1 {
				t.Error("the server was not told")
			}
		})
	})
}

func TestProgressMovesTheLimitButNotTheUpperOne(t *testing.T) {
	both(t, func(t *testing.T, _ string, play func(*fake, func(jsonrpc.Message))) {
		synctest.Test(t, func(t *testing.T) {
			steps := 0 // that the server makes, one each two seconds
			s := &script{serve: func(f *fake, _ int) {
				play(f, func(m jsonrpc.Message) {
					if m.Method != mcp.MethodCallTool {
						return
					}
					token := string(jsonscan.Get(jsonscan.Get(m.Params, "_meta"), "progressToken"))
					n := steps
					go func() { // ends with the last step
						for i := range n {
							time.Sleep(2 * time.Second)
							f.say(`{"jsonrpc":"2.0","method":%q,"params":{"progressToken":%s,"progress":%d}}`, mcp.NotificationProgress, token, i+1)
						}
						if n < 10 {
							f.reply(m, text("done"))
						}
					}()
				})
			}}
			c := connect(t, s, nil)
			heard := 0
			opts := &client.CallOptions{Timeout: 3 * time.Second, MaxTimeout: 15 * time.Second, OnProgress: func(*mcp.ProgressParams) { heard++ }}
			steps = 5
			start := time.Now()
			if _, err := c.CallTool(t.Context(), "x", nil, opts); err != nil || time.Since(start) != 10*time.Second || heard != 5 {
				t.Errorf("a call that makes progress: %v after %v, heard %d", err, time.Since(start), heard)
			}
			steps, start = 100, time.Now()
			_, err := c.CallTool(t.Context(), "x", nil, opts)
			if time.Since(start) != 15*time.Second {
				t.Errorf("took %v", time.Since(start))
			}
			wantTimeout(t, s, err, true)
			heard = 0
			time.Sleep(10 * time.Minute)
			if heard > 0 {
				t.Errorf("progress was heard %d times after the call", heard)
			}
		})
	})
}

func TestTheLimitStandsStillWhileTheServerWaitsForTheUser(t *testing.T) {
	both(t, func(t *testing.T, era string, play func(*fake, func(jsonrpc.Message))) {
		synctest.Test(t, func(t *testing.T) {
			s := &script{serve: func(f *fake, _ int) {
				var call jsonrpc.Message
				play(f, func(m jsonrpc.Message) {
					switch {
					case m.IsResponse(): // to the question
						time.Sleep(2500 * time.Millisecond) // and then it takes its time
						f.reply(call, text("done"))
					case era == "handshake":
						call = m
						f.say(`{"jsonrpc":"2.0","id":"ask","method":%q,"params":%s}`, mcp.MethodElicit, plainForm)
					case jsonscan.Get(m.Params, "inputResponses") == nil:
						f.reply(m, asks(mcp.MethodElicit, plainForm, ""))
					default:
						f.reply(m, text("done"))
					}
				})
			}}
			opts := &client.Options{Timeout: 3 * time.Second, Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				time.Sleep(5*time.Minute + time.Second)
				return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
			}}
			c := connect(t, s, opts)
			if _, err := c.CallTool(t.Context(), "x", nil, nil); err != nil {
				t.Error(err)
			}
		})
	})
}

func TestLateAnswersAreDropped(t *testing.T) {
	both(t, func(t *testing.T, _ string, play func(*fake, func(jsonrpc.Message))) {
		synctest.Test(t, func(t *testing.T) {
			var waiting []jsonrpc.Message
			s := &script{serve: func(f *fake, _ int) {
				play(f, func(m jsonrpc.Message) {
					switch {
					case m.Method == mcp.NotificationCancelled:
					case string(jsonscan.Get(m.Params, "name")) == `"late"`:
						waiting = append(waiting, m)
					default:
						for _, old := range waiting {
							f.reply(old, text("late"))
						}
						f.reply(m, text("in time"))
						f.reply(m, text("twice"))
						f.say(`{"jsonrpc":"2.0","id":12345,"result":{}}`)
					}
				})
			}}
			c := connect(t, s, &client.Options{Timeout: time.Second})
			for range 3 {
				if _, err := c.CallTool(t.Context(), "late", nil, nil); err == nil {
					t.Error("answered")
				}
				result, err := c.CallTool(t.Context(), "now", nil, nil)
				if err != nil || client.TextOf(result.Content) != "in time" {
					t.Errorf("got %v, %v", result, err)
				}
			}
		})
	})
}

func TestASlowCallbackKeepsTheLatestProgress(t *testing.T) {
	s := &script{serve: func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) {
			token := string(jsonscan.Get(jsonscan.Get(m.Params, "_meta"), "progressToken"))
			for _, bad := range []string{`"x"`, `[1]`, `999`, `1e3`, `null`} {
				f.say(`{"jsonrpc":"2.0","method":%q,"params":{"progressToken":%s,"progress":1}}`, mcp.NotificationProgress, bad)
			}
			f.say(`{"jsonrpc":"2.0","method":%q,"params":{"progressToken":%s,"progress":"much"}}`, mcp.NotificationProgress, token)
			for i := range 1000 {
				f.say(`{"jsonrpc":"2.0","method":%q,"params":{"progressToken":%s,"progress":%d}}`, mcp.NotificationProgress, token, i+1)
			}
			f.reply(m, text("done"))
		})
	}}
	c := connect(t, s, nil)
	var last float64
	_, err := c.CallTool(t.Context(), "x", nil, &client.CallOptions{OnProgress: func(p *mcp.ProgressParams) {
		if p.Progress <= last {
			t.Errorf("%v after %v", p.Progress, last)
		}
		last = p.Progress
	}})
	if err != nil || last != 1000 {
		t.Errorf("the last was %v, %v", last, err)
	}
}

func TestMetaTravelsAndIsChecked(t *testing.T) {
	both(t, func(t *testing.T, _ string, play func(*fake, func(jsonrpc.Message))) {
		s := &script{serve: func(f *fake, _ int) { play(f, func(m jsonrpc.Message) { f.reply(m, text("done")) }) }}
		c := connect(t, s, nil)
		if _, err := c.CallTool(t.Context(), "x", nil, &client.CallOptions{Meta: mcp.Meta(`{"traceparent":"00-1"}`)}); err != nil {
			t.Error(err)
		}
		if got := string(jsonscan.Get(jsonscan.Get(s.requests(mcp.MethodCallTool)[0].Params, "_meta"), "traceparent")); got != `"00-1"` {
			t.Errorf("sent %s", got)
		}
		for _, bad := range []string{`{`, `[]`, `{"a":1,"a":2}`} {
			var ours *client.LocalError
			if _, err := c.CallTool(t.Context(), "x", nil, &client.CallOptions{Meta: mcp.Meta(bad)}); !errors.As(err, &ours) {
				t.Errorf("%s: %v", bad, err)
			}
			if err := c.Do(t.Context(), "x", jsontext.Value(bad), nil, nil); !errors.As(err, &ours) {
				t.Errorf("%s: %v", bad, err)
			}
		}
	})
}
