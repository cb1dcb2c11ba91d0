package streamable_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/streamable"
)

// clerk is a server whose tools keep state for the next round.
func clerk(name string) *server.Server {
	s := server.New(name, "1", nil)
	for _, tool := range []string{"a", "b"} {
		s.AddTool(mcp.Tool{Name: tool}, server.CallFunc(func(_ context.Context, c *mcp.Call, _ struct {
			N int `json:"n,omitzero"`
		}) (string, error) {
			if c.State() != nil {
				return "accepted", nil
			}
			if err := c.Keep("seen"); err != nil {
				return "", err
			}
			return "", mcp.ErrInputRequired
		}))
	}
	return s
}

// State that is not for this very request costs it a 400; see also package
// lifecycle, which makes the mutants.
func TestStateOfOthersIsABadRequest_R074(t *testing.T) {
	at := func(name string, secrets ...string) *site {
		opts := &streamable.Options{StateSecret: []byte(secrets[0])}
		for _, secret := range secrets[1:] {
			opts.OtherStateSecrets = append(opts.OtherStateSecrets, []byte(secret))
		}
		return openBehind(t, clerk(name), opts, principals)
	}
	call := func(s *site, tool, arguments, state, user string) response {
		params := `"name":"` + tool + `","arguments":` + arguments
		if state != "" {
			params += `,"requestState":"` + state + `"`
		}
		return s.post(modernBody("tools/call", params), modernHeaders("tools/call", tool, "X-User: "+user)...)
	}
	stateOf := func(s *site) string {
		var answer struct {
			Result struct {
				State string `json:"requestState"`
			} `json:"result"`
		}
		res := call(s, "a", "{}", "", "alice")
		if err := json.Unmarshal(jsontext.Value(res.body), &answer); err != nil || answer.Result.State == "" {
			t.Fatalf("no state in %s: %v", res.body, err)
		}
		return answer.Result.State
	}
	ours := at("ours", "next", "last")
	good := stateOf(ours)
	call(ours, "a", "{}", good, "alice").wantText(t, "accepted")
	call(ours, "a", "{}", stateOf(at("ours", "last")), "alice").wantText(t, "accepted")
	for name, res := range map[string]response{
		"altered":                        call(ours, "a", "{}", strings.ToUpper(good), "alice"),
		"cut":                            call(ours, "a", "{}", good[:len(good)-4], "alice"),
		"of another user":                call(ours, "a", "{}", good, "bob"),
		"of nobody":                      call(ours, "a", "{}", good, ""),
		"of another tool":                call(ours, "b", "{}", good, "alice"),
		"of other arguments":             call(ours, "a", `{"n":1}`, good, "alice"),
		"of a server of another name":    call(ours, "a", "{}", stateOf(at("theirs", "next")), "alice"),
		"of a server of another secret":  call(ours, "a", "{}", stateOf(at("ours", "secret")), "alice"),
		"of a secret that was taken out": call(at("ours", "next"), "a", "{}", stateOf(at("ours", "last")), "alice"),
	} {
		t.Run(name, func(t *testing.T) { res.wantError(t, 400, -32602, "1") })
	}
}
