package mcptest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
	"github.com/bossman-mcp/bossman/mcptest"
	"github.com/bossman-mcp/bossman/server"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func TestLinesGoBothWays(t *testing.T) {
	c := mcptest.Connect(t, fixture(t, ""), nil)
	c.Send(ping)
	if got, want := c.Receive(), `{"jsonrpc":"2.0","id":1,"result":{}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.Send("nonsense")
	if got := c.Receive(); !strings.Contains(got, "-32700") {
		t.Errorf("got %s, want a parse error", got)
	}
}

func TestAnswersStillArriveAfterClose(t *testing.T) {
	slow := mcp.HandlerFunc(func(ctx context.Context, _ *mcp.Call) (any, error) {
		time.Sleep(20 * time.Millisecond)
		return struct{}{}, ctx.Err()
	})
	synctest.Test(t, func(t *testing.T) {
		c := mcptest.Connect(t, slow, nil)
		c.Send(`{"jsonrpc":"2.0","id":1,"method":"slow"}`)
		c.Close()
		if got, want := c.Unread(), `{"jsonrpc":"2.0","id":1,"result":{}}`; len(got) != 1 || got[0] != want {
			t.Errorf("unread are %q, want %s", got, want)
		}
		if got := c.Receive(); !strings.Contains(got, "result") {
			t.Errorf("received %s", got)
		}
		c.Close() // a second time does nothing
	})
}

func TestASilentServerFailsTheTestAfterABoundedWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		said := failures(func(t testing.TB) {
			mcptest.Connect(t, server.New("silent", "1", nil), &mcptest.Options{Wait: time.Minute}).Receive()
		})
		if took := time.Since(start); took != time.Minute || !strings.Contains(said, "nothing came") {
			t.Errorf("after %v: %s", took, said)
		}
	})
}

func TestReceivingAfterTheEndFailsAtOnce(t *testing.T) {
	said := failures(func(t testing.TB) {
		c := mcptest.Connect(t, server.New("s", "1", nil), nil)
		c.Close()
		c.Receive()
	})
	if !strings.Contains(said, "has ended") {
		t.Errorf("the test said %q", said)
	}
}

func TestAServerThatDoesNotReadFailsTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		stuck := mcp.HandlerFunc(func(context.Context, *mcp.Call) (any, error) { <-free; return nil, nil })
		said := failures(func(t testing.TB) {
			defer close(free)
			c := mcptest.Connect(t, stuck, nil)
			c.Send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"x","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
			c.Send(ping)
		})
		if !strings.Contains(said, "does not read") {
			t.Errorf("the test said %q", said)
		}
	})
}

// brokenTransport fails instead of ending.
type brokenTransport struct{ peer.Transport }

func (b brokenTransport) Receive(ctx context.Context) ([]byte, error) {
	message, err := b.Transport.Receive(ctx)
	if err != nil {
		err = errors.New("the line is cut")
	}
	return message, err
}

func TestAnUncleanEndFailsTheTest(t *testing.T) {
	said := failures(func(t testing.TB) {
		mcptest.Connect(t, server.New("s", "1", nil), &mcptest.Options{
			Wrap: func(t peer.Transport) peer.Transport { return brokenTransport{t} },
		})
	})
	if !strings.Contains(said, "the line is cut") {
		t.Errorf("the test said %q", said)
	}
}

func TestRequestsInEveryRevision(t *testing.T) {
	for _, rev := range revision.All() {
		t.Run(rev.Name, func(t *testing.T) {
			c := mcptest.Connect(t, fixture(t, ""), nil)
			if !rev.Stateless {
				if got := string(c.Handshake(rev.Name)); !strings.Contains(got, rev.Name) {
					t.Errorf("the handshake agreed on %s", got)
				}
			}
			result, err := c.Request("tools/call", map[string]any{"name": "add", "arguments": map[string]int{"a": 1, "b": 2}})
			if err != nil || strings.Contains(string(result), "resultType") != rev.Stateless {
				t.Errorf("got %s, %v", result, err)
			}
			_, err = c.Request("tools/call", &mcp.CallToolParams{Name: "nothing"})
			var wire *jsonrpc.Error
			if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
				t.Errorf("got %v, want invalid params", err)
			}
		})
	}
}

func TestRequestKeepsTheMetaItIsGiven(t *testing.T) {
	c := mcptest.Connect(t, fixture(t, ""), nil)
	if _, err := c.Request("tools/call", jsontext.Value(`{"name":"count","arguments":{"to":1},"_meta":{"progressToken":"p"}}`)); err != nil {
		t.Fatal(err)
	}
	if got := c.Receive(); !strings.Contains(got, `"progressToken":"p"`) {
		t.Errorf("received %s, want progress", got)
	}
}

func TestQuestionsAreAnsweredInBothEras(t *testing.T) {
	everything := mcp.ClientCapabilities{
		Elicitation: &mcp.ElicitationCapability{}, Sampling: &mcp.SamplingCapability{}, Roots: &mcp.RootsCapability{},
	}
	answer := func(method string, _ jsontext.Value) (any, error) {
		switch method {
		case mcp.MethodElicit:
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: jsontext.Value(`{"x":1}`)}, nil
		case mcp.MethodListRoots:
			return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///srv"}}}, nil
		}
		return nil, errors.New("no model at hand")
	}
	for _, era := range []string{"handshake", "stateless"} {
		t.Run(era, func(t *testing.T) {
			c := mcptest.Connect(t, fixture(t, ""), &mcptest.Options{Capabilities: everything, Answer: answer})
			if era == "handshake" {
				c.Handshake("")
			}
			for tool, want := range map[string]string{
				"survey": `{\"x\":1} from file:///srv`, "wizard": `{\"x\":1} {\"x\":1} {\"step\":1}`, "where": "1 roots",
			} {
				result, err := c.Request("tools/call", &mcp.CallToolParams{Name: tool})
				if err != nil || !strings.Contains(string(result), want) {
					t.Errorf("%s: got %s, %v; want %s", tool, result, err, want)
				}
			}
			if era == "handshake" {
				if _, err := c.Request("tools/call", &mcp.CallToolParams{Name: "think"}); err == nil || !strings.Contains(err.Error(), "no model") {
					t.Errorf("got %v, want the refusal of the client", err)
				}
			}
			if unread := c.Unread(); len(unread) > 0 {
				t.Errorf("unread: %q", unread)
			}
		})
	}
}

