package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// methods are all the calls that decode a result.
func calls(ctx context.Context, c *client.Client) map[string]func() error {
	return map[string]func() error{
		"call":      func() error { _, err := c.CallTool(ctx, "x", nil, nil); return err },
		"tools":     func() error { _, err := client.Collect(c.Tools(ctx)); return err },
		"resources": func() error { _, err := client.Collect(c.Resources(ctx)); return err },
		"templates": func() error { _, err := client.Collect(c.ResourceTemplates(ctx)); return err },
		"prompts":   func() error { _, err := client.Collect(c.Prompts(ctx)); return err },
		"read":      func() error { _, err := c.ReadResource(ctx, "x", nil); return err },
		"prompt":    func() error { _, err := c.GetPrompt(ctx, "x", nil, nil); return err },
		"complete":  func() error { _, err := c.Complete(ctx, &mcp.CompleteParams{}); return err },
	}
}

func TestResultsOfTheWrongFormAreLocalErrors(t *testing.T) {
	both(t, func(t *testing.T, _ string, play func(*fake, func(jsonrpc.Message))) {
		var result string
		s := &script{serve: func(f *fake, _ int) { play(f, func(m jsonrpc.Message) { f.reply(m, result) }) }}
		c := connect(t, s, nil)
		for _, result = range []string{
			`null`, `7`, `"x"`, `[]`, `true`,
			`{"content":7,"tools":7,"resources":7,"resourceTemplates":7,"prompts":7,"contents":7,"messages":7,"completion":7}`,
			`{"content":{"type":"text"},"tools":{},"resources":{},"resourceTemplates":{},"prompts":{},"contents":"x","messages":{},"completion":[]}`,
			`{"content":[7],"contents":[7],"messages":[7],"completion":{"values":7}}`,
			`{"content":[{"type":7}],"contents":[{"blob":"!"}],"messages":[{"content":7}],"completion":{"values":[7]}}`,
			`{"content":[{"type":"image","data":7}],"contents":[{"uri":7}],"messages":[{"role":7}],"completion":{"total":"x"}}`,
		} {
			for name, call := range calls(t.Context(), c) {
				err := call()
				var ours *client.LocalError
				var theirs *jsonrpc.Error
				if !errors.As(err, &ours) || errors.As(err, &theirs) {
					t.Errorf("%s of %s: %v", name, result, err)
				}
			}
		}
	})
}

func TestAnswersThatAreNoneAreLocalErrors(t *testing.T) {
	for _, answer := range []string{
		`{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"both"}}`,
		`{"jsonrpc":"2.0","id":ID,"error":{"code":"x","message":"no"}}`,
		`{"jsonrpc":"2.0","id":ID,"error":null}`,
		`{"jsonrpc":"1.0","id":ID,"result":{}}`,
	} {
		s := &script{serve: func(f *fake, _ int) {
			f.modern(func(m jsonrpc.Message) { f.say("%s", strings.ReplaceAll(answer, "ID", m.ID.String())) })
		}}
		c := connect(t, s, nil)
		var ours *client.LocalError
		var theirs *jsonrpc.Error
		if _, err := c.CallTool(t.Context(), "x", nil, nil); !errors.As(err, &ours) || errors.As(err, &theirs) {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

func TestTheServersErrorsAreItsOwn(t *testing.T) {
	both(t, func(t *testing.T, _ string, play func(*fake, func(jsonrpc.Message))) {
		s := &script{serve: func(f *fake, _ int) { play(f, func(m jsonrpc.Message) { f.refuse(m, -32042, `{"a":1}`) }) }}
		c := connect(t, s, nil)
		for name, call := range calls(t.Context(), c) {
			err := call()
			var ours *client.LocalError
			var theirs *jsonrpc.Error
			if errors.As(err, &ours) || !errors.As(err, &theirs) || theirs.Code != -32042 || string(theirs.Data) != `{"a":1}` {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestAnEntryThatMakesNoSenseCostsOnlyItself(t *testing.T) {
	s := &script{serve: func(f *fake, _ int) {
		f.modern(func(m jsonrpc.Message) {
			f.reply(m, `{"resultType":"complete","tools":[7,{"name":"good","inputSchema":{}},{"name":8},{},{"name":"bad","annotations":[]},null,{"name":"also good","inputSchema":{"type":"object"}}]}`)
		})
	}}
	c := connect(t, s, nil)
	tools, err := client.Collect(c.Tools(t.Context()))
	if err != nil || len(tools) != 2 || tools[0].Name != "good" || tools[1].Name != "also good" {
		t.Errorf("got %v, %v", tools, err)
	}
}

// pages plays a list of tools, page by page.
func pages(next func(at string) (tool, cursor string)) func(f *fake, m jsonrpc.Message) {
	return func(f *fake, m jsonrpc.Message) {
		var p mcp.PageParams
		if err := decodeInto(m.Params, &p); err != nil {
			panic(err)
		}
		at := "start"
		if p.Cursor != nil {
			at = *p.Cursor
		}
		tool, cursor := next(at)
		more := ""
		if cursor != "end" {
			more = fmt.Sprintf(`,"nextCursor":%q`, cursor)
		}
		f.reply(m, fmt.Sprintf(`{"resultType":"complete","tools":[{"name":%q,"inputSchema":{}}]%s}`, tool, more))
	}
}

func TestCursorsAreFollowedAsTheyAre(t *testing.T) {
	both(t, func(t *testing.T, era string, play func(*fake, func(jsonrpc.Message))) {
		list := func(next func(string) (string, string)) ([]string, error) {
			s := &script{serve: func(f *fake, _ int) { play(f, func(m jsonrpc.Message) { pages(next)(f, m) }) }}
			c := connect(t, s, nil)
			var names []string
			for tool, err := range c.Tools(t.Context()) {
				if err != nil {
					return names, err
				}
				names = append(names, tool.Name)
			}
			return names, nil
		}
		odd := map[string]string{"start": "é\"\n", "é\"\n": " ", " ": "end"}
		if got, err := list(func(at string) (string, string) { return at, odd[at] }); err != nil || len(got) != 3 {
			t.Errorf("odd cursors: %q, %v", got, err)
		}
		empty := map[string]string{"start": "", "": "end"}
		want := map[string]int{"stateless": 2, "handshake": 1}[era] // older servers end a list by an empty cursor
		if got, err := list(func(at string) (string, string) { return "tool " + at, empty[at] }); err != nil || len(got) != want {
			t.Errorf("an empty cursor: %q, %v", got, err)
		}
		var ours *client.LocalError
		if got, err := list(func(at string) (string, string) { return at, "same" }); !errors.As(err, &ours) || len(got) > 3 {
			t.Errorf("a circle: %q, %v", got, err)
		}
	})
}

func TestAListCanBeLeftEarly(t *testing.T) {
	s := &script{serve: func(f *fake, _ int) {
		n := 0
		f.modern(func(m jsonrpc.Message) {
			pages(func(string) (string, string) { n++; return fmt.Sprint(n), fmt.Sprint(n) })(f, m)
		})
	}}
	c := connect(t, s, nil)
	for tool, err := range c.Tools(t.Context()) {
		if err != nil || tool.Name == "3" {
			break
		}
	}
	if got := len(s.requests(mcp.MethodListTools)); got != 3 {
		t.Errorf("asked for %d pages", got)
	}
	if _, err := client.Collect(c.Tools(t.Context())); err == nil || !strings.Contains(err.Error(), "pages") {
		t.Errorf("an endless list: %v", err)
	}
}
