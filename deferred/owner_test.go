package deferred_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// strangers are principals that are not ann, with the id that each tries.
func strangers(id string) map[string]string {
	return map[string]string{"bob": id, "": id, "Ann": id, "ann ": id}
}

func TestResultsOfOthersLookUnknown(t *testing.T) { // R076
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		ann := f.as(t, "ann")
		working, parked, done := ann.call("wait", "{}").ID, ann.call("confirm", "{}").ID, ann.call("add", `{"a":1,"b":2}`).ID
		synctest.Wait()
		for _, id := range []string{working, parked, done} {
			before := ann.get(id)
			for name := range strangers(id) {
				u := f.as(t, name)
				for method, params := range map[string]string{
					mcp.MethodGetDeferred:    `{"taskId":"` + id + `"}`,
					mcp.MethodCancelDeferred: `{"taskId":"` + id + `"}`,
					mcp.MethodUpdateDeferred: `{"taskId":"` + id + `","inputResponses":{"name":{"action":"accept","content":{"value":"x"}},"city":"wrong"}}`,
				} {
					_, real := u.Request(method, jsontext.Value(params))
					wantCode(t, name+" "+method, real, jsonrpc.CodeInvalidParams)
					_, none := u.Request(method, jsontext.Value(strings.ReplaceAll(params, id, rand.Text())))
					if real.Error() != none.Error() {
						t.Errorf("%s: %v for a result of somebody, %v for none", method, real, none)
					}
				}
			}
			synctest.Wait()
			after := ann.get(id)
			if a, b := marshal(t, before), marshal(t, after); a != b {
				t.Errorf("strangers changed %s to %s", a, b)
			}
		}
	})
}

func TestSubscriptionsTellTheOwnerOnly(t *testing.T) { // R076
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		ann := f.as(t, "ann")
		id := ann.call("wait", "{}").ID
		synctest.Wait()
		for name := range strangers(id) {
			u := f.as(t, name)
			own := u.call("wait", "{}").ID
			u.Send(listen(id, own, id))
			ack := u.Receive()
			if agreed := jsonscan.Get(jsonscan.Get(jsonscan.Get([]byte(ack), "params"), "notifications"), "taskIds"); string(agreed) != `["`+own+`"]` {
				t.Errorf("%s is told of %s", name, agreed)
			}
			u.Receive() // the state of its own
			defer func() {
				synctest.Wait()
				for _, line := range u.Unread() {
					if strings.Contains(line, id) {
						t.Errorf("%s heard %s", name, line)
					}
				}
			}()
		}
		ann.cancel(id)
	})
}

func listen(ids ...string) string {
	quoted, _ := json.Marshal(ids)
	return `{"jsonrpc":"2.0","id":77,"method":"subscriptions/listen","params":{"notifications":{"taskIds":` + string(quoted) + `},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"` + revision.Newest().Name + `","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestGuessedIDsAreUnknown(t *testing.T) { // R076
	f := newFixture(t, nil)
	u := f.as(t, "")
	id := u.call("wait", "{}").ID
	for _, guess := range []string{
		"", " ", "1", strings.ToLower(id), id + " ", " " + id, id[:25], id + "A", "worker-" + id, id + "\x00", "../" + id, strings.Repeat("A", 26), strings.Repeat("A", 1<<20),
	} {
		params, err := json.Marshal(&mcp.DeferredParams{ID: guess})
		if err != nil {
			t.Fatal(err)
		}
		_, err = u.Request(mcp.MethodGetDeferred, jsontext.Value(params))
		wantCode(t, "get "+guess[:min(len(guess), 40)], err, jsonrpc.CodeInvalidParams)
	}
	seen := make(map[string]bool)
	for range 100 {
		id := u.call("add", `{"a":1,"b":2}`).ID
		if seen[id] || len(id) < 26 { // five bits a letter
			t.Errorf("the id %s is short, or not new", id)
		}
		seen[id] = true
	}
}

func TestWhatHasEndedStaysAsItIs(t *testing.T) { // R076
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		u := f.as(t, "ann")
		for tool, status := range map[string]mcp.DeferredStatus{
			"add": mcp.DeferredCompleted, "fail": mcp.DeferredCompleted, "break": mcp.DeferredFailed, "panic": mcp.DeferredFailed, "wait": mcp.DeferredCancelled,
		} {
			id := u.call(tool, map[bool]string{true: `{"a":1,"b":2}`, false: "{}"}[tool == "add"]).ID
			if tool == "wait" {
				u.cancel(id)
			}
			synctest.Wait()
			before := marshal(t, u.wantStatus(id, status))
			u.cancel(id)
			u.update(id, `{"name":{"action":"accept"},"x":1}`)
			u.cancel(id)
			synctest.Wait()
			if after := marshal(t, u.get(id)); after != before {
				t.Errorf("%s: %s became %s", tool, before, after)
			}
		}
	})
}

func TestAResultIsWhatTheCallWouldHaveReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		u := f.as(t, "")
		id := u.call("add", `{"a":1,"b":2}`).ID
		synctest.Wait()
		raw, err := u.Request(mcp.MethodGetDeferred, &mcp.DeferredParams{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		const want = `{"resultType":"complete","content":[{"type":"text","text":"{\"sum\":3}"}],"structuredContent":{"sum":3},"isError":false}`
		if got := string(jsonscan.Get(raw, "result")); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		again, _ := u.Request(mcp.MethodGetDeferred, &mcp.DeferredParams{ID: id})
		if string(raw) != string(again) {
			t.Errorf("the second look says %s, the first %s", again, raw)
		}
	})
}
