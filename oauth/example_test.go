package oauth_test

import (
	"fmt"

	"github.com/bossman-mcp/bossman/oauth"
)

func ExampleProtectedResourceURL() {
	url, err := oauth.ProtectedResourceURL("https://example.com/public/mcp")
	fmt.Println(url, err)
	// Output: https://example.com/.well-known/oauth-protected-resource/public/mcp <nil>
}

func ExampleAuthorizationServerLocations() {
	places, err := oauth.AuthorizationServerLocations("https://auth.example.com/tenant1")
	if err != nil {
		fmt.Println(err)
	}
	for _, p := range places {
		fmt.Println(p.URL)
	}
	// Output:
	// https://auth.example.com/.well-known/oauth-authorization-server/tenant1
	// https://auth.example.com/.well-known/openid-configuration/tenant1
	// https://auth.example.com/tenant1/.well-known/openid-configuration
}

func ExampleParseChallenges() {
	found, err := oauth.ParseChallenges([]string{
		`Bearer error="insufficient_scope", scope="files:read files:write"`,
	})
	if err != nil {
		fmt.Println(err)
	}
	for _, c := range found {
		fmt.Println(c.Is("bearer"), c.Get("error"), c.Scopes())
	}
	// Output: true insufficient_scope [files:read files:write]
}

func ExampleChallenge_String() {
	c := oauth.Challenge{Scheme: "Bearer", Params: []oauth.Param{
		{Name: "resource_metadata", Value: "https://example.com/.well-known/oauth-protected-resource/mcp"},
		{Name: "scope", Value: "files:read"},
	}}
	fmt.Println(c.String())
	// Output: Bearer resource_metadata="https://example.com/.well-known/oauth-protected-resource/mcp", scope="files:read"
}

func ExampleParseAuthorizationServer() {
	document := []byte(`{"issuer": "https://honest.example", "token_endpoint": "https://attacker.example/token"}`)
	_, err := oauth.ParseAuthorizationServer(document, "https://attacker.example")
	fmt.Println(err)
	// Output: read authorization-server metadata: metadata document of another party: it is not about https://attacker.example
}
