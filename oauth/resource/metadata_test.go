package resource_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bossman-mcp/bossman/oauth"
	"github.com/bossman-mcp/bossman/oauth/resource"
)

func TestR052TheMetadataDocumentIsPublicAndExact(t *testing.T) {
	t.Parallel()
	s := newIssuer()
	doc := document(t)
	if doc.URL() != metadataURL {
		t.Errorf("the URL is %s", doc.URL())
	}
	mux := http.NewServeMux()
	mux.Handle(doc.Pattern(), doc)
	mux.Handle("/mcp", resource.Require(inside(t), &resource.Options{Metadata: doc, Logger: quiet()}, s.tokens(t, nil)))

	w := askURL(mux, metadataURL)
	const want = `{"resource":"https://mcp.example.com/mcp","authorization_servers":["https://auth.example.com"],` +
		`"scopes_supported":["read"],"bearer_methods_supported":["header"]}`
	if w.Code != 200 || w.Body.String() != want || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("got %d %v %s\nwant %s", w.Code, w.Header(), w.Body, want)
	}
	if _, err := oauth.ParseProtectedResource(w.Body.Bytes(), audience); err != nil {
		t.Error(err)
	}
	for path, status := range map[string]int{
		"/mcp":                                  401,
		"/.well-known/oauth-protected-resource": 404, // that would be the document of the whole origin
		"/.well-known/oauth-protected-resource/mcp/more": 404,
		"/.well-known/oauth-protected-resource/other":    404,
	} {
		if w := askURL(mux, path); w.Code != status {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

func TestMetadataMethods(t *testing.T) {
	t.Parallel()
	doc := document(t)
	for method, status := range map[string]int{"GET": 200, "HEAD": 200, "OPTIONS": 204, "POST": 405, "DELETE": 405} {
		w := httptest.NewRecorder()
		doc.ServeHTTP(w, httptest.NewRequest(method, metadataURL, nil))
		if w.Code != status || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v", method, w.Code, w.Header())
		}
	}
}

func TestMetadataPatterns(t *testing.T) {
	t.Parallel()
	for identifier, c := range map[string]struct{ pattern, path, not string }{
		"https://mcp.example.com":         {"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/x"},
		"https://mcp.example.com/a/":      {"/.well-known/oauth-protected-resource/a/{$}", "/.well-known/oauth-protected-resource/a/", "/.well-known/oauth-protected-resource/a/b"},
		"http://127.0.0.1:8181/a%20b?x=y": {"/.well-known/oauth-protected-resource/a%20b", "/.well-known/oauth-protected-resource/a%20b?x=y", "/.well-known/oauth-protected-resource/a"},
	} {
		doc, err := resource.Metadata(&oauth.ProtectedResource{Resource: identifier, AuthorizationServers: []string{issuerURL}})
		if err != nil {
			t.Fatal(err)
		}
		mux := http.NewServeMux()
		mux.Handle(doc.Pattern(), doc)
		if doc.Pattern() != c.pattern || askURL(mux, c.path).Code != 200 || askURL(mux, c.not).Code != 404 {
			t.Errorf("%s: %s: %d, %d", identifier, doc.Pattern(), askURL(mux, c.path).Code, askURL(mux, c.not).Code)
		}
	}
}

func TestMetadataRefusesWhatMayNotBePublished(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]*oauth.ProtectedResource{
		"no resource":       {AuthorizationServers: []string{issuerURL}},
		"no issuer":         {Resource: audience},
		"plain http":        {Resource: "http://mcp.example.com", AuthorizationServers: []string{issuerURL}},
		"braces":            {Resource: "https://mcp.example.com/%7Bx%7D", AuthorizationServers: []string{issuerURL}},
		"an issuer in ftp:": {Resource: audience, AuthorizationServers: []string{"ftp://auth.example.com"}},
	} {
		if d, err := resource.Metadata(doc); err == nil {
			t.Errorf("%s: %v", name, d)
		}
	}
}
