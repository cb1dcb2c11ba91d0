package client_test

import (
	"context"
	"errors"
	"fmt"
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

// willing answers forms and roots.
func willing() *client.Options {
	return &client.Options{
		Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
		},
		Roots: func(context.Context) ([]mcp.Root, error) { return nil, nil },
	}
}

// asks is a result with one question, and with more members.
func asks(method, params, more string) string {
	return fmt.Sprintf(`{"resultType":"input_required","inputRequests":{"q":{"method":%q,"params":%s}}%s}`, method, params, more)
}

const plainForm = `{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"integer","default":7}}}}`

func TestQuestionsAreAnsweredInANewRequestWithTheStateByteForByte(t *testing.T) {
	// Escapes that a decoder would undo, and an encoder would not write.
	states := []string{`"opaque"`, `"\u0041\/\u00e9é\ud83d\ude00"`, `""`, ""}
	for _, state := range states {
		t.Run("state "+state, func(t *testing.T) {
			more := ""
			if state != "" {
				more = `,"requestState":` + state
			}
			s := &script{serve: func(f *fake, _ int) {
				f.modern(func(m jsonrpc.Message) {
					name := jsonscan.Unquote(jsonscan.Get(m.Params, "name"))
					if name == "asks" && jsonscan.Get(m.Params, "inputResponses") == nil {
						f.reply(m, asks(mcp.MethodElicit, plainForm, more))
						return
					}
					f.reply(m, text("done"))
				})
			}}
			c := connect(t, s, willing())
			for _, tool := range []string{"asks", "unrelated"} {
				if _, err := c.CallTool(t.Context(), tool, map[string]any{"x": 1}, nil); err != nil {
					t.Fatal(err)
				}
			}
			calls := s.requests(mcp.MethodCallTool)
			if len(calls) != 3 {
				t.Fatalf("%d calls", len(calls))
			}
			first, retry, unrelated := calls[0], calls[1], calls[2]
			if first.ID == retry.ID {
				t.Error("the retry has the id of the first request")
			}
			if got := string(jsonscan.Get(retry.Params, "requestState")); got != state {
				t.Errorf("the state came back as %s, want %s", got, state)
			}
			if got := string(jsonscan.Get(retry.Params, "inputResponses")); got != `{"q":{"action":"accept","content":{"a":7}}}` {
				t.Errorf("answered %s", got)
			}
			for _, member := range []string{"name", "arguments"} {
				if a, b := jsonscan.Get(first.Params, member), jsonscan.Get(retry.Params, member); string(a) != string(b) {
					t.Errorf("%s changed from %s to %s", member, a, b)
				}
			}
			if strings.Contains(string(unrelated.Params), "inputResponses") || strings.Contains(string(unrelated.Params), "requestState") {
				t.Errorf("the answers leaked into %s", unrelated.Params)
			}
		})
	}
}

func TestResourcesAndPromptsMayAskToo(t *testing.T) {
	s := &script{serve: func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) {
			switch {
			case jsonscan.Get(m.Params, "requestState") == nil:
				f.reply(m, asks(mcp.MethodListRoots, `{}`, `,"requestState":"s"`))
			case m.Method == mcp.MethodReadResource:
				f.reply(m, `{"resultType":"complete","ttlMs":60000,"cacheScope":"public","contents":[{"uri":"a","text":"read"}]}`)
			default:
				f.reply(m, `{"resultType":"complete","messages":[{"role":"user","content":{"type":"text","text":"got"}}]}`)
			}
		})
	}}
	c := connect(t, s, willing())
	for range 2 { // what took questions is never kept
		if r, err := c.ReadResource(t.Context(), "a", nil); err != nil || r.Contents[0].Text != "read" {
			t.Errorf("read: %v, %v", r, err)
		}
	}
	if got := len(s.requests(mcp.MethodReadResource)); got != 4 {
		t.Errorf("%d requests, want 4", got)
	}
	if p, err := c.GetPrompt(t.Context(), "p", nil, nil); err != nil || len(p.Messages) != 1 {
		t.Errorf("prompt: %v, %v", p, err)
	}
}

