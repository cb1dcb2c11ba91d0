package resource_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/oauth"
	"github.com/bossman-mcp/bossman/oauth/resource"
)

// An API key opens the door, and names who came in.
func ExampleRequire() {
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "hello, ", mcp.PrincipalFrom(r.Context()).Name)
	})
	keys, err := resource.Keys([]resource.Key{{Name: "ci", Secret: "Zq3vXw8mK1tR5yB7nD9pL2sF"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	door := resource.Require(hello, nil, keys)

	for _, key := range []string{"Zq3vXw8mK1tR5yB7nD9pL2sF", ""} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.Header.Set("X-Api-Token", key)
		w := httptest.NewRecorder()
		door.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 hello, key:ci
	// 401 authentication required: send a credential in Authorization or X-Api-Token
}

// A resource server takes the tokens of an authorization server, and tells
// clients which one it is.
func ExampleJWT() {
	const endpoint, issuer = "https://mcp.example.com/mcp", "https://auth.example.com"
	tokens, err := resource.JWT(issuer, issuer+"/jwks.json", endpoint, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	doc, err := resource.Metadata(&oauth.ProtectedResource{
		Resource: endpoint, AuthorizationServers: []string{issuer}, ScopesSupported: []string{"tasks:read"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	opts := &resource.Options{
		Metadata: doc,
		Scopes:   func(*http.Request) []string { return []string{"tasks:read"} },
	}
	mux := http.NewServeMux()
	mux.Handle(doc.Pattern(), doc)
	mux.Handle("/mcp", resource.Require(http.NotFoundHandler(), opts, tokens))

	for _, path := range []string{"/mcp", doc.Pattern()} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Println(w.Code, w.Header().Get("WWW-Authenticate"))
	}
	// Output:
	// 401 Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", scope="tasks:read"
	// 200
}

// What goes into a keys file.
func ExampleHashKey() {
	fmt.Println("ci =", resource.HashKey("Zq3vXw8mK1tR5yB7nD9pL2sF"))
	// Output: ci = sha256:73b09b647836777f986112f461da26aaec0adede60fca4ae7a72b3bb3bc59ca5
}
