package client_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

func decodeInto(text []byte, into any) error {
	if text == nil {
		return nil
	}
	return json.Unmarshal(text, into)
}

// hinting plays a server whose results carry hints.
func hinting(hints *string) *script {
	s := &script{}
	n := 0
	s.serve = func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) {
			n++
			f.reply(m, fmt.Sprintf(`{"resultType":"complete"%s,"contents":[{"uri":"u","text":"%d"}],"tools":[],"prompts":[],"resources":[],"resourceTemplates":[]}`, *hints, n))
		})
	}
	return s
}

func TestResultsAreKeptAsLongAsTheServerAllows(t *testing.T) {
	for _, tc := range []struct {
		name, hints string
		fresh       time.Duration // how long the first answer is good
	}{
		{"a minute", `,"ttlMs":60000,"cacheScope":"private"`, time.Minute},
		{"without a scope", `,"ttlMs":60000`, time.Minute},
		{"no time", `,"ttlMs":0,"cacheScope":"public"`, 0},
		{"a negative time", `,"ttlMs":-5,"cacheScope":"public"`, 0},
		{"no word", ``, 0},
		{"a scope from the future", `,"ttlMs":60000,"cacheScope":"galactic"`, time.Minute},
		{"for ever, which nobody believes", `,"ttlMs":9223372036854775807`, 24 * time.Hour},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := hinting(&tc.hints)
				c := connect(t, s, nil)
				read := func() string {
					r, err := c.ReadResource(t.Context(), "u", nil)
					if err != nil {
						t.Fatal(err)
					}
					return r.Contents[0].Text
				}
				first := read()
				if got := read(); (got == first) != (tc.fresh > 0) {
					t.Errorf("at once: %s after %s", got, first)
				}
				if tc.fresh == 0 {
					return
				}
				time.Sleep(tc.fresh - time.Millisecond)
				if got := read(); got != first {
					t.Errorf("just before the end: %s after %s", got, first)
				}
				time.Sleep(time.Millisecond)
				if got := read(); got == first {
					t.Errorf("at the end: still %s", got)
				}
			})
		})
	}
}

func TestTheCacheTellsRequestsApart(t *testing.T) {
	hints := `,"ttlMs":60000,"cacheScope":"public"`
	s := hinting(&hints)
	c := connect(t, s, nil)
	read := func(uri string, opts *client.CallOptions) string {
		r, err := c.ReadResource(t.Context(), uri, opts)
		if err != nil {
			t.Fatal(err)
		}
		return r.Contents[0].Text
	}
	a, b := read("a", nil), read("b", nil)
	if a == b || read("a", nil) != a || read("b", nil) != b {
		t.Error("two resources are mixed up")
	}
	fresh := read("a", &client.CallOptions{Fresh: true})
	if fresh == a || read("a", nil) != fresh {
		t.Error("a fresh answer was not asked for, or not kept")
	}
	if asked := read("a", &client.CallOptions{Fresh: true, Meta: mcp.Meta(`{"x":1}`)}); read("a", nil) == asked {
		t.Error("an answer to a request with _meta of its own was kept for others")
	}
}

func TestPrivateResultsStayWithTheirCaller(t *testing.T) {
	for _, tc := range []struct {
		name, scope, keyA, keyB string
		shared                  bool
	}{
		{"public, two callers", "public", "ada", "alan", true},
		{"private, two callers", "private", "ada", "alan", false},
		{"private, one caller", "private", "ada", "ada", true},
		{"private, callers without a name", "private", "", "", false},
		{"private, a name that looks like none", "private", "", "#1", false},
		{"public, callers without a name", "public", "", "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			hints := fmt.Sprintf(`,"ttlMs":60000,"cacheScope":%q`, tc.scope)
			s := hinting(&hints)
			cache := client.NewCache(0)
			a := connect(t, s, &client.Options{Cache: cache, CacheKey: tc.keyA})
			b := connect(t, s, &client.Options{Cache: cache, CacheKey: tc.keyB})
			first, err1 := a.ReadResource(t.Context(), "u", nil)
			second, err2 := b.ReadResource(t.Context(), "u", nil)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			if got := first.Contents[0].Text == second.Contents[0].Text; got != tc.shared {
				t.Errorf("shared: %v", got)
			}
		})
	}
}

