package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// answer is what a caller gets: a result, or an error.
type answer struct {
	result string
	err    error
}

// scriptedCaller answers calls in order and notes what was sent.
type scriptedCaller struct {
	answers []answer
	sent    []string // method and params
}

func (c *scriptedCaller) Call(_ context.Context, method string, params, result any) error {
	text, err := jsonrpc.AppendValue(nil, params)
	if err != nil {
		return err
	}
	c.sent = append(c.sent, method+" "+string(text))
	if len(c.answers) == 0 {
		return errors.New("nothing more was expected")
	}
	a := c.answers[0]
	c.answers = c.answers[1:]
	if a.err == nil {
		*result.(*jsontext.Value) = jsontext.Value(a.result)
	}
	return a.err
}

func (c *scriptedCaller) Notify(_ context.Context, method string, _ any) error {
	c.sent = append(c.sent, method)
	return nil
}

func greeting(t *testing.T, pin string) *lifecycle.Greeting {
	t.Helper()
	g, err := lifecycle.NewGreeting(mcp.Implementation{Name: "c", Version: "1"}, mcp.ClientCapabilities{
		Roots:       &mcp.RootsCapability{ListChanged: true},
		Elicitation: &mcp.ElicitationCapability{Form: &mcp.Supported{}, URL: &mcp.Supported{}},
		Extensions:  map[string]jsontext.Value{"org.example/x": jsontext.Value("{}")},
	}, pin)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func unsupportedVersion(data string) error {
	return &jsonrpc.Error{Code: mcp.CodeUnsupportedVersion, Message: "no", Data: jsontext.Value(data)}
}

func TestProbeSortsServersByTheirFirstWordsR026(t *testing.T) {
	newest, older := revision.Newest().Name, revision.NewestHandshake().Name
	const (
		stateless = "stateless"
		handshake = "handshake, on the same connection"
		fresh     = "handshake, on a new connection"
		refused   = "the server's error"
		failed    = "an error of ours"
	)
	refuse := func(code int) error { return &jsonrpc.Error{Code: code, Message: "no"} }
	for _, tc := range []struct {
		name    string
		answers []answer
		want    string
	}{
		{"a list with our revision", []answer{{result: fmt.Sprintf(`{"supportedVersions":["x",%q,%q]}`, older, newest)}}, stateless},
		{"a list with an older revision only", []answer{{result: fmt.Sprintf(`{"supportedVersions":[%q]}`, older)}}, handshake},
		{"a list of strangers", []answer{{result: `{"supportedVersions":["1.0"]}`}}, failed},
		{"an empty list", []answer{{result: `{"supportedVersions":[]}`}}, handshake},
		{"an empty result", []answer{{result: `{}`}}, handshake},
		{"a result that is no object", []answer{{result: `"hello"`}}, handshake},
		{"a result of null", []answer{{result: `null`}}, handshake},
		{"a list that is a string", []answer{{result: fmt.Sprintf(`{"supportedVersions":%q}`, newest)}}, handshake},
		{"method not found", []answer{{err: refuse(-32601)}}, handshake},
		{"invalid params", []answer{{err: refuse(-32602)}}, handshake},
		{"invalid request", []answer{{err: refuse(-32600)}}, handshake},
		{"an error of the server's own", []answer{{err: refuse(-32000)}}, handshake},
		{"the code 0", []answer{{err: refuse(0)}}, handshake},
		{"a header mismatch", []answer{{err: refuse(mcp.CodeHeaderMismatch)}}, refused},
		{"a missing capability", []answer{{err: refuse(mcp.CodeMissingCapability)}}, refused},
		{"another version wanted, then a list", []answer{
			{err: unsupportedVersion(fmt.Sprintf(`{"supported":[%q]}`, newest))},
			{result: fmt.Sprintf(`{"supportedVersions":[%q]}`, newest)},
		}, stateless},
		{"the same version wanted again and again", []answer{
			{err: unsupportedVersion(fmt.Sprintf(`{"supported":[%q]}`, newest))},
			{err: unsupportedVersion(fmt.Sprintf(`{"supported":[%q]}`, newest))},
			{err: unsupportedVersion(fmt.Sprintf(`{"supported":[%q]}`, newest))},
		}, refused},
		{"an older version wanted", []answer{{err: unsupportedVersion(fmt.Sprintf(`{"supported":[%q]}`, older))}}, handshake},
		{"a stranger's version wanted", []answer{{err: unsupportedVersion(`{"supported":["1.0"]}`)}}, failed},
		{"a version wanted that is not named", []answer{{err: unsupportedVersion(`{"supported":7}`)}}, handshake},
		{"an answer that cannot be read", []answer{{err: errors.New("read answer: what?")}}, handshake},
		{"death", []answer{{err: fmt.Errorf("call: %w", peer.ErrClosed)}}, fresh},
	} {
		t.Run(tc.name, func(t *testing.T) {
			to := &scriptedCaller{answers: tc.answers}
			a, err := greeting(t, "").Probe(t.Context(), to)
			var other *lifecycle.NotStatelessError
			var theirs *jsonrpc.Error
			got := failed
			switch {
			case err == nil && a.Stateless && a.Revision == newest:
				got = stateless
			case errors.As(err, &other) && other.Silent:
				got = fresh
			case errors.As(err, &other):
				got = handshake
			case errors.As(err, &theirs):
				got = refused
			}
			if err != nil && err.Error() == "" {
				t.Error("the error says nothing")
			}
			if got != tc.want || len(to.answers) > 0 {
				t.Errorf("got %s (%v) after %q, want %s", got, err, to.sent, tc.want)
			}
		})
	}
}

func TestProbeTakesSilenceForAnswer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err := greeting(t, "").Probe(ctx, &scriptedCaller{answers: []answer{{err: context.DeadlineExceeded}}})
	var other *lifecycle.NotStatelessError
	if !errors.As(err, &other) || !other.Silent {
		t.Errorf("got %v", err)
	}
}

