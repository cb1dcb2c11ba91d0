package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/server"
)

// ear collects events.
type ear chan mcp.Event

func (e ear) hear(event mcp.Event) { e <- event }

func (e ear) want(t *testing.T, events ...mcp.Event) {
	t.Helper()
	for _, want := range events {
		select {
		case got := <-e:
			if got != want {
				t.Errorf("heard %v, want %v", got, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("heard nothing, want %v", want)
		}
	}
}

var (
	toolsChanged = mcp.Event{Method: mcp.NotificationToolsListChanged}
	noteUpdated  = mcp.Event{Method: mcp.NotificationResourceUpdated, URI: "note://1"}
)

func addTool(s *server.Server, name string) {
	server.Tool(s, name, "New", func(context.Context, struct{}) (string, error) { return "", nil })
}

func TestChangesAreHeardInEachRevision(t *testing.T) {
	eachRevision(t, func(t *testing.T, rev *revision.Revision) {
		s := newEverything()
		var byOptions atomic.Int32
		c := connect(t, &inMemory{handler: s}, &client.Options{
			Revision: rev.Name, OnToolsChanged: func() { byOptions.Add(1) }, OnResourceUpdated: func(string) { byOptions.Add(10) },
		})
		tools, notes, all := make(ear, 10), make(ear, 10), make(ear, 10)
		listen := func(f mcp.SubscriptionFilter, e ear) *client.Subscription {
			sub, err := c.Listen(t.Context(), f, e.hear)
			if err != nil {
				t.Fatal(err)
			}
			return sub
		}
		first := listen(mcp.SubscriptionFilter{ToolsListChanged: true}, tools)
		listen(mcp.SubscriptionFilter{ResourceSubscriptions: []string{"note://1"}}, notes)
		last := listen(mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"note://1"}}, all)
		if f := last.Filter(); !f.ToolsListChanged || !slices.Equal(f.ResourceSubscriptions, []string{"note://1"}) || f.PromptsListChanged {
			t.Errorf("agreed on %+v", f)
		}
		addTool(s, "new")
		tools.want(t, toolsChanged)
		all.want(t, toolsChanged)
		s.ResourceUpdated("note://1")
		s.ResourceUpdated("note://2") // nobody's
		notes.want(t, noteUpdated)
		all.want(t, noteUpdated)

		first.Close()
		last.Close()
		if first.Err() != nil {
			t.Error(first.Err())
		}
		addTool(s, "newer")
		s.ResourceUpdated("note://1")
		notes.want(t, noteUpdated)
		if len(tools) > 0 || len(all) > 0 {
			t.Error("a closed subscription heard something")
		}
		if byOptions.Load() < 12 {
			t.Errorf("the functions of Options heard too little: %d", byOptions.Load())
		}
	})
}

func TestSubscriptionsOutliveAServer(t *testing.T) {
	for _, era := range []string{"handshake", "stateless"} {
		t.Run(era, func(t *testing.T) {
			s := newEverything()
			d := &inMemory{handler: s}
			c := connect(t, d, &client.Options{Revision: era})
			heard := make(ear, 10)
			sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"note://1"}}, heard.hear)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				d.crash()
				heard.want(t, toolsChanged, noteUpdated) // nobody knows what was missed
				s.ResourceUpdated("note://1")
				heard.want(t, noteUpdated)
			}
			if d.count() != 3 || sub.Err() != nil {
				t.Errorf("dialled %d times, %v", d.count(), sub.Err())
			}
		})
	}
}

// subscribing plays a server of the stateless era that acknowledges what it is
// asked for.
func subscribing(f *fake, then func(m jsonrpc.Message)) {
	f.modern(func(m jsonrpc.Message) {
		if m.Method == mcp.MethodSubscriptionsListen {
			f.say(`{"jsonrpc":"2.0","method":%q,"params":{"_meta":{%q:%s},"notifications":%s}}`,
				mcp.NotificationSubscriptionsAcknowledged, mcp.MetaSubscriptionID, m.ID, jsonscan.Get(m.Params, "notifications"))
		}
		then(m)
	})
}

