package oauth_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/oauth"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func TestProtectedResourceIsReadAndWrittenWhole(t *testing.T) {
	t.Parallel()
	const text = `{"resource":"https://mcp.example.com/mcp",` +
		`"authorization_servers":["https://auth.example.com"],` +
		`"jwks_uri":"https://mcp.example.com/keys",` +
		`"scopes_supported":["read","write"],` +
		`"bearer_methods_supported":["header"],` +
		`"resource_signing_alg_values_supported":["ES256"],` +
		`"resource_name":"Moon","resource_documentation":"https://mcp.example.com/doc",` +
		`"resource_policy_uri":"https://mcp.example.com/policy","resource_tos_uri":"https://mcp.example.com/tos",` +
		`"tls_client_certificate_bound_access_tokens":true,` +
		`"authorization_details_types_supported":["a"],` +
		`"dpop_signing_alg_values_supported":["ES256"],"dpop_bound_access_tokens_required":true,` +
		`"signed_metadata":"e30.e30.",` +
		`"resource_name#fr":"Lune"}`
	doc, err := oauth.ParseProtectedResource([]byte(text), "https://mcp.example.com/mcp")
	if err != nil {
		t.Fatal(err)
	}
	back, err := json.Marshal(doc)
	if err != nil || string(back) != text {
		t.Errorf("got %s, %v\nwant %s", back, err, text)
	}
}

func TestMembersThatAreNotSetAreNotWritten(t *testing.T) {
	t.Parallel()
	for want, doc := range map[string]any{
		`{"resource":"r"}`: &oauth.ProtectedResource{Resource: "r", ScopesSupported: []string{}},
		`{"resource":"r","bearer_methods_supported":[]}`: &oauth.ProtectedResource{Resource: "r", BearerMethodsSupported: []string{}},
		`{"issuer":"i"}`:       &oauth.AuthorizationServer{Issuer: "i"},
		`{"issuer":"i","x":1}`: &oauth.AuthorizationServer{Issuer: "i", Extra: jsontext.Value(`{"x":1}`)},
	} {
		if got, err := json.Marshal(doc); err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

func TestAuthorizationServerIsReadAndWrittenWhole(t *testing.T) {
	t.Parallel()
	const text = `{"issuer":"https://a.example/t","authorization_endpoint":"https://a.example/t/authorize",` +
		`"token_endpoint":"https://a.example/t/token","jwks_uri":"https://a.example/t/keys",` +
		`"registration_endpoint":"https://a.example/t/register","revocation_endpoint":"https://a.example/t/revoke",` +
		`"introspection_endpoint":"https://a.example/t/introspect",` +
		`"scopes_supported":["openid","offline_access"],"response_types_supported":["code"],` +
		`"response_modes_supported":["query"],"grant_types_supported":["authorization_code"],` +
		`"authorization_grant_profiles_supported":["urn:x"],` +
		`"token_endpoint_auth_methods_supported":["none"],` +
		`"token_endpoint_auth_signing_alg_values_supported":["ES256"],` +
		`"code_challenge_methods_supported":["S256"],` +
		`"authorization_response_iss_parameter_supported":true,` +
		`"client_id_metadata_document_supported":true,` +
		`"dpop_signing_alg_values_supported":["ES256"],` +
		`"service_documentation":"https://a.example/doc","userinfo_endpoint":"https://a.example/me"}`
	doc, err := oauth.ParseAuthorizationServer([]byte(text), "https://a.example/t")
	if err != nil {
		t.Fatal(err)
	}
	if !doc.S256() {
		t.Error("S256 is listed, and not seen")
	}
	back, err := json.Marshal(doc)
	if err != nil || string(back) != text {
		t.Errorf("got %s, %v\nwant %s", back, err, text)
	}
}

func TestS256MustBeListed(t *testing.T) {
	t.Parallel()
	for _, methods := range [][]string{nil, {}, {"plain"}, {"s256"}} {
		if (&oauth.AuthorizationServer{CodeChallengeMethodsSupported: methods}).S256() {
			t.Errorf("%q is taken for S256", methods)
		}
	}
}

// The documents of R061: whoever is named must be the one that was asked about.
func TestMetadataOfAnotherPartyIsNotUsed(t *testing.T) {
	t.Parallel()
	const asked = "https://honest.example/mcp"
	for name, named := range map[string]string{
		"another host":     "https://attacker.example/mcp",
		"another path":     "https://honest.example/mcp2",
		"a slash more":     "https://honest.example/mcp/",
		"another case":     "https://Honest.example/mcp",
		"another scheme":   "http://honest.example/mcp",
		"the default port": "https://honest.example:443/mcp",
		"the origin":       "https://honest.example",
		"nobody":           "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := oauth.ParseProtectedResource([]byte(`{"resource":"`+named+`"}`), asked)
			if p != nil || !errors.Is(err, oauth.ErrMismatch) {
				t.Errorf("as a resource: %v, %v", p, err)
			}
			a, err := oauth.ParseAuthorizationServer([]byte(`{"issuer":"`+named+`"}`), asked)
			if a != nil || !errors.Is(err, oauth.ErrMismatch) {
				t.Errorf("as an issuer: %v, %v", a, err)
			}
		})
	}
}