func TestQuestionsThatCannotBeAnsweredFailTheCallLocally(t *testing.T) {
	elsewhere := &jsonrpc.Error{Code: -32000, Message: "another server's error"}
	for _, tc := range []struct {
		name, result string
		change       func(o *client.Options)
		say          string
	}{
		{"a method of the server's own", asks("x/y", `{}`, ""), nil, "Method not found"},
		{"a model that we do not have", asks(mcp.MethodCreateMessage, `{"messages":[],"maxTokens":1}`, ""), nil, "Method not found"},
		{"a visit that we do not make", asks(mcp.MethodElicit, `{"mode":"url","url":"https://example.org","message":"?"}`, ""), nil, `mode "url"`},
		{"a form that is no object", asks(mcp.MethodElicit, `[]`, ""), nil, "form"},
		{"a mode from the future", asks(mcp.MethodElicit, `{"mode":"telepathy","message":"?"}`, ""), nil, "telepathy"},
		{"a handler's error", asks(mcp.MethodElicit, plainForm, ""), func(o *client.Options) {
			o.Elicit = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return nil, fmt.Errorf("ask elsewhere: %w", elsewhere)
			}
		}, "another server's error"},
		{"a handler's nothing", asks(mcp.MethodElicit, plainForm, ""), func(o *client.Options) {
			o.Elicit = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) { return nil, nil }
		}, "returned no"},
		{"values that do not fit", asks(mcp.MethodElicit, plainForm, ""), func(o *client.Options) {
			o.Elicit = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: jsontext.Value(`{"a":"x"}`)}, nil
			}
		}, "form's values"},
		{"values that are no JSON", asks(mcp.MethodElicit, plainForm, ""), func(o *client.Options) {
			o.Elicit = func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: jsontext.Value(`{"a":1`)}, nil
			}
		}, "form's values"},
		{"a type of result from the future", `{"resultType":"later","content":[]}`, nil, "unknown type"},
		{"input that is not named", `{"resultType":"input_required"}`, nil, "asks for none"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &script{serve: func(f *fake, _ int) {
				f.modern(func(m jsonrpc.Message) { f.reply(m, tc.result) })
			}}
			opts := willing()
			if tc.change != nil {
				tc.change(opts)
			}
			c := connect(t, s, opts)
			_, err := c.CallTool(t.Context(), "x", nil, nil)
			var ours *client.LocalError
			var theirs *jsonrpc.Error
			if !errors.As(err, &ours) || errors.As(err, &theirs) || !strings.Contains(err.Error(), tc.say) {
				t.Errorf("got %v", err)
			}
			if got := len(s.requests(mcp.MethodCallTool)); got != 1 {
				t.Errorf("%d requests", got)
			}
		})
	}
}

func TestAFormThatIsNoSchemaIsNotChecked(t *testing.T) {
	for _, form := range []string{`{"type":7}`, `null`, `{"$ref":"http://127.0.0.1:1/x"}`} {
		s := &script{serve: func(f *fake, _ int) {
			f.modern(func(m jsonrpc.Message) {
				if jsonscan.Get(m.Params, "inputResponses") == nil {
					f.reply(m, asks(mcp.MethodElicit, `{"message":"?","requestedSchema":`+form+`}`, ""))
					return
				}
				f.reply(m, text("done"))
			})
		}}
		c := connect(t, s, willing())
		if _, err := c.CallTool(t.Context(), "x", nil, nil); err != nil {
			t.Errorf("%s: %v", form, err)
		}
		retry := s.requests(mcp.MethodCallTool)[1]
		if got := string(jsonscan.Get(retry.Params, "inputResponses")); got != `{"q":{"action":"accept","content":{}}}` {
			t.Errorf("%s: answered %s", form, got)
		}
	}
}

