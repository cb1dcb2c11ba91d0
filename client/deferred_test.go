package client_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/deferred"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// newLater is a server whose tools answer later: add after ten seconds, the
// others as their names say.
func newLater(t *testing.T) *server.Server {
	s := server.New("later", "1.0.0", nil)
	d := deferred.New(s, &deferred.Options{Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = d.Close(ended)
	})
	s.AddTool(mcp.Tool{Name: "add"}, d.Required(server.CallFunc(func(ctx context.Context, c *mcp.Call, in pair) (sum, error) {
		for i := range 2 {
			if err := c.Progress(ctx, float64(i), 2, "adding"); err != nil {
				return sum{}, err
			}
			time.Sleep(5 * time.Second)
		}
		return sum{in.A + in.B}, nil
	})))
	s.AddTool(mcp.Tool{Name: "ask"}, d.Required(server.CallFunc(askEverything)))
	s.AddTool(mcp.Tool{Name: "wait"}, d.Required(server.Func(func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})))
	s.AddTool(mcp.Tool{Name: "fail"}, d.Required(server.Func(func(context.Context, struct{}) (string, error) { return "", errors.New("out of luck") })))
	s.AddTool(mcp.Tool{Name: "break"}, d.Required(server.Func(func(context.Context, struct{}) (string, error) {
		return "", &jsonrpc.Error{Code: -31000, Message: "broken"}
	})))
	return s
}

func TestCallsWaitForResultsThatComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, &inMemory{handler: newLater(t)}, nil)
		if _, err := client.Collect(c.Tools(t.Context())); err != nil { // for the output schema
			t.Fatal(err)
		}
		var states, said []string
		start := time.Now()
		result, err := c.CallTool(t.Context(), "add", pair{1, 2}, &client.CallOptions{
			OnDeferred: func(d *mcp.Deferred) { states = append(states, string(d.Status)+" "+d.StatusMessage) },
			OnProgress: func(p *mcp.ProgressParams) { said = append(said, fmt.Sprintf("%g %s", p.Progress, p.Message)) },
		})
		if err != nil || string(result.StructuredContent) != `{"result":3}` {
			t.Fatalf("got %+v, %v", result, err)
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("the call took %v, the work 10s: the server tells when it is done", took)
		}
		if want := []string{"working ", "working adding (0 of 2)", "working adding (1 of 2)", "completed "}; !slices.Equal(states, want) {
			t.Errorf("the states were %q, want %q", states, want)
		}
		if want := []string{"1 adding (0 of 2)", "2 adding (1 of 2)"}; !slices.Equal(said, want) {
			t.Errorf("progress was %q, want %q", said, want)
		}
		out, err := client.Call[sum](t.Context(), c, "add", pair{3, 4})
		if err != nil || out.Result != 7 {
			t.Errorf("got %v, %v", out, err)
		}
		if result, err := c.CallTool(t.Context(), "fail", nil, nil); err != nil || !result.IsError || client.TextOf(result.Content) != "out of luck" {
			t.Errorf("a tool that fails: %+v, %v", result, err)
		}
		_, err = c.CallTool(t.Context(), "break", nil, nil)
		if wire, ok := errors.AsType[*jsonrpc.Error](err); !ok || wire.Code != -31000 || wire.Message != "broken" {
			t.Errorf("an error of the protocol: %v", err)
		}
	})
}

func TestQuestionsOfWorkThatRunsAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := willing()
		asked := 0
		opts.Elicit = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			asked++
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: jsontext.Value(`{"name":"Ann"}`)}, nil
		}
		opts.Sample = func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Content: mcp.Contents{mcp.Text("hello")}, Model: "m"}, nil
		}
		opts.Roots = func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:///a"}}, nil }
		c := connect(t, &inMemory{handler: newLater(t)}, opts)
		result, err := c.CallTool(t.Context(), "ask", nil, nil)
		if err != nil || result.IsError || !strings.Contains(client.TextOf(result.Content), "Ann") || asked != 1 {
			t.Errorf("got %+v, %v; asked %d times", result, err, asked)
		}
	})
}

func TestACallThatIsGivenUpTellsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLater(t)
		c := connect(t, &inMemory{handler: s}, nil)
		for _, leave := range []bool{false, true} {
			var id string
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			_, err := c.CallTool(ctx, "wait", nil, &client.CallOptions{Leave: leave, OnDeferred: func(d *mcp.Deferred) { id = d.ID }})
			if local, ok := errors.AsType[*client.LocalError](err); !ok || !errors.Is(local, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			var state mcp.Deferred
			if err := c.Do(t.Context(), mcp.MethodGetDeferred, &mcp.DeferredParams{ID: id}, &state, nil); err != nil {
				t.Fatal(err)
			}
			if (state.Status == mcp.DeferredWorking) != leave {
				t.Errorf("left: %v; the state is %s", leave, state.Status)
			}
		}
	})
}

func TestAnotherClientFetchesAResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLater(t)
		first := connect(t, &inMemory{handler: s}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var id string
		_, err := first.CallTool(ctx, "add", pair{1, 2}, &client.CallOptions{Leave: true, OnDeferred: func(d *mcp.Deferred) {
			id = d.ID
			cancel()
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		second := connect(t, &inMemory{handler: s}, nil)
		result, err := second.Await(t.Context(), id, nil)
		if err != nil || string(result.StructuredContent) != `{"result":3}` {
			t.Errorf("got %+v, %v", result, err)
		}
		if _, err := second.Await(t.Context(), "nobody", nil); err == nil || !strings.Contains(err.Error(), "Task not found") {
			t.Errorf("an id that nobody has: %v", err)
		}
	})
}

func TestSubscriptionsBringStatesOfDeferredResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLater(t)
		c := connect(t, &inMemory{handler: s}, nil)
		var id string
		ctx, cancel := context.WithCancel(t.Context())
		_, _ = c.CallTool(ctx, "add", pair{1, 2}, &client.CallOptions{Leave: true, OnDeferred: func(d *mcp.Deferred) { id = d.ID; cancel() }})
		var states []string
		sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{TaskIDs: []string{id, "nobody"}}, func(e mcp.Event) {
			states = append(states, string(e.Deferred.Status)+" "+string(e.Deferred.Result))
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		sub.Close()
		synctest.Wait()
		if got := sub.Filter().TaskIDs; !slices.Equal(got, []string{id}) {
			t.Errorf("the server agreed to %v", got)
		}
		if len(states) < 2 || !strings.HasPrefix(states[0], "working") || !strings.Contains(states[len(states)-1], `{"result":3}`) {
			t.Errorf("heard %q", states)
		}
	})
}

func TestTheUpperLimitCountsForResultsThatComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, &inMemory{handler: newLater(t)}, nil)
		start := time.Now()
		_, err := c.CallTool(t.Context(), "wait", nil, &client.CallOptions{Timeout: 2 * time.Second, MaxTimeout: time.Minute})
		late, ok := errors.AsType[*client.TimeoutError](err)
		if !ok || !late.InAll || time.Since(start) > 61*time.Second || time.Since(start) < 59*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// handle is a handle, or a state, of the result "A", with more members.
func handle(kind, status, more string) string {
	return fmt.Sprintf(`{"resultType":%q,"taskId":"A","status":%q,"createdAt":"2025-01-01T00:00:00Z","lastUpdatedAt":"2025-01-01T00:00:00Z","ttlMs":null%s}`, kind, status, more)
}

// laterScript is a server that answers calls with a handle, and looks with what
// state returns, n counted from 1.
func laterScript(first string, state func(n int) string) *script {
	var looks atomic.Int32
	return &script{serve: func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) {
			switch m.Method {
			case mcp.MethodCallTool:
				f.reply(m, first)
			case mcp.MethodGetDeferred:
				f.reply(m, state(int(looks.Add(1))))
			case mcp.MethodSubscriptionsListen:
				f.refuse(m, jsonrpc.CodeMethodNotFound, "")
			default:
				f.reply(m, `{"resultType":"complete"}`)
			}
		})
	}}
}