func TestChangesEndWhatIsKept(t *testing.T) {
	for _, tc := range []struct{ name, method, params string }{
		{"tools", mcp.NotificationToolsListChanged, `{}`},
		{"prompts", mcp.NotificationPromptsListChanged, `{}`},
		{"resources", mcp.NotificationResourcesListChanged, `{}`},
		{"templates", mcp.NotificationResourcesListChanged, `{}`},
		{"a resource", mcp.NotificationResourceUpdated, `{"uri":"u"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hints := `,"ttlMs":60000,"cacheScope":"public"`
				var f *fake
				s := hinting(&hints)
				serve := s.serve
				s.serve = func(g *fake, n int) { f = g; serve(g, n) }
				c := connect(t, s, nil)
				call := map[string]string{"a resource": "read"}[tc.name]
				if call == "" {
					call = tc.name
				}
				asked := func() int {
					before := len(s.methods())
					if err := calls(t.Context(), c)[call](); err != nil {
						t.Fatal(err)
					}
					return len(s.methods()) - before
				}
				if asked() != 1 || asked() != 0 {
					t.Fatal("not kept")
				}
				for _, other := range []string{"notifications/x", tc.method} {
					f.say(`{"jsonrpc":"2.0","method":%q,"params":%s}`, other, tc.params)
					synctest.Wait()
					if want := map[bool]int{true: 1}[other == tc.method]; asked() != want {
						t.Errorf("after %s it was asked for, or not", other)
					}
				}
			})
		})
	}
}

func TestAnAnswerThatWasOvertakenByAChangeIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		s := &script{serve: func(f *fake, _ int) {
			f.modern(func(m jsonrpc.Message) {
				n++
				f.reply(m, fmt.Sprintf(`{"resultType":"complete","ttlMs":60000,"cacheScope":"public","contents":[{"uri":"u","text":"%d"}]}`, n))
				f.say(`{"jsonrpc":"2.0","method":%q,"params":{"uri":"u"}}`, mcp.NotificationResourceUpdated)
			})
		}}
		c := connect(t, s, nil)
		for i := range 20 {
			r, err := c.ReadResource(t.Context(), "u", nil)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if got := r.Contents[0].Text; got != fmt.Sprint(i+1) {
				t.Fatalf("read %s, want %d", got, i+1)
			}
		}
	})
}

func TestACacheHasALimit(t *testing.T) {
	size := 100
	s := &script{serve: func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) {
			f.reply(m, fmt.Sprintf(`{"resultType":"complete","ttlMs":60000,"cacheScope":"public","contents":[{"uri":"u","text":"%0*d"}]}`, size, 1))
		})
	}}
	c := connect(t, s, &client.Options{Cache: client.NewCache(2000)})
	read := func(uri string) {
		if _, err := c.ReadResource(t.Context(), uri, nil); err != nil {
			t.Fatal(err)
		}
	}
	asked := func() int { return len(s.requests(mcp.MethodReadResource)) }
	for i := range 100 {
		read(fmt.Sprint(i))
		read(fmt.Sprint(i)) // from the cache
	}
	if asked() != 100 {
		t.Errorf("asked %d times", asked())
	}
	read("0") // was thrown out
	if asked() != 101 {
		t.Errorf("asked %d times", asked())
	}
	size = 5000
	read("large")
	read("large")
	if asked() != 103 {
		t.Errorf("a result over the limit was kept")
	}
}

func TestACursorThatTheServerForgotStartsTheListAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		generation := 1
		s := &script{serve: func(f *fake, _ int) {
			f.modern(func(m jsonrpc.Message) {
				cursor := jsonscan.Unquote(jsonscan.Get(m.Params, "cursor"))
				switch cursor {
				case "":
					f.reply(m, fmt.Sprintf(`{"resultType":"complete","ttlMs":60000,"cacheScope":"public","tools":[{"name":"a","inputSchema":{}},{"name":"g%d","inputSchema":{}}],"nextCursor":"c%d"}`, generation, generation))
				case fmt.Sprintf("c%d", generation):
					f.reply(m, `{"resultType":"complete","ttlMs":0,"tools":[{"name":"z","inputSchema":{}}]}`)
				default:
					f.refuse(m, jsonrpc.CodeInvalidParams, "")
				}
			})
		}}
		c := connect(t, s, nil)
		names := func() (all string) {
			for tool, err := range c.Tools(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				all += tool.Name + " "
			}
			return all
		}
		if got := names(); got != "a g1 z " {
			t.Errorf("got %s", got)
		}
		generation = 2 // the first page is kept, its cursor is worthless
		if got := names(); got != "a g1 g2 z " {
			t.Errorf("got %s", got)
		}
	})
}

func TestARestartEndsWhatIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hints := `,"ttlMs":60000,"cacheScope":"public"`
		s := hinting(&hints)
		var f *fake
		serve := s.serve
		s.serve = func(g *fake, n int) { f = g; serve(g, n) }
		c := connect(t, s, nil)
		for range 2 {
			if _, err := client.Collect(c.Tools(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
		_ = f.far.Close()
		synctest.Wait()
		if _, err := client.Collect(c.Tools(t.Context())); err != nil || len(s.requests(mcp.MethodListTools)) != 2 {
			t.Errorf("%v, listed %d times", err, len(s.requests(mcp.MethodListTools)))
		}
	})
}