func TestASubscriptionThatTheServerEndsIsOpenedAgain(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(f *fake, m jsonrpc.Message)
	}{
		{"in good order", func(f *fake, m jsonrpc.Message) { f.reply(m, `{"resultType":"complete"}`) }},
		{"by a cancellation", func(f *fake, m jsonrpc.Message) {
			f.say(`{"jsonrpc":"2.0","method":%q,"params":{"requestId":%s}}`, mcp.NotificationCancelled, m.ID)
		}},
		{"with an error that may pass", func(f *fake, m jsonrpc.Message) { f.refuse(m, jsonrpc.CodeInternalError, "") }},
		{"by a death", func(f *fake, _ jsonrpc.Message) { _ = f.far.Close() }},
		{"for a version", func(f *fake, m jsonrpc.Message) {
			f.refuse(m, mcp.CodeUnsupportedVersion, fmt.Sprintf(`{"supported":[%q]}`, revision.Newest().Name))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				times := 0
				s := &script{serve: func(f *fake, _ int) {
					subscribing(f, func(m jsonrpc.Message) {
						if m.Method != mcp.MethodSubscriptionsListen {
							return
						}
						if times++; times < 4 {
							tc.end(f, m)
						}
					})
				}}
				c := connect(t, s, nil)
				heard := make(ear, 100)
				sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, heard.hear)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				if got := len(s.requests(mcp.MethodSubscriptionsListen)); got != 4 || sub.Err() != nil || len(heard) == 0 {
					t.Errorf("asked %d times, heard %d times, %v", got, len(heard), sub.Err())
				}
			})
		})
	}
}

func TestASubscriptionEndsWhenTheServerWantsNoMoreOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{serve: func(f *fake, n int) {
			if n > 1 { // an older one, that does not tell of resources
				f.legacy(func(m jsonrpc.Message) { f.refuse(m, jsonrpc.CodeMethodNotFound, "") })
				return
			}
			subscribing(f, func(jsonrpc.Message) { _ = f.far.Close() })
		}}
		c := connect(t, s, nil)
		sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		<-sub.Done()
		var theirs *jsonrpc.Error
		if !errors.As(sub.Err(), &theirs) {
			t.Errorf("got %v", sub.Err())
		}
		sub.Close() // is no harm
	})
}

func TestASubscriptionThatIsRefusedFails(t *testing.T) {
	both(t, func(t *testing.T, era string, play func(*fake, func(jsonrpc.Message))) {
		s := &script{serve: func(f *fake, _ int) {
			play(f, func(m jsonrpc.Message) { f.refuse(m, jsonrpc.CodeMethodNotFound, "") })
		}}
		c := connect(t, s, nil)
		var theirs *jsonrpc.Error
		if _, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x"}}, nil); !errors.As(err, &theirs) {
			t.Errorf("got %v", err)
		}
		var ours *client.LocalError
		if _, err := c.Listen(t.Context(), mcp.SubscriptionFilter{}, nil); !errors.As(err, &ours) {
			t.Errorf("an empty filter: %v", err)
		}
	})
}

func TestAServerThatNeverAgreesIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{serve: func(f *fake, _ int) { f.modern(func(jsonrpc.Message) {}) }}
		c := connect(t, s, &client.Options{Timeout: 3 * time.Second})
		start := time.Now()
		_, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		synctest.Wait()
		if len(s.requests(mcp.NotificationCancelled)) != 1 {
			t.Error("the server was not told")
		}
		// Nor by Connect, which listens for the functions of Options.
		start = time.Now()
		connect(t, s, &client.Options{OnToolsChanged: func() {}})
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestEventsReachOnlyTheirSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f *fake
		s := &script{serve: func(g *fake, _ int) {
			f = g
			subscribing(g, func(jsonrpc.Message) {})
		}}
		c := connect(t, s, nil)
		a, b := make(ear, 10), make(ear, 10)
		for _, e := range []ear{a, b} {
			if _, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, e.hear); err != nil {
				t.Fatal(err)
			}
		}
		asked := s.requests(mcp.MethodSubscriptionsListen)
		first, second := asked[0].ID.String(), asked[1].ID.String()
		say := func(method, id string) {
			f.say(`{"jsonrpc":"2.0","method":%q,"params":{"_meta":{%q:%s},"uri":"x"}}`, method, mcp.MetaSubscriptionID, id)
			synctest.Wait()
		}
		say(mcp.NotificationToolsListChanged, first)
		say(mcp.NotificationToolsListChanged, `"stranger"`)
		say(mcp.NotificationToolsListChanged, `null`)
		say(mcp.NotificationPromptsListChanged, second) // not asked for
		say(mcp.NotificationResourceUpdated, second)
		f.say(`{"jsonrpc":"2.0","method":%q}`, mcp.NotificationToolsListChanged)
		synctest.Wait()
		if len(a) != 1 || len(b) != 0 {
			t.Errorf("heard %d and %d", len(a), len(b))
		}
	})
}

