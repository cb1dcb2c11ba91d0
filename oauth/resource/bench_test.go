package resource_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bossman-mcp/bossman/oauth/resource"
)

func BenchmarkRequire(b *testing.B) {
	s := newIssuer()
	keys, tokens := twoKeys(b), s.tokens(b, nil)
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for name, c := range map[string]struct {
		name, value string
		verifiers   []resource.Verifier
	}{
		"a key":                {"X-Api-Token", ciKey, []resource.Verifier{keys}},
		"a token, Ed25519":     {"Authorization", "Bearer " + s.token(nil), []resource.Verifier{tokens}},
		"a token after keys":   {"Authorization", "Bearer " + s.token(nil), []resource.Verifier{keys, tokens}},
		"a made-up bearer":     {"Authorization", "Bearer made-up", []resource.Verifier{keys, tokens}},
		"a token of 64 KiB":    {"Authorization", "Bearer " + s.token(map[string]any{"pad": make([]byte, 48<<10)}), []resource.Verifier{keys, tokens}},
		"a token, unknown key": {"Authorization", "Bearer " + s.sign(header(map[string]any{"kid": "x"}), claims(nil)), []resource.Verifier{tokens}},
	} {
		b.Run(name, func(b *testing.B) {
			guard := resource.Require(next, &resource.Options{Logger: quiet(), MaxFailures: 1 << 40}, c.verifiers...)
			r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
			r.Header.Set(c.name, c.value)
			w := httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				w.Body.Reset()
				guard.ServeHTTP(w, r)
			}
		})
	}
}
