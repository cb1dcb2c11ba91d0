package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// chain asks one question after the other, each with the answers so far, and
// counts its runs.
func chain(runs *int, keys ...string) mcp.Handler {
	return introduced(func(_ context.Context, c *mcp.Call) (any, error) {
		*runs++
		said := ""
		for _, key := range keys {
			answer, err := form(c, key)
			if err != nil {
				return nil, err
			}
			said += string(answer.Content)
		}
		return map[string]string{"said": said}, nil
	})
}

// session makes a request of the handshake era whose questions ask answers.
func session(ask func(method string, params any) (string, error)) *Incoming {
	in := &Incoming{ID: jsonrpc.IntID(1), Method: "tools/call", Params: jsontext.Value(`{"name":"x"}`)}
	if ask != nil {
		in.Ask = answers(ask)
	}
	return in
}

type answers func(method string, params any) (string, error)

func (ask answers) Ask(_ context.Context, method string, params any, result *jsontext.Value) error {
	text, err := ask(method, params)
	*result = jsontext.Value(text)
	return err
}

func TestRoundsOfASessionAreBounded(t *testing.T) {
	runs, asked := 0, 0
	door := opened(t, introduced(func(_ context.Context, c *mcp.Call) (any, error) {
		runs++
		_, err := form(c, fmt.Sprintf("question %d", runs))
		return nil, err
	}), revision.NewestHandshake(), nil)
	_, err := answer(t, door, session(func(string, any) (string, error) { asked++; return `{"action":"cancel"}`, nil }))
	if code(err) != jsonrpc.CodeInternalError || !strings.Contains(err.Error(), "16 times") {
		t.Errorf("got %v, want an end of the questions", err)
	}
	if runs != maxRounds || asked != maxRounds {
		t.Errorf("it ran %d times and asked %d times, want %d", runs, asked, maxRounds)
	}
}

func TestAnswersOfEarlierRoundsAreCarriedAlong(t *testing.T) {
	t.Run("in a session", func(t *testing.T) {
		runs, n := 0, 0
		door := opened(t, chain(&runs, "a", "b", "c"), revision.NewestHandshake(), nil)
		got, err := answer(t, door, session(func(string, any) (string, error) {
			n++
			return fmt.Sprintf(`{"action":"accept","content":{"n":%d}}`, n), nil
		}))
		if err != nil || !strings.Contains(got, `{\"n\":1}{\"n\":2}{\"n\":3}`) || runs != 4 {
			t.Errorf("got %s, %v after %d runs", got, err, runs)
		}
	})
	t.Run("through the client", func(t *testing.T) {
		runs := 0
		door := NewStateless(chain(&runs, "a", "b", "c"), quiet())
		params, got := `{"name":"x"}`, ""
		for n, key := range []string{"a", "b", "c", ""} {
			var err error
			if got, err = answer(t, door, modern("tools/call", params)); err != nil {
				t.Fatal(err)
			}
			if key == "" {
				break
			}
			if !strings.Contains(got, `"inputRequests":{"`+key+`":`) {
				t.Fatalf("round %d asks %s, want %s", n, got, key)
			}
			params = fmt.Sprintf(`{"name":"x","inputResponses":{%q:{"action":"accept","content":{"n":%d}}}`, key, n+1)
			if n > 0 {
				params += `,"requestState":"` + stateOf(t, got) + `"`
			}
			params += "}"
		}
		if !strings.Contains(got, `{\"n\":1}{\"n\":2}{\"n\":3}`) || runs != 4 {
			t.Errorf("got %s after %d runs", got, runs)
		}
	})
}

