package streamable_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bossman-mcp/bossman/mcp"
)

// All revisions at once on one endpoint; every client counts its ids from 0 and
// must see its own answers and progress only.
func TestAllErasSideBySide(t *testing.T) { // R049
	s := open(t, newBench(), nil)
	const rounds = 15
	mine := func(who string, round int) (string, string) {
		return fmt.Sprintf(`{"who":"%s","round":%d}`, who, round), fmt.Sprintf(`{\"who\":\"%s\",\"round\":%d}`, who, round)
	}
	var wg sync.WaitGroup
	for client := range 4 {
		wg.Go(func() {
			for round := range rounds {
				arguments, want := mine(fmt.Sprint("modern", client), round)
				s.callTool("echo", arguments).wantText(t, want)
			}
		})
		for _, version := range append([]string{"2024-11-05"}, sessionVersions...) {
			wg.Go(func() {
				c := s.join(version)
				for round := range rounds {
					arguments, want := mine(fmt.Sprint(version, client), round)
					c.call(round, "echo", arguments).wantText(t, want)
					e := c.stream(http.MethodPost, callBody(round, "count", "{}"))
					for range 3 {
						if m := e.message(); !strings.Contains(string(m.Params), fmt.Sprintf(`"progressToken":%d`, round)) {
							t.Errorf("%s: foreign progress %s", version, m.Params)
						}
					}
					if m := e.message(); string(m.ID) != fmt.Sprint(round) {
						t.Errorf("%s: foreign answer %+v", version, m)
					}
				}
				c.do(http.MethodDelete)
			})
		}
		wg.Go(func() {
			c := s.openPair(t)
			c.join("2024-11-05")
			for round := range rounds {
				arguments, want := mine(fmt.Sprint("pair", client), round)
				c.send(callBody(round, "echo", arguments))
				if m := c.message(); string(m.ID) != fmt.Sprint(round) || !strings.Contains(string(m.Result), want) {
					t.Errorf("pair: got %+v, want %s", m, want)
				}
			}
			c.close()
		})
	}
	wg.Wait()
	eventually(t, "nothing is left", func() bool { st := s.e.Stats(); return st.Sessions == 0 && st.Streams == 0 })
}

func TestTheProbeOfNewClients(t *testing.T) {
	s := open(t, newBench(), nil)
	s.post(modernBody("server/discover", ""), modernHeaders("server/discover", "")...).wantText(t, `"supportedVersions":["`+newest+`"]`)
	// In a session it is unknown, and the session lives on.
	c := s.join(lastSession)
	c.post(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`).wantError(t, 200, -32601, "1")
	c.call(2, "hello", "{}").wantText(t, "hello")
	// A request that describes itself is served by what it says, session or not.
	c.site.post(modernBody("tools/call", `"name":"hello","arguments":{}`), modernHeaders("tools/call", "hello", "Mcp-Session-Id: "+c.id)...).wantText(t, "resultType")
	// One whose header alone is new is told what it lacks.
	c.post(ping(1), "MCP-Protocol-Version: "+newest, "Mcp-Method: ping").wantError(t, 400, -32602, "1")
	// One whose body alone is new is told so.
	s.post(modernBody("ping", ""), "MCP-Protocol-Version: 2025-11-25").wantError(t, 400, mcp.CodeHeaderMismatch, "1")
	s.post(modernBody("initialize", `"protocolVersion":"`+newest+`"`), "Mcp-Method: initialize").wantError(t, 400, mcp.CodeHeaderMismatch, "1")
}

func TestWhatProbesOfOtherKindsGet(t *testing.T) {
	s := open(t, newBench(), nil)
	// One client looks at the endpoint and at well-known places first.
	for _, path := range []string{"/mcp", "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server/mcp"} {
		at := *s
		at.url = s.srv.URL + path
		if res := at.do(http.MethodGet, "", "Accept: */*", "MCP-Protocol-Version: 2024-11-05"); res.status < 400 || res.status > 499 {
			t.Errorf("%s: got %d, want a refusal", path, res.status)
		}
	}
	// Another opens a whole session only to see whether it can.
	for range 3 {
		s.join(lastSession).do(http.MethodDelete)
	}
	if got := s.e.Stats().Sessions; got != 0 {
		t.Errorf("%d sessions are left", got)
	}
}