func TestServersAreAskedAsOftenAsTheyLike(t *testing.T) {
	for _, tt := range []struct {
		name, poll string
		looks      int // within a minute
	}{
		{"a server that says nothing", "", 60},
		{"every five seconds", `,"pollIntervalMs":5000`, 12},
		{"as often as can be", `,"pollIntervalMs":1`, 1200},
		{"below nought", `,"pollIntervalMs":-1`, 60},
		{"hardly ever", `,"pollIntervalMs":9223372036854775807`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := laterScript(handle("task", "working", tt.poll), func(int) string { return handle("complete", "working", tt.poll) })
				c := connect(t, s, nil)
				_, err := c.CallTool(t.Context(), "x", nil, &client.CallOptions{MaxTimeout: time.Minute + time.Millisecond})
				if err == nil {
					t.Fatal("there was a result")
				}
				if got := len(s.requests(mcp.MethodGetDeferred)); got < tt.looks-1 || got > tt.looks {
					t.Errorf("the server was asked %d times, want %d", got, tt.looks)
				}
				if got := len(s.requests(mcp.MethodCancelDeferred)); got != 1 {
					t.Errorf("the result was given up %d times", got)
				}
			})
		})
	}
}

func TestStatesThatTheServerTellsAreTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{serve: func(f *fake, _ int) {
			f.modern(func(m jsonrpc.Message) {
				switch m.Method {
				case mcp.MethodCallTool:
					f.reply(m, handle("task", "working", `,"pollIntervalMs":60000`))
				case mcp.MethodSubscriptionsListen:
					mark := fmt.Sprintf(`"_meta":{%q:%s}`, mcp.MetaSubscriptionID, m.ID)
					f.say(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{%s,"notifications":{"taskIds":["A"]}}}`, mark)
					for _, state := range []string{
						strings.Replace(handle("", "completed", `,"result":`+text("another's")), `"A"`, `"B"`, 1),
						handle("", "completed", `,"result":7`),
						handle("", "completed", `,"result":`+text("done")),
					} {
						f.say(`{"jsonrpc":"2.0","method":"notifications/tasks","params":{%s,%s}`, mark, state[1:])
					}
				}
			})
		}}
		result, err := connect(t, s, nil).CallTool(t.Context(), "x", nil, nil)
		if err != nil || client.TextOf(result.Content) != "done" || len(s.requests(mcp.MethodGetDeferred)) > 0 {
			t.Errorf("got %+v, %v", result, err)
		}
	})
}

func TestAQuestionIsAnsweredOnceHoweverOftenItIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		question := `,"inputRequests":{"q":{"method":"elicitation/create","params":` + plainForm + `}}`
		s := laterScript(handle("task", "working", ""), func(n int) string {
			if n < 5 {
				return handle("complete", "input_required", question)
			}
			return handle("complete", "completed", `,"result":`+text("done"))
		})
		opts := willing()
		asked := 0
		opts.Elicit = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			asked++
			return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
		}
		if result, err := connect(t, s, opts).CallTool(t.Context(), "x", nil, nil); err != nil || client.TextOf(result.Content) != "done" {
			t.Errorf("got %+v, %v", result, err)
		}
		updates := s.requests(mcp.MethodUpdateDeferred)
		if asked != 1 || len(updates) != 1 {
			t.Fatalf("asked %d times, answered %d times", asked, len(updates))
		}
		if got := string(jsonscan.Get(updates[0].Params, "inputResponses")); got != `{"q":{"action":"accept","content":{"a":7}}}` || string(jsonscan.Get(updates[0].Params, "taskId")) != `"A"` {
			t.Errorf("the answer is %s", updates[0].Params)
		}
	})
}

func TestAResultIsFetchedThroughLostConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		s.serve = func(f *fake, n int) {
			f.modern(func(m jsonrpc.Message) {
				switch {
				case m.Method == mcp.MethodCallTool:
					f.reply(m, handle("task", "working", ""))
				case n < 4:
					_ = f.far.Close()
				case n == 4 && len(s.requests(mcp.MethodGetDeferred)) < 6:
					f.refuse(m, jsonrpc.CodeInternalError, "")
				default:
					f.reply(m, handle("complete", "completed", `,"result":`+text("done")))
				}
			})
		}
		result, err := connect(t, s, nil).CallTool(t.Context(), "x", nil, nil)
		if err != nil || client.TextOf(result.Content) != "done" {
			t.Errorf("got %+v, %v", result, err)
		}
	})
}

func TestStatesThatMakeNoSenseAreLocalErrors(t *testing.T) {
	working := handle("task", "working", "")
	for _, tt := range []struct{ name, first, state, want string }{
		{"another result", working, strings.Replace(handle("complete", "working", ""), `"A"`, `"B"`, 1), "another deferred result"},
		{"an unknown status", working, handle("complete", "paused", ""), "unknown status"},
		{"an unknown status at once", handle("task", "paused", ""), "", "unknown status"},
		{"no id", strings.Replace(working, `"A"`, `""`, 1), "", "no id"},
		{"no result", working, handle("complete", "completed", ""), "no object"},
		{"a result that is none", working, handle("complete", "completed", `,"result":7`), "no object"},
		{"no error", working, handle("complete", "failed", ""), "without an error"},
		{"given up by the server", working, handle("complete", "cancelled", `,"statusMessage":"enough"`), "cancelled: enough"},
		{"a question in place of a state", working, `{"resultType":"input_required","requestState":"x"}`, "may not here"},
		{"a question of another kind", working, handle("complete", "input_required", `,"inputRequests":{"q":{"method":"x/y"}}`), "Method not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := laterScript(tt.first, func(int) string { return tt.state })
				_, err := connect(t, s, willing()).CallTool(t.Context(), "x", nil, nil)
				if _, ok := errors.AsType[*client.LocalError](err); !ok || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want it to say %q", err, tt.want)
				}
			})
		})
	}
	t.Run("questions without end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := laterScript(working, func(n int) string {
				return handle("complete", "input_required", fmt.Sprintf(`,"inputRequests":{"q%d":{"method":"roots/list"}}`, n))
			})
			_, err := connect(t, s, willing()).CallTool(t.Context(), "x", nil, nil)
			if err == nil || !strings.Contains(err.Error(), "never answered") || len(s.requests(mcp.MethodCancelDeferred)) != 1 {
				t.Errorf("got %v", err)
			}
		})
	})
}

func TestHandlesWhereTheyMayNotBe(t *testing.T) {
	s := &script{serve: func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) { f.reply(m, handle("task", "working", "")) })
	}}
	c := connect(t, s, nil)
	for name, call := range calls(t.Context(), c) {
		if name == "call" {
			continue
		}
		if _, ok := errors.AsType[*client.LocalError](call()); !ok {
			t.Errorf("%s: got %v", name, call())
		}
	}
	plain := connect(t, s, &client.Options{NoDeferred: true})
	if _, err := plain.CallTool(t.Context(), "x", nil, nil); err == nil || !strings.Contains(err.Error(), "may not here") {
		t.Errorf("a client that cannot wait: %v", err)
	}
}

func TestTheExtensionIsDeclaredWhereItExists(t *testing.T) {
	both(t, func(t *testing.T, era string, play func(*fake, func(jsonrpc.Message))) {
		for _, no := range []bool{false, true} {
			s := &script{serve: func(f *fake, _ int) { play(f, func(m jsonrpc.Message) { f.reply(m, text("fine")) }) }}
			given := map[string]jsontext.Value{"com.example/x": jsontext.Value("{}")}
			c := connect(t, s, &client.Options{NoDeferred: no, Capabilities: mcp.ClientCapabilities{Extensions: given}})
			if _, err := c.CallTool(t.Context(), "x", nil, nil); err != nil {
				t.Fatal(err)
			}
			method, want := mcp.MethodCallTool, !no
			if era == "handshake" {
				method, want = mcp.MethodInitialize, false
			}
			if got := strings.Contains(string(s.requests(method)[0].Params), mcp.ExtensionDeferred); got != want {
				t.Errorf("declared: %v, want %v", got, want)
			}
			if len(given) != 1 {
				t.Errorf("the caller's map became %v", given)
			}
		}
	})
}