func TestParamsMustBeAnObject(t *testing.T) {
	said := failures(func(t testing.TB) {
		_, _ = mcptest.Connect(t, server.New("s", "1", nil), nil).Request("tools/call", []int{1})
	})
	if !strings.Contains(said, "not an object") {
		t.Errorf("the test said %q", said)
	}
}

func TestAHandshakeThatIsRefusedFailsTheTest(t *testing.T) {
	refuse := mcp.HandlerFunc(func(context.Context, *mcp.Call) (any, error) { return nil, jsonrpc.InvalidRequest("closed today") })
	if said := failures(func(t testing.TB) { mcptest.Connect(t, refuse, nil).Handshake("") }); !strings.Contains(said, "closed today") {
		t.Errorf("the test said %q", said)
	}
}

func TestThePrincipalAndTheStateAreAsTold(t *testing.T) {
	who := mcp.HandlerFunc(func(_ context.Context, c *mcp.Call) (any, error) { return c.Principal.ID(), nil })
	c := mcptest.Connect(t, who, &mcptest.Options{Principal: &mcp.Principal{Name: "ada"}})
	if got, err := c.Request("who", nil); err != nil || string(got) != `"ada"` {
		t.Errorf("got %s, %v", got, err)
	}

	form := &mcptest.Options{StateSecret: []byte("shared"), Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}}
	one, other := mcptest.Connect(t, fixture(t, ""), form), mcptest.Connect(t, fixture(t, ""), form)
	first := jsontext.Value(`{"name":"wizard","inputResponses":{"name":{"action":"cancel"}}}`)
	result, err := one.Request("tools/call", first)
	if err != nil {
		t.Fatal(err)
	}
	_, state, _ := strings.Cut(string(result), `"requestState":"`)
	state, _, _ = strings.Cut(state, `"`)
	second := jsontext.Value(`{"name":"wizard","inputResponses":{"colour":{"action":"cancel"}},"requestState":"` + state + `"}`)
	if result, err := other.Request("tools/call", second); err != nil || !strings.Contains(string(result), "complete") {
		t.Errorf("another connection with the secret: got %s, %v", result, err)
	}
}

func TestManyMaySendAtOnce(t *testing.T) {
	c := mcptest.Connect(t, fixture(t, ""), nil)
	var senders sync.WaitGroup
	for range 50 {
		senders.Go(func() { c.Send(`{"jsonrpc":"2.0","method":"notifications/x"}`) })
	}
	senders.Wait()
	c.Send(ping)
	c.Receive()
}
