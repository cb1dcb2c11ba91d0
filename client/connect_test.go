package client_test

import (
	"context"
	"errors"
	"fmt"
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
)

// greeted plays a server whose answer to a probe is a test's, and that is of the
// handshake era otherwise.
func greeted(probe func(f *fake, m jsonrpc.Message) (on bool)) func(f *fake, n int) {
	return func(f *fake, _ int) {
		for {
			m, ok := f.next()
			switch {
			case !ok:
				return
			case m.Method == mcp.MethodDiscover:
				if !probe(f, m) {
					return
				}
			case m.Method == mcp.MethodInitialize:
				f.reply(m, introduction())
			case m.Method == mcp.MethodCallTool:
				f.reply(m, text("done"))
			}
		}
	}
}

func refusing(code int, data string) func(f *fake, m jsonrpc.Message) bool {
	return func(f *fake, m jsonrpc.Message) bool {
		f.refuse(m, code, data)
		return true
	}
}

func answering(result string) func(f *fake, m jsonrpc.Message) bool {
	return func(f *fake, m jsonrpc.Message) bool {
		f.reply(m, result)
		return true
	}
}

func TestServersOfTheHandshakeEraAreFoundWhateverTheySayR026(t *testing.T) {
	older := fmt.Sprintf(`{"supported":[%q],"requested":"x"}`, revision.NewestHandshake().Name)
	for _, tc := range []struct {
		name  string
		probe func(f *fake, m jsonrpc.Message) bool
		dials int
	}{
		{"method not found", refusing(-32601, ""), 1},
		{"invalid params", refusing(-32602, ""), 1},
		{"an error of its own", refusing(-32000, ""), 1},
		{"the code 0", refusing(0, ""), 1},
		{"not initialised", refusing(-32600, `"x"`), 1},
		{"a version error that lists older versions", refusing(mcp.CodeUnsupportedVersion, older), 1},
		{"a version error that lists nothing", refusing(mcp.CodeUnsupportedVersion, ""), 1},
		{"an empty result", answering(`{}`), 1},
		{"a result of null", answering(`null`), 1},
		{"a result with older versions", answering(fmt.Sprintf(`{"supportedVersions":[%q]}`, revision.All()[0].Name)), 1},
		{"an error that is none", func(f *fake, m jsonrpc.Message) bool {
			f.say(`{"jsonrpc":"2.0","id":%s,"error":"what?"}`, m.ID)
			return true
		}, 1},
		{"silence", func(*fake, jsonrpc.Message) bool { return true }, 2},
		{"an error without an id, which nobody can match", func(f *fake, _ jsonrpc.Message) bool {
			f.say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`)
			return true
		}, 2},
		{"text and then silence", func(f *fake, _ jsonrpc.Message) bool { f.say("Traceback: oops"); return true }, 2},
		{"death", func(*fake, jsonrpc.Message) bool { return false }, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{serve: greeted(tc.probe)}
				c := connect(t, s, nil)
				if info := c.Server(); info.Stateless || info.Revision != revision.NewestHandshake().Name || info.Name != "fake" {
					t.Errorf("took the server for %+v", info)
				}
				if got := s.count(); got != tc.dials {
					t.Errorf("dialled %d times, want %d", got, tc.dials)
				}
				if result, err := c.CallTool(t.Context(), "x", nil, nil); err != nil || client.TextOf(result.Content) != "done" {
					t.Errorf("call: %v, %v", result, err)
				}
			})
		})
	}
}

func TestServersOfTheStatelessEraAreKeptR026(t *testing.T) {
	newest := revision.Newest().Name
	for _, tc := range []struct {
		name  string
		first func(f *fake, m jsonrpc.Message) bool // answers the first request
	}{
		{"at once", answering(discovery())},
		{"after the first request was refused for a version that it lists, as conformance does", refusing(mcp.CodeUnsupportedVersion, fmt.Sprintf(`{"supported":[%q],"requested":%q}`, newest, newest))},
		{"among others", answering(strings.Replace(discovery(), `"supportedVersions":[`, `"supportedVersions":["1.0",`, 1))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &script{serve: func(f *fake, _ int) {
				m, ok := f.next()
				if ok && tc.first(f, m) {
					f.modern(func(m jsonrpc.Message) { f.reply(m, text("done")) })
				}
			}}
			c := connect(t, s, nil)
			if info := c.Server(); !info.Stateless || info.Revision != newest {
				t.Errorf("took the server for %+v", info)
			}
			if _, err := c.CallTool(t.Context(), "x", nil, nil); err != nil {
				t.Error(err)
			}
			if slices.Contains(s.methods(), mcp.MethodInitialize) || s.count() != 1 {
				t.Errorf("dialled %d times and said %v", s.count(), s.methods())
			}
		})
	}
}

func TestConnectFailsForGoodReasons(t *testing.T) {
	hopeless := fmt.Sprintf(`{"supportedVersions":[%q]}`, "1.0")
	for _, tc := range []struct {
		name   string
		serve  func(f *fake, n int)
		pin    string
		theirs int    // the code, if the server said no
		say    string // in the error
	}{
		{"no revision in common", greeted(answering(hopeless)), "", 0, "no protocol revision in common"},
		{"it refuses both greetings", func(f *fake, _ int) {
			for m, ok := f.next(); ok; m, ok = f.next() {
				f.refuse(m, -32000, "")
			}
		}, "", -32000, "before that"},
		{"it dies at both greetings", func(f *fake, _ int) { f.next() }, "", 0, "connection closed"},
		{"it insists on the version it refuses", greeted(refusing(mcp.CodeUnsupportedVersion, fmt.Sprintf(`{"supported":[%q]}`, revision.Newest().Name))), "", mcp.CodeUnsupportedVersion, "refuses the revision"},
		{"it answers with a revision from the future", func(f *fake, _ int) {
			for m, ok := f.next(); ok; m, ok = f.next() {
				f.reply(m, `{"protocolVersion":"2999-01-01"}`)
			}
		}, "", 0, "2999-01-01"},
		{"it is older than the pin", greeted(refusing(-32601, "")), "stateless-only", 0, "no such protocol revision"},
		{"it is of the other era than the pin", greeted(answering(`{}`)), "stateless", 0, "lists no revisions"},
		{"it speaks another revision than the pin", greeted(refusing(-32601, "")), revision.All()[0].Name, 0, "answered initialize with the revision"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := client.Connect(t.Context(), &script{serve: tc.serve}, &client.Options{Revision: tc.pin, Logger: quiet})
			if err == nil {
				t.Fatalf("connected to %+v", c.Server())
			}
			var theirs *jsonrpc.Error
			if errors.As(err, &theirs) != (tc.theirs != 0) || theirs != nil && theirs.Code != tc.theirs || !strings.Contains(err.Error(), tc.say) {
				t.Errorf("got %v", err)
			}
		})
	}
}

type failingDialer struct{ err error }

func (d failingDialer) Dial(context.Context) (peer.Transport, error) { return nil, d.err }

func TestConnectReportsWhatTheDialerSays(t *testing.T) {
	broken := errors.New("no such program")
	if _, err := client.Connect(t.Context(), failingDialer{broken}, nil); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestConnectEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{serve: func(f *fake, _ int) { // silent in both eras
			for _, ok := f.next(); ok; _, ok = f.next() {
			}
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		start := time.Now()
		_, err := client.Connect(ctx, s, &client.Options{Logger: quiet})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 16*time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		start = time.Now()
		_, err = client.Connect(t.Context(), s, &client.Options{Logger: quiet, ConnectTimeout: 30 * time.Second})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 31*time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}

func TestASlowServerOfTheStatelessEraIsFoundInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{serve: func(f *fake, n int) {
			if n == 1 { // takes a minute to start
				time.Sleep(time.Minute)
			}
			for {
				m, ok := f.next()
				switch {
				case !ok:
					return
				case m.Method == mcp.MethodDiscover:
					f.reply(m, discovery())
				default:
					f.refuse(m, jsonrpc.CodeMethodNotFound, "")
				}
			}
		}}
		c := connect(t, s, nil)
		if !c.Server().Stateless {
			t.Errorf("took the server for %+v", c.Server())
		}
		time.Sleep(time.Minute) // until the first is gone
	})
}

// memory is a Memory for tests.
type memory struct {
	mu sync.Mutex
	v  client.Verdict
}

func (m *memory) Recall() (client.Verdict, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.v, m.v.Era != ""
}

func (m *memory) Remember(v client.Verdict) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.v = v
}

func TestAVerdictIsRememberedUntilItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{serve: greeted(func(*fake, jsonrpc.Message) bool { return false })}
		kept := &memory{}
		open := func() {
			c, err := client.Connect(t.Context(), s, &client.Options{Memory: kept, Logger: quiet})
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
		}
		open()
		if s.count() != 2 || kept.v.Era != "handshake" || !kept.v.Until.After(time.Now()) {
			t.Fatalf("dialled %d times, remembers %+v", s.count(), kept.v)
		}
		open()
		if s.count() != 3 {
			t.Errorf("a server that was known was dialled %d times", s.count()-2)
		}
		time.Sleep(48 * time.Hour)
		open()
		if s.count() != 5 {
			t.Errorf("a server that was known long ago was dialled %d times", s.count()-3)
		}
	})
}

func TestAWrongVerdictIsCorrected(t *testing.T) {
	kept := &memory{v: client.Verdict{Era: "handshake", Until: time.Now().Add(time.Hour)}}
	s := &script{serve: func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) { f.refuse(m, jsonrpc.CodeMethodNotFound, "") })
	}}
	c := connect(t, s, &client.Options{Memory: kept})
	if !c.Server().Stateless || kept.v.Era != "stateless" {
		t.Errorf("took the server for %+v, remembers %+v", c.Server(), kept.v)
	}
	if got := s.methods(); !slices.Equal(got, []string{mcp.MethodInitialize, mcp.MethodDiscover}) {
		t.Errorf("said %v", got)
	}
}

func TestNothingIsDialledBeforeItIsNeeded(t *testing.T) {
	d := &inMemory{handler: newAdder()}
	c, err := client.New(d, &client.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if d.count() != 0 || c.Server().Name != "" {
		t.Errorf("dialled %d times", d.count())
	}
	if got, err := client.Call[sum](t.Context(), c, "add", pair{2, 40}); err != nil || got.Result != 42 {
		t.Errorf("got %v, %v", got, err)
	}
	if d.count() != 1 || c.Server().Name != "adder" {
		t.Errorf("dialled %d times, server %+v", d.count(), c.Server())
	}
}

func TestAClosedClientStaysClosed(t *testing.T) {
	d := &inMemory{handler: newAdder()}
	c := connect(t, d, nil)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"call": func() error { _, err := c.CallTool(t.Context(), "add", nil, nil); return err },
		"ping": func() error { return c.Ping(t.Context()) },
		"listen": func() error {
			_, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, nil)
			return err
		},
		"roots": func() error { return c.RootsChanged(t.Context()) },
		"level": func() error { return c.SetLogLevel(t.Context(), mcp.LevelError) },
	} {
		var ours *client.LocalError
		if err := call(); !errors.Is(err, client.ErrClosed) || !errors.As(err, &ours) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d.count() != 1 {
		t.Errorf("dialled %d times", d.count())
	}
}
