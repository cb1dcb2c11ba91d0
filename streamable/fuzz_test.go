package streamable_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bossman-mcp/bossman/streamable"
)

// Whatever is posted, the answer is one of a few statuses, its body is JSON, and
// nobody learns how our insides look.
func FuzzPost(f *testing.F) {
	for _, body := range []string{
		modernAdd, listenBody, "[" + ping(1) + "]", ping(1), strings.ReplaceAll(initialize, "%s", lastSession), modernBody("tools/list", ""),
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `[]`, `{`,
		modernBody("tools/call", `"name":"sql","arguments":{"region":"x"}`),
	} {
		f.Add(body, newest, "tools/call", "=?base64?eA==?=")
		f.Add(body, "", "", "")
	}
	e := streamable.Handler(newBench(), &streamable.Options{Logger: slog.New(slog.DiscardHandler), MaxSessions: 100})
	f.Fuzz(func(t *testing.T, body, version, method, name string) {
		if strings.Contains(body, `"wait"`) || strings.Contains(body, `"speak"`) || strings.Contains(body, `"release"`) || strings.Contains(body, "listen") {
			t.Skip("these do not return")
		}
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for header, value := range map[string]string{"Mcp-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name, "Mcp-Session-Id": name} {
			if value != "" {
				r.Header[header] = []string{value}
			}
		}
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		switch w.Code {
		case 200, 202, 400, 404, 503:
		default:
			t.Errorf("got %d", w.Code)
		}
		if w.Body.Len() > 0 && w.Header().Get("Content-Type") == "application/json" {
			var any any
			if err := json.Unmarshal(w.Body.Bytes(), &any); err != nil {
				t.Errorf("the answer is no JSON: %v: %s", err, w.Body)
			}
		}
		if answer := w.Body.String(); strings.Contains(answer, "goroutine ") || strings.Contains(answer, ".go:") {
			t.Errorf("it leaked: %s", answer)
		}
	})
}
