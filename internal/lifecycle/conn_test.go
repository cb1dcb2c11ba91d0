package lifecycle

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// publisher is a handler with subscribers, and a method that waits for its
// context.
type publisher struct {
	mu   sync.Mutex
	subs map[int]func(mcp.Event)
	next int
}

func (p *publisher) Handle(ctx context.Context, c *mcp.Call) (any, error) {
	switch c.Method {
	case mcp.MethodDiscover:
		return &mcp.DiscoverResult{}, nil
	case mcp.MethodSubscriptionsListen:
		var params mcp.SubscriptionsListenParams
		if err := json.Unmarshal(c.Params, &params); err != nil {
			return nil, err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.next++
		id := p.next
		p.subs[id] = c.Emit
		return &mcp.Subscription{Filter: params.Notifications, Stop: func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.subs, id)
		}}, nil
	case "wait":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return struct{}{}, nil
}

func (p *publisher) publish(e mcp.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, emit := range p.subs {
		emit(e)
	}
}

func (p *publisher) subscribers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.subs)
}

// line is one connection from the client's side.
type line struct {
	t    testing.TB
	wire peer.Transport
	done chan error
}

func dial(ctx context.Context, t testing.TB, h mcp.Handler) *line {
	ours, theirs := peer.Pipe()
	l := &line{t: t, wire: ours, done: make(chan error, 1)}
	opts := &ConnOptions{}
	opts.Logger = quiet().Logger
	go func() { l.done <- Serve(ctx, theirs, h, opts) }() // awaited by whoever reads done
	return l
}

func (l *line) send(format string, args ...any) {
	l.t.Helper()
	if err := l.wire.Send(context.Background(), fmt.Appendf(nil, format, args...)); err != nil {
		l.t.Errorf("send: %v", err)
	}
}

func (l *line) receive() string {
	l.t.Helper()
	message, err := l.wire.Receive(context.Background())
	if err != nil {
		l.t.Errorf("receive: %v", err)
	}
	return string(message)
}

// open begins a session and a subscription, both of which hear of events, and
// leaves a call in flight.
func (l *line) open() {
	l.t.Helper()
	l.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, revision.NewestHandshake().Name)
	l.receive()
	l.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	listen := modern(mcp.MethodSubscriptionsListen, `{"notifications":{"toolsListChanged":true}}`)
	l.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":%s}`, listen.Params)
	if got := l.receive(); !strings.Contains(got, mcp.NotificationSubscriptionsAcknowledged) {
		l.t.Errorf("got %s, want the acknowledgement", got)
	}
	l.send(`{"jsonrpc":"2.0","id":2,"method":"wait"}`)
}

func TestConnectionsLeaveNothingBehind(t *testing.T) {
	for _, end := range []string{"the client goes", "the server is stopped"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &publisher{subs: make(map[int]func(mcp.Event))}
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				var lines []*line
				for range 50 {
					l := dial(ctx, t, p)
					l.open()
					lines = append(lines, l)
				}
				synctest.Wait()
				if got := p.subscribers(); got != 2*len(lines) {
					t.Errorf("there are %d subscribers, want two for each of %d connections", got, len(lines))
				}
				p.publish(mcp.Event{Method: mcp.NotificationToolsListChanged})
				synctest.Wait()
				start := time.Now()
				if end == "the server is stopped" {
					stop()
				}
				for _, l := range lines {
					if end == "the client goes" {
						_ = l.wire.Close()
					}
					if err := <-l.done; err != nil {
						t.Errorf("serving ended with %v", err)
					}
				}
				if took := time.Since(start); took > time.Minute {
					t.Errorf("the end took %v", took)
				}
				synctest.Wait()
				if got := p.subscribers(); got != 0 {
					t.Errorf("%d subscribers are left", got)
				}
			})
		})
	}
}

func TestASubscriptionEndsInGoodOrderWhenTheServerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &publisher{subs: make(map[int]func(mcp.Event))}
		ctx, stop := context.WithCancel(t.Context())
		l := dial(ctx, t, p)
		l.send(`{"jsonrpc":"2.0","id":"ear","method":"subscriptions/listen","params":%s}`, modern("", `{"notifications":{}}`).Params)
		l.receive()
		synctest.Wait()
		stop()
		if got := l.receive(); !strings.Contains(got, `"id":"ear","result":{"resultType":"complete"`) || !strings.Contains(got, mcp.MetaSubscriptionID) {
			t.Errorf("got %s, want the result of the subscription", got)
		}
		if _, err := l.wire.Receive(t.Context()); err != io.EOF {
			t.Errorf("got %v, want the end", err)
		}
		if err := <-l.done; err != nil {
			t.Error(err)
		}
	})
}

func TestR051OneReaderThatDoesNotReadDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &publisher{subs: make(map[int]func(mcp.Event))}
		stuck := dial(t.Context(), t, p) // nobody receives from it after open
		stuck.open()
		good := dial(t.Context(), t, p)
		good.open()
		synctest.Wait()
		start := time.Now()
		for n := range 500 { // far more than a pipe holds
			p.publish(updated(n))
			for range 2 { // once for the session, once for the subscription
				if got := good.receive(); !strings.Contains(got, updated(n).URI) {
					t.Fatalf("event %d: got %s", n, got)
				}
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("the events took %v", took)
		}
		for _, l := range []*line{stuck, good} {
			_ = l.wire.Close()
			<-l.done
		}
	})
}

func TestACancelledSubscriptionIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &publisher{subs: make(map[int]func(mcp.Event))}
		l := dial(t.Context(), t, p)
		for n := range 100 {
			l.send(`{"jsonrpc":"2.0","id":%d,"method":"subscriptions/listen","params":%s}`, n, modern("", `{"notifications":{}}`).Params)
			l.receive()
			l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, n)
		}
		synctest.Wait()
		if got := p.subscribers(); got != 0 {
			t.Errorf("%d subscribers are left", got)
		}
		p.publish(mcp.Event{Method: mcp.NotificationToolsListChanged})
		l.send(`{"jsonrpc":"2.0","id":"last","method":"ping"}`)
		if got := l.receive(); !strings.Contains(got, "last") {
			t.Errorf("got %s, want the answer to ping", got)
		}
		_ = l.wire.Close()
		<-l.done
	})
}

func TestASubscriptionIsRefusedWhenItsAcknowledgementCannotBeSent(t *testing.T) {
	p := &publisher{subs: make(map[int]func(mcp.Event))}
	in := modern(mcp.MethodSubscriptionsListen, `{"notifications":{}}`)
	in.Notify = func(context.Context, string, any) error { return io.ErrClosedPipe }
	if _, err := NewStateless(p, quiet()).Answer(t.Context(), in); err == nil || p.subscribers() != 0 {
		t.Errorf("got %v with %d subscribers", err, p.subscribers())
	}
}

func TestASessionWatchesAResourceOnce(t *testing.T) {
	p := &publisher{subs: make(map[int]func(mcp.Event))}
	d := opened(t, p, revision.NewestHandshake(), nil)
	ask := func(method, uri string) error {
		_, err := answer(t, d, &Incoming{ID: jsonrpc.IntID(1), Method: method, Params: []byte(`{"uri":"` + uri + `"}`)})
		return err
	}
	for range 5 {
		if err := ask(mcp.MethodSubscribe, "a:b"); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.subscribers(); got != 2 { // the lists and the resource
		t.Errorf("there are %d subscriptions, want 2", got)
	}
	var refused error
	for n := 0; n < 2*maxWatches && refused == nil; n++ {
		refused = ask(mcp.MethodSubscribe, fmt.Sprintf("a:%d", n))
	}
	if code(refused) != jsonrpc.CodeInvalidRequest || p.subscribers() > maxWatches {
		t.Errorf("after %d subscriptions: %v", p.subscribers(), refused)
	}
	if err := ask(mcp.MethodUnsubscribe, "a:b"); err != nil {
		t.Error(err)
	}
	d.Close()
	if got := p.subscribers(); got != 0 {
		t.Errorf("%d subscriptions are left after the close", got)
	}
	if err := ask(mcp.MethodSubscribe, "a:b"); code(err) != jsonrpc.CodeInvalidRequest {
		t.Errorf("after the close: %v", err)
	}
}

// A connection that speaks one era leaves the other to what its clients expect of
// such a server.
func TestAConnectionOfOneEra(t *testing.T) {
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + revision.NewestHandshake().Name +
		`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	discover := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":` + string(modern("", "{}").Params) + `}`
	for _, test := range []struct{ name, list, send, want string }{
		{"the stateless era names its revisions to initialize", EraStateless, initialize, `"supported":["` + revision.Newest().Name + `"],"requested":"` + revision.NewestHandshake().Name},
		{"the stateless era needs every request to describe itself", EraStateless, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "-32602"},
		{"the stateless era has no ping", EraStateless, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "-32602"},
		{"the stateless era is discovered", EraStateless, discover, `"supportedVersions":["` + revision.Newest().Name + `"]`},
		{"the handshake era has no discover", EraHandshake, discover, "-32601"},
		{"the handshake era is initialized", EraHandshake, initialize, `"protocolVersion":"` + revision.NewestHandshake().Name + `"`},
		{"an older server answers with what it has", revision.All()[0].Name, initialize, `"protocolVersion":"` + revision.All()[0].Name + `"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			ours, theirs := peer.Pipe()
			l := &line{t: t, wire: ours, done: make(chan error, 1)}
			opts := &ConnOptions{Options: *quiet()}
			var err error
			if opts.Revisions, err = revision.Select(test.list); err != nil {
				t.Fatal(err)
			}
			h := introduced(func(context.Context, *mcp.Call) (any, error) { return struct{}{}, nil })
			go func() { l.done <- Serve(t.Context(), theirs, h, opts) }() // awaited below
			l.send("%s", test.send)
			if got := l.receive(); !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if err := ours.Close(); err != nil {
				t.Error(err)
			}
			if err := <-l.done; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestALongStringOfTheParamsIsKnownToTheHandler(t *testing.T) {
	long := `"` + strings.Repeat(`\"é`, 2000) + `"`
	var known string
	l := dial(t.Context(), t, mcp.HandlerFunc(func(_ context.Context, c *mcp.Call) (any, error) {
		if c.Method == mcp.MethodDiscover {
			return &mcp.DiscoverResult{}, nil
		}
		known = string(c.Long)
		return struct{}{}, nil
	}))
	for i, tc := range []struct{ params, want string }{
		{`{"name":"echo","arguments":{"text":` + long + `}}`, long},
		{`{"uri":` + long + `,"arguments":{"a":"` + strings.Repeat("x", 1500) + `"}}`, long},
		{`{"name":"echo","arguments":{"text":"short"}}`, ""},
		{`{"name":"echo","arguments":{"list":[` + long + `]}}`, ""},
	} {
		for _, params := range []string{tc.params, string(modern("", tc.params).Params)} {
			l.send(`{"jsonrpc":"2.0","id":%d,"method":"custom/method","params":%s}`, i, params)
			if got := l.receive(); !strings.Contains(got, `"result"`) || known != tc.want {
				t.Errorf("of %.60s… is known %.20s…, want %.20s…: %s", params, known, tc.want, got)
			}
		}
	}
	_ = l.wire.Close()
	<-l.done
}