func TestProbeLearnsWhatTheServerIs(t *testing.T) {
	for _, tc := range []struct{ name, rest, want string }{
		{"all of it", `"capabilities":{"tools":{"listChanged":true}},"instructions":"Be kind.","_meta":{"` + mcp.MetaServerInfo + `":{"name":"s","version":"2"}}`, "s 2 true Be kind."},
		{"nothing", `"x":1`, "  false "},
		{"nonsense, which is passed over", `"capabilities":[],"instructions":7,"_meta":"no"`, "  false "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			result := fmt.Sprintf(`{"supportedVersions":[%q],%s}`, revision.Newest().Name, tc.rest)
			a, err := greeting(t, "").Probe(t.Context(), &scriptedCaller{answers: []answer{{result: result}}})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(a.Server.Name, " ", a.Server.Version, " ", a.Capabilities.Tools != nil, " ", a.Instructions); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestInitializeTakesAnyRevisionWeKnow(t *testing.T) {
	newest := revision.NewestHandshake().Name
	for _, rev := range revision.All() {
		to := &scriptedCaller{answers: []answer{{result: fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"serverInfo":{"name":"s","version":"2"}}`, rev.Name)}}}
		a, err := greeting(t, "").Initialize(t.Context(), to)
		if rev.Stateless {
			if err == nil {
				t.Errorf("%s needs no handshake, and was accepted in one", rev.Name)
			}
			continue
		}
		if err != nil || a.Revision != rev.Name || a.Stateless || a.Batch != rev.Batch || a.Structured != rev.Structured || a.Server.Name != "s" {
			t.Errorf("%s: %+v, %v", rev.Name, a, err)
		}
		if len(to.sent) != 2 || to.sent[1] != mcp.NotificationInitialized || !strings.Contains(to.sent[0], newest) {
			t.Errorf("%s: sent %q", rev.Name, to.sent)
		}
	}
	for _, result := range []string{`{}`, `{"protocolVersion":"1.0"}`, `{"protocolVersion":7}`, `null`, `[]`} {
		if a, err := greeting(t, "").Initialize(t.Context(), &scriptedCaller{answers: []answer{{result: result}}}); err == nil {
			t.Errorf("%s: agreed on %+v", result, a)
		}
	}
}

func TestInitializeAsksAgainInTheRevisionThatAnErrorNames(t *testing.T) {
	oldest := revision.All()[0].Name
	to := &scriptedCaller{answers: []answer{
		{err: &jsonrpc.Error{Code: -32602, Message: "Unsupported protocol version", Data: jsontext.Value(fmt.Sprintf(`{"supported":[%q]}`, oldest))}},
		{result: fmt.Sprintf(`{"protocolVersion":%q}`, oldest)},
	}}
	a, err := greeting(t, "").Initialize(t.Context(), to)
	if err != nil || a.Revision != oldest || !strings.Contains(to.sent[1], oldest) {
		t.Errorf("%+v, %v, sent %q", a, err, to.sent)
	}
}

func TestInitializeSaysWhatTheRevisionKnows(t *testing.T) {
	for _, rev := range revision.All() {
		if rev.Stateless {
			continue
		}
		to := &scriptedCaller{answers: []answer{{result: fmt.Sprintf(`{"protocolVersion":%q}`, rev.Name)}}}
		if _, err := greeting(t, rev.Name).Initialize(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		want := `"roots":{"listChanged":true}`
		switch {
		case rev.Icons:
			want += `,"elicitation":{"form":{},"url":{}}`
		case rev.Structured:
			want += `,"elicitation":{}`
		}
		if !strings.Contains(to.sent[0], `"capabilities":{`+want+`}`) {
			t.Errorf("%s: sent %s, want capabilities %s", rev.Name, to.sent[0], want)
		}
	}
}

func TestPinsHoldAGreeting(t *testing.T) {
	for _, tc := range []struct {
		pin               string
		probe, initialize bool
	}{
		{"", true, true},
		{"stateless", true, false},
		{"handshake", false, true},
		{revision.Newest().Name, true, false},
		{revision.All()[0].Name, false, true},
	} {
		g := greeting(t, tc.pin)
		if g.MayProbe() != tc.probe || g.MayInitialize() != tc.initialize {
			t.Errorf("%q: probe %v, initialize %v", tc.pin, g.MayProbe(), g.MayInitialize())
		}
	}
	if _, err := lifecycle.NewGreeting(mcp.Implementation{}, mcp.ClientCapabilities{}, "1.0"); err == nil || !strings.Contains(err.Error(), revision.Newest().Name) {
		t.Errorf("an unknown pin: %v", err)
	}
	if _, err := lifecycle.NewGreeting(mcp.Implementation{Name: "\xff"}, mcp.ClientCapabilities{}, ""); err == nil {
		t.Error("a name that is no text was taken")
	}
	oldest, newest := revision.All()[0].Name, revision.NewestHandshake().Name
	if _, err := greeting(t, oldest).Initialize(t.Context(), &scriptedCaller{answers: []answer{{result: fmt.Sprintf(`{"protocolVersion":%q}`, newest)}}}); err == nil {
		t.Error("a pin to one revision accepted another")
	}
	unknown := answer{err: jsonrpc.MethodNotFound("server/discover")}
	a, err := greeting(t, "stateless").Probe(t.Context(), &scriptedCaller{answers: []answer{unknown, unknown}})
	if err != nil || !a.Stateless {
		t.Errorf("a server that cannot be discovered, but is known to be stateless: %v", err)
	}
	if _, err := greeting(t, "stateless").Probe(t.Context(), &scriptedCaller{answers: []answer{unknown, {result: `{}`}}}); err == nil {
		t.Error("a server that answers a ping is taken for a stateless one")
	}
}

// agreement returns one for the revision.
func agreement(t *testing.T, rev *revision.Revision) *lifecycle.Agreement {
	t.Helper()
	if rev.Stateless {
		a, err := greeting(t, "").Probe(t.Context(), &scriptedCaller{answers: []answer{{result: fmt.Sprintf(`{"supportedVersions":[%q]}`, rev.Name)}}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a, err := greeting(t, "").Initialize(t.Context(), &scriptedCaller{answers: []answer{{result: fmt.Sprintf(`{"protocolVersion":%q}`, rev.Name)}}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestRequestsTakeTheFormOfTheirEra(t *testing.T) {
	const self = `"…version":"R","…info":{"name":"c","version":"1"},"…capabilities":{"roots":{},"elicitation":{"form":{},"url":{}},"extensions":{"org.example/x":{}}}`
	for _, tc := range []struct {
		name                 string
		out                  lifecycle.Outgoing
		stateless, handshake string
	}{
		{"nothing to say", lifecycle.Outgoing{}, `{"_meta":{` + self + `}}`, ``},
		{"params", lifecycle.Outgoing{Params: jsontext.Value(` {"a": 1 } `)}, `{"_meta":{` + self + `},"a": 1}`, `{"a": 1}`},
		{"empty params", lifecycle.Outgoing{Params: struct{}{}}, `{"_meta":{` + self + `}}`, `{}`},
		{"progress", lifecycle.Outgoing{Params: jsontext.Value(`{"a":1}`), ProgressToken: 7}, `{"_meta":{` + self + `,"progressToken":7},"a":1}`, `{"_meta":{"progressToken":7},"a":1}`},
		{"a log level", lifecycle.Outgoing{LogLevel: mcp.LevelError}, `{"_meta":{` + self + `,"…level":"error"}}`, ``},
		{"the caller's own meta, but for ours", lifecycle.Outgoing{Meta: mcp.Meta(`{"x":{"y":1},"` + mcp.MetaProtocolVersion + `":"1.0","progressToken":1}`)}, `{"_meta":{` + self + `,"x":{"y":1}}}`, `{"_meta":{"x":{"y":1}}}`},
		{"answers and state, byte for byte", lifecycle.Outgoing{Params: jsontext.Value(`{"a":1}`), Responses: jsontext.Value(`{"q":{}}`), State: jsontext.Value(`"\u0041\/"`)},
			`{"_meta":{` + self + `},"inputResponses":{"q":{}},"requestState":"\u0041\/","a":1}`, `{"a":1}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, rev := range []*revision.Revision{revision.Newest(), revision.NewestHandshake()} {
				want := tc.handshake
				if rev.Stateless {
					want = strings.NewReplacer("…version", mcp.MetaProtocolVersion, "…info", mcp.MetaClientInfo, "…capabilities", mcp.MetaClientCapabilities, "…level", mcp.MetaLogLevel, `"R"`, `"`+rev.Name+`"`).Replace(tc.stateless)
				}
				out := tc.out
				got := ""
				if params := agreement(t, rev).Wrap(&out); params != nil {
					text, err := jsonrpc.AppendValue([]byte("before "), params)
					if err != nil {
						t.Fatal(err)
					}
					got = strings.TrimPrefix(string(text), "before ")
					if err := jsonscan.Check([]byte(got), 100); err != nil {
						t.Errorf("%s: %v", got, err)
					}
				}
				if got != want {
					t.Errorf("%s:\n got %s\nwant %s", rev.Name, got, want)
				}
			}
		})
	}
	for _, params := range []any{7, "text", []int{1}, make(chan int)} {
		out := &lifecycle.Outgoing{Params: params}
		if text, err := jsonrpc.AppendValue(nil, agreement(t, revision.Newest()).Wrap(out)); err == nil {
			t.Errorf("params %T were written as %s", params, text)
		}
	}
}

func TestOutgoingTellsItsNumber(t *testing.T) {
	var told jsonrpc.ID
	out := &lifecycle.Outgoing{Numbered: func(id jsonrpc.ID) { told = id }}
	var params peer.Numbered = out
	params.Number(jsonrpc.IntID(7))
	new(lifecycle.Outgoing).Number(jsonrpc.IntID(8)) // nobody listens
	if told != jsonrpc.IntID(7) {
		t.Errorf("told %v", told)
	}
}

func TestRepliesAreSorted(t *testing.T) {
	const complete, asks, wrong = "complete", "asks", "wrong"
	for _, tc := range []struct {
		name, result string
		want         string // in the stateless era
		older        string // in the handshake era
		ttl          time.Duration
		public       bool
	}{
		{"complete", `{"resultType":"complete"}`, complete, complete, 0, false},
		{"no type", `{"content":[]}`, complete, complete, 0, false},
		{"an unknown type", `{"resultType":"later"}`, wrong, complete, 0, false},
		{"a type that is no string", `{"resultType":7}`, wrong, complete, 0, false},
		{"no object", `[]`, wrong, wrong, 0, false},
		{"null", `null`, wrong, wrong, 0, false},
		{"a question", `{"resultType":"input_required","inputRequests":{"q":{"method":"roots/list"}}}`, asks, complete, 0, false},
		{"state alone", `{"resultType":"input_required","requestState":"s"}`, asks, complete, 0, false},
		{"neither", `{"resultType":"input_required"}`, wrong, complete, 0, false},
		{"state that is no string", `{"resultType":"input_required","requestState":7}`, wrong, complete, 0, false},
		{"questions that are no object", `{"resultType":"input_required","inputRequests":[]}`, wrong, complete, 0, false},
		{"hints", `{"ttlMs":1500,"cacheScope":"public"}`, complete, complete, 1500 * time.Millisecond, true},
		{"private hints", `{"ttlMs":1,"cacheScope":"private"}`, complete, complete, time.Millisecond, false},
		{"a negative hint", `{"ttlMs":-1,"cacheScope":"public"}`, complete, complete, 0, true},
		{"a hint beyond all time", `{"ttlMs":9223372036854775807}`, complete, complete, 24 * time.Hour, false},
		{"a hint that is no integer", `{"ttlMs":1.5}`, complete, complete, 0, false},
		{"hints of a question", `{"resultType":"input_required","requestState":"s","ttlMs":9}`, asks, complete, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for rev, want := range map[*revision.Revision]string{revision.Newest(): tc.want, revision.NewestHandshake(): tc.older} {
				reply, err := agreement(t, rev).Read(jsontext.Value(tc.result))
				got := complete
				switch {
				case err != nil:
					got = wrong
				case reply.Input != nil:
					got = asks
				}
				var theirs *jsonrpc.Error
				if got != want || errors.As(err, &theirs) {
					t.Errorf("%s: %s (%v), want %s", rev.Name, got, err, want)
				}
				if rev.Stateless && (reply.TTL != tc.ttl || reply.Public != tc.public) || !rev.Stateless && reply.TTL != 0 {
					t.Errorf("%s: kept for %v, public %v", rev.Name, reply.TTL, reply.Public)
				}
			}
		})
	}
}

func TestAgreementsAreRevisedWhenAServerWantsAnotherRevision(t *testing.T) {
	a := agreement(t, revision.Newest())
	for _, tc := range []struct {
		name        string
		err         error
		next, again bool
	}{
		{"the newest", unsupportedVersion(fmt.Sprintf(`{"supported":[%q]}`, revision.Newest().Name)), true, false},
		{"an older one", unsupportedVersion(fmt.Sprintf(`{"supported":[%q]}`, revision.All()[0].Name)), false, true},
		{"a stranger's", unsupportedVersion(`{"supported":["1.0"]}`), false, false},
		{"none", unsupportedVersion(``), false, false},
		{"another error", &jsonrpc.Error{Code: -32602}, false, false},
		{"an error of ours", errors.New("no"), false, false},
	} {
		next, again := a.Revise(tc.err)
		if (next != nil) != tc.next || again != tc.again {
			t.Errorf("%s: %v, %v", tc.name, next, again)
		}
	}
	if next, again := agreement(t, revision.NewestHandshake()).Revise(unsupportedVersion(fmt.Sprintf(`{"supported":[%q]}`, revision.Newest().Name))); next != nil || again {
		t.Error("a session was revised")
	}
}