func TestANewerAnswerWins(t *testing.T) {
	runs := 0
	door := NewStateless(chain(&runs, "a", "b"), quiet())
	first, err := answer(t, door, modern("tools/call", `{"name":"x","inputResponses":{"a":{"action":"accept","content":{"n":1}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := answer(t, door, modern("tools/call", `{"name":"x","requestState":"`+stateOf(t, first)+
		`","inputResponses":{"a":{"action":"accept","content":{"n":9}},"b":{"action":"accept","content":{"n":2}}}}`))
	if err != nil || !strings.Contains(got, `{\"n\":9}{\"n\":2}`) {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestAnswersThatNobodyReadAreNotKept(t *testing.T) {
	runs := 0
	sealer := NewSealer(nil)
	opts := quiet()
	opts.Sealer = sealer
	in := modern("tools/call", `{"name":"x","inputResponses":{"a":{"action":"cancel"},"spam":{"action":"cancel"}}}`)
	got, err := answer(t, NewStateless(chain(&runs, "a", "b"), opts), in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sealer.open(stateOf(t, got), bindingOf("x", in), later); err == nil {
		t.Fatal("state is good for an hour, want ten minutes")
	}
	kept, err := sealer.open(stateOf(t, got), bindingOf("x", in), later.Add(-55*60e9))
	if err != nil {
		t.Fatal(err)
	}
	if len(kept.Answers) != 1 || kept.Answers["a"] == nil {
		t.Errorf("the state holds %v, want the answer to a", kept.Answers)
	}
}

func TestQuestionsThatCannotBeAsked(t *testing.T) {
	runs := 0
	lost := errors.New("connection lost")
	for _, test := range []struct {
		name string
		ask  func(string, any) (string, error)
		code int
		want string
	}{
		{"there is no way to ask", nil, jsonrpc.CodeInvalidRequest, "no way to ask"},
		{"the client answers with an error", func(string, any) (string, error) { return "", &jsonrpc.Error{Code: -1, Message: "go away"} },
			jsonrpc.CodeInternalError, "the client answered elicitation/create with an error: go away"},
		{"the connection breaks", func(string, any) (string, error) { return "", lost }, 0, "connection lost"},
		{"the answer is of the wrong kind", func(string, any) (string, error) { return `[1]`, nil }, jsonrpc.CodeInvalidParams, "is not a result of elicitation/create"},
	} {
		t.Run(test.name, func(t *testing.T) {
			door := opened(t, chain(&runs, "a"), revision.NewestHandshake(), nil)
			if _, err := answer(t, door, session(test.ask)); err == nil || code(err) != test.code || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q with code %d", err, test.want, test.code)
			}
		})
	}
}

func TestAHandlerThatAsksNothingIsAnInternalError(t *testing.T) {
	empty := introduced(func(context.Context, *mcp.Call) (any, error) { return nil, mcp.ErrInputRequired })
	if _, err := answer(t, NewStateless(empty, quiet()), modern("tools/call", `{"name":"x"}`)); err == nil || code(err) != 0 {
		t.Errorf("stateless: got %v", err)
	}
	never := func(string, any) (string, error) { t.Error("it asked"); return "", nil }
	if _, err := answer(t, opened(t, empty, revision.NewestHandshake(), nil), session(never)); code(err) != jsonrpc.CodeInvalidRequest {
		t.Errorf("session: got %v", err)
	}
}

func TestOnlySomeMethodsMayAsk(t *testing.T) {
	runs := 0
	door := NewStateless(chain(&runs, "a"), quiet())
	for method, may := range map[string]bool{
		mcp.MethodCallTool: true, mcp.MethodGetPrompt: true, mcp.MethodReadResource: true, "example/custom": true,
		mcp.MethodListTools: false, mcp.MethodListPrompts: false, mcp.MethodListResources: false,
		mcp.MethodListResourceTemplates: false, mcp.MethodComplete: false,
	} {
		if got, err := answer(t, door, modern(method, `{}`)); (err == nil) != may || may && !strings.Contains(got, mcp.ResultInputRequired) {
			t.Errorf("%s: got %s, %v", method, got, err)
		}
	}
}

func TestAQuestionIsAskedOnceARound(t *testing.T) {
	twice := introduced(func(_ context.Context, c *mcp.Call) (any, error) {
		_, err1 := form(c, "a")
		_, err2 := form(c, "a")
		return struct{}{}, errors.Join(err1, err2)
	})
	got, err := answer(t, NewStateless(twice, quiet()), modern("tools/call", `{"name":"x"}`))
	if err != nil || strings.Count(got, `"a":{"method"`) != 1 {
		t.Errorf("stateless: got %s, %v", got, err)
	}
	asked := 0
	ask := func(string, any) (string, error) { asked++; return `{"action":"cancel"}`, nil }
	if _, err := answer(t, opened(t, twice, revision.NewestHandshake(), nil), session(ask)); err != nil || asked != 1 {
		t.Errorf("session: asked %d times, %v", asked, err)
	}
}

func TestKeptStateComesBack(t *testing.T) {
	keeper := introduced(func(_ context.Context, c *mcp.Call) (any, error) {
		if c.State() != nil {
			return map[string]string{"kept": string(c.State())}, nil
		}
		return nil, errors.Join(c.Keep(map[string]int64{"n": 9007199254740993}), mcp.ErrInputRequired)
	})
	if got, err := answer(t, opened(t, keeper, revision.NewestHandshake(), nil), session(nil)); err != nil || !strings.Contains(got, "9007199254740993") {
		t.Errorf("in a session: got %s, %v", got, err)
	}
	door := NewStateless(keeper, quiet())
	first, err := answer(t, door, modern("tools/call", `{"name":"x"}`))
	if err != nil || strings.Contains(first, "inputRequests") {
		t.Fatalf("got %s, %v; want state alone", first, err)
	}
	got, err := answer(t, door, modern("tools/call", `{"name":"x","requestState":"`+stateOf(t, first)+`"}`))
	if err != nil || !strings.Contains(got, "9007199254740993") {
		t.Errorf("got %s, %v", got, err)
	}
}