func TestUnreadableMetadataIsRefusedWithoutAnEcho(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a web page":          "<html>canary</html>",
		"nothing":             "",
		"null":                "null",
		"a list":              `["canary"]`,
		"a word":              `"canary"`,
		"a wrong type":        `{"resource":{"canary":1},"issuer":{"canary":1}}`,
		"a name twice":        `{"canary":1,"canary":2}`,
		"a wrong type inside": `{"canary":1,"scopes_supported":["canary",7]}`,
		"bad UTF-8":           "{\"canary\":\"\xff\"}",
		"cut":                 `{"resource":"canary`,
		"two documents":       `{}{"canary":1}`,
		"too deep":            strings.Repeat(`{"canary":`, 20_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := oauth.ParseProtectedResource([]byte(text), "r")
			_, err2 := oauth.ParseAuthorizationServer([]byte(text), "r")
			for _, err := range []error{err, err2} {
				if !errors.Is(err, oauth.ErrDocument) {
					t.Errorf("got %v", err)
				} else if strings.Contains(err.Error(), "canary") {
					t.Errorf("the error repeats the document: %v", err)
				}
			}
		})
	}
}

func TestMemberNamesMatchExactly(t *testing.T) {
	t.Parallel()
	_, err := oauth.ParseProtectedResource([]byte(`{"Resource":"r"}`), "r")
	if !errors.Is(err, oauth.ErrMismatch) {
		t.Errorf("Resource was taken for resource: %v", err)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	good := func() *oauth.ProtectedResource {
		return &oauth.ProtectedResource{
			Resource: "https://mcp.example.com/mcp", AuthorizationServers: []string{"https://auth.example.com/t"},
		}
	}
	for name, change := range map[string]func(*oauth.ProtectedResource){
		"":                              func(*oauth.ProtectedResource) {},
		"plain http elsewhere":          func(p *oauth.ProtectedResource) { p.Resource = "http://mcp.example.com/mcp" },
		"a fragment":                    func(p *oauth.ProtectedResource) { p.Resource += "#x" },
		"no issuer":                     func(p *oauth.ProtectedResource) { p.AuthorizationServers = nil },
		"an issuer with a query":        func(p *oauth.ProtectedResource) { p.AuthorizationServers[0] += "?x" },
		"an issuer over http elsewhere": func(p *oauth.ProtectedResource) { p.AuthorizationServers[0] = "http://auth.example.com" },
		"offline_access":                func(p *oauth.ProtectedResource) { p.ScopesSupported = []string{"offline_access"} },
	} {
		p := good()
		change(p)
		if err := p.Validate(); (err == nil) != (name == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
