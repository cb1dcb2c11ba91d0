package login_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/bossman-mcp/bossman/oauth/login"
)

// A person logs in with the browser of this machine, and the login is kept in
// files. The Authorizer goes into the HTTP dialer's options.
func ExampleNew() {
	grant := &login.Code{UserAgent: &login.Loopback{}, Name: "Example"}
	a, err := login.New("https://mcp.example.com/mcp", grant, &login.Options{Store: login.Files("logins")})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a)
	// Output: login at https://mcp.example.com/mcp
}

// A program gets a token with a secret. The secret is for one issuer.
func ExampleClientCredentials() {
	server := exampleServer()
	defer server.Close()
	grant := &login.ClientCredentials{Client: login.Client{Issuer: server.URL, ID: "robot", Secret: "s3cret"}}
	a, err := login.New(server.URL+"/mcp", grant, &login.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	for range 2 { // what the HTTP dialer does for every request
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/mcp", nil)
		if err := a.Authorize(ctx, r); err != nil {
			fmt.Println(err)
			return
		}
		res, err := server.Client().Do(r)
		if err != nil {
			fmt.Println(err)
			return
		}
		res.Body.Close()
		fmt.Println(r.Header.Get("Authorization"), res.Status)
		if res.StatusCode == http.StatusUnauthorized {
			again, err := a.Challenge(ctx, res)
			fmt.Println("again:", again, err)
		}
	}
	fmt.Println(grant.Client)
	// Output:
	//  401 Unauthorized
	// again: true <nil>
	// Bearer t0ken 200 OK
	// client robot
}

// exampleServer is an MCP server that is its own authorization server.
func exampleServer() *httptest.Server {
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t0ken" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	document := func(pattern, text string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.ReplaceAll(text, "HERE", server.URL))
		})
	}
	document("GET /.well-known/oauth-protected-resource/mcp", `{"resource": "HERE/mcp", "authorization_servers": ["HERE"]}`)
	document("GET /.well-known/oauth-authorization-server", `{"issuer": "HERE", "token_endpoint": "HERE/token"}`)
	document("POST /token", `{"access_token": "t0ken", "token_type": "Bearer"}`)
	return server
}