func TestAUserIsSentToWebAddressesOnly(t *testing.T) {
	for address, want := range map[string]bool{
		"https://example.org/a?b": true, "http://127.0.0.1:1": true,
		"javascript:alert(1)": false, "file:///etc/passwd": false, "https:///x": false, "ftp://example.org": false, "": false, "://": false,
	} {
		both(t, func(t *testing.T, era string, play func(*fake, func(jsonrpc.Message))) {
			visited := false
			opts := &client.Options{Visit: func(_ context.Context, p *mcp.ElicitParams) (mcp.ElicitAction, error) {
				visited = true
				return mcp.ElicitAccept, nil
			}}
			params := fmt.Sprintf(`{"mode":"url","message":"?","url":%q,"elicitationId":"e"}`, address)
			answered := make(chan jsonrpc.Message, 1)
			s := &script{serve: func(f *fake, _ int) {
				play(f, func(m jsonrpc.Message) {
					switch {
					case m.IsResponse():
						answered <- m
						f.say(`{"jsonrpc":"2.0","id":%d,"result":%s}`, 3, text("done"))
					case era == "handshake":
						f.say(`{"jsonrpc":"2.0","id":"ask","method":%q,"params":%s}`, mcp.MethodElicit, params)
					case jsonscan.Get(m.Params, "inputResponses") == nil:
						f.reply(m, asks(mcp.MethodElicit, params, ""))
					default:
						f.reply(m, text("done"))
					}
				})
			}}
			c := connect(t, s, opts)
			_, err := c.CallTool(t.Context(), "x", nil, nil)
			if visited != want || era == "stateless" && (err == nil) != want {
				t.Errorf("%q: visited %v, %v", address, visited, err)
			}
			if era == "handshake" {
				if m := <-answered; (m.Error == nil) != want || want && string(m.Result) != `{"action":"accept"}` {
					t.Errorf("%q: answered %s, %v", address, m.Result, m.Error)
				}
			}
		})
	}
}

func TestAServerThatOnlyWantsToBeAskedAgainIsAskedSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		s := &script{serve: func(f *fake, _ int) {
			f.modern(func(m jsonrpc.Message) {
				if asked++; asked <= 10 {
					f.reply(m, `{"resultType":"input_required","requestState":"s"}`)
					return
				}
				f.reply(m, text("done"))
			})
		}}
		c := connect(t, s, nil)
		start := time.Now()
		if _, err := c.CallTool(t.Context(), "x", nil, nil); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took < 5*time.Second || took > time.Minute {
			t.Errorf("took %v", took)
		}
		asked = -1000
		if _, err := c.CallTool(t.Context(), "x", nil, nil); err == nil || !strings.Contains(err.Error(), "never answered") {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		asked = -1000
		if _, err := c.CallTool(ctx, "x", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestARequestOfAServerThatMayNotSendOneIsLeftUnanswered(t *testing.T) {
	s := &script{serve: func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) {
			if m.IsResponse() {
				t.Errorf("answered %s, %v", m.Result, m.Error)
			}
			f.say(`{"jsonrpc":"2.0","id":"ask %s","method":%q,"params":%s}`, m.ID, mcp.MethodElicit, plainForm)
			f.reply(m, text("done"))
		})
	}}
	c := connect(t, s, willing())
	for range 3 {
		if _, err := c.CallTool(t.Context(), "x", nil, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestPingsOfAServerAreAnswered(t *testing.T) {
	pong := make(chan struct{})
	s := &script{serve: func(f *fake, _ int) {
		f.legacy(func(m jsonrpc.Message) {
			if m.IsResponse() && string(m.Result) == `{}` {
				close(pong)
			} else {
				f.say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
				f.reply(m, text("done"))
			}
		})
	}}
	c := connect(t, s, nil)
	if _, err := c.CallTool(t.Context(), "x", nil, nil); err != nil {
		t.Error(err)
	}
	<-pong
}