func TestASubscriptionEndsWithItsContextAndTheServerIsTold(t *testing.T) {
	both(t, func(t *testing.T, era string, _ func(*fake, func(jsonrpc.Message))) {
		synctest.Test(t, func(t *testing.T) {
			s := &script{serve: func(f *fake, _ int) {
				if era == "stateless" {
					subscribing(f, func(jsonrpc.Message) {})
				} else {
					f.legacy(func(m jsonrpc.Message) { f.reply(m, `{}`) })
				}
			}}
			c := connect(t, s, nil)
			ctx, cancel := context.WithCancel(t.Context())
			sub, err := c.Listen(ctx, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			other, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x", "y"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			told := func() int {
				synctest.Wait()
				return len(s.requests(mcp.NotificationCancelled)) + len(s.requests(mcp.MethodUnsubscribe))
			}
			cancel()
			<-sub.Done()
			want := 1
			if era == "handshake" {
				want = 0 // the other still wants it
			}
			if told() != want || sub.Err() != nil {
				t.Errorf("the server was told %d times, %v", told(), sub.Err())
			}
			other.Close()
			if told() != 2 {
				t.Errorf("the server was told %d times", told())
			}
		})
	})
}

func TestNotificationsOutsideTheProtocolAreHeard(t *testing.T) {
	both(t, func(t *testing.T, _ string, play func(*fake, func(jsonrpc.Message))) {
		s := &script{serve: func(f *fake, _ int) {
			play(f, func(m jsonrpc.Message) {
				f.say(`{"jsonrpc":"2.0","method":"x/y","params":{"a":1}}`)
				f.say(`{"jsonrpc":"2.0","method":%q,"params":{"level":"error","data":7}}`, mcp.NotificationMessage)
				f.say(`{"jsonrpc":"2.0","method":%q,"params":{"level":7}}`, mcp.NotificationMessage)
				f.reply(m, text("done"))
			})
		}}
		heard := make(chan string, 10)
		c := connect(t, s, &client.Options{
			OnNotification: func(method string, params jsontextValue) {
				heard <- method + string(params)
				panic("a callback that fails")
			},
			OnLog: func(p *mcp.LoggingMessageParams) { heard <- string(p.Level) },
		})
		if _, err := c.CallTool(t.Context(), "x", nil, nil); err != nil {
			t.Fatal(err)
		}
		if a, b := <-heard, <-heard; a != `x/y{"a":1}` || b != "error" {
			t.Errorf("heard %s and %s", a, b)
		}
	})
}

func TestAFloodOfNotificationsIsDropped(t *testing.T) {
	s := &script{serve: func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) {
			for range 3000 {
				f.say(`{"jsonrpc":"2.0","method":"x/y"}`)
			}
			f.reply(m, text("done"))
		})
	}}
	var heard atomic.Int32
	open := make(chan struct{})
	c := connect(t, s, &client.Options{OnNotification: func(string, jsontextValue) { <-open; heard.Add(1) }})
	if _, err := c.CallTool(t.Context(), "x", nil, nil); err != nil {
		t.Fatal(err)
	}
	close(open)
	_ = c.Close()
	if n := heard.Load(); n > 1001 {
		t.Errorf("heard %d", n)
	}
}
