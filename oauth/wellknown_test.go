package oauth_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bossman-mcp/bossman/oauth"
)

func TestProtectedResourceLocations(t *testing.T) {
	t.Parallel()
	type loc = oauth.Location
	const known = "/.well-known/oauth-protected-resource"
	for _, c := range []struct {
		name, resource string
		want           []loc
	}{
		{"a path goes behind the well-known part, and the root is second", "https://example.com/public/mcp", []loc{
			{"https://example.com" + known + "/public/mcp", "https://example.com/public/mcp"},
			{"https://example.com" + known, "https://example.com"},
		}},
		{"an origin has one place", "https://example.com:8443", []loc{
			{"https://example.com:8443" + known, "https://example.com:8443"},
		}},
		{"a slash after the host is dropped from the URL, not from the name", "https://example.com/", []loc{
			{"https://example.com" + known, "https://example.com/"},
		}},
		{"a slash after a path stays", "https://example.com/mcp/", []loc{
			{"https://example.com" + known + "/mcp/", "https://example.com/mcp/"},
			{"https://example.com" + known, "https://example.com"},
		}},
		{"a query stays", "https://example.com/mcp?tenant=7", []loc{
			{"https://example.com" + known + "/mcp?tenant=7", "https://example.com/mcp?tenant=7"},
			{"https://example.com" + known, "https://example.com"},
		}},
		{"a query right after the host stays", "https://example.com/?tenant=7", []loc{
			{"https://example.com" + known + "?tenant=7", "https://example.com/?tenant=7"},
			{"https://example.com" + known, "https://example.com"},
		}},
		{"escapes and case are kept as written", "http://LocalHost:1/a%2Fb", []loc{
			{"http://LocalHost:1" + known + "/a%2Fb", "http://LocalHost:1/a%2Fb"},
			{"http://LocalHost:1" + known, "http://LocalHost:1"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := oauth.ProtectedResourceLocations(c.resource)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v\nwant %q", got, err, c.want)
			}
		})
	}
}

func TestAuthorizationServerLocations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, issuer string
		want         []string
	}{
		{"an issuer without a path has two places", "https://auth.example.com", []string{
			"https://auth.example.com/.well-known/oauth-authorization-server",
			"https://auth.example.com/.well-known/openid-configuration",
		}},
		{"an issuer with a path has three", "https://auth.example.com/tenant1", []string{
			"https://auth.example.com/.well-known/oauth-authorization-server/tenant1",
			"https://auth.example.com/.well-known/openid-configuration/tenant1",
			"https://auth.example.com/tenant1/.well-known/openid-configuration",
		}},
		{"a final slash is dropped from the URLs", "https://auth.example.com/tenant1/", []string{
			"https://auth.example.com/.well-known/oauth-authorization-server/tenant1",
			"https://auth.example.com/.well-known/openid-configuration/tenant1",
			"https://auth.example.com/tenant1/.well-known/openid-configuration",
		}},
		{"a bare slash is no path", "https://auth.example.com/", []string{
			"https://auth.example.com/.well-known/oauth-authorization-server",
			"https://auth.example.com/.well-known/openid-configuration",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := oauth.AuthorizationServerLocations(c.issuer)
			if err != nil {
				t.Fatal(err)
			}
			var urls []string
			for _, l := range got {
				urls = append(urls, l.URL)
				if l.Identifier != c.issuer {
					t.Errorf("documents there must name %q, not %q", l.Identifier, c.issuer)
				}
			}
			if !slices.Equal(urls, c.want) {
				t.Errorf("got %q\nwant %q", urls, c.want)
			}
		})
	}
}

func TestIdentifiersThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no scheme":             "mcp.example.com",
		"a fragment":            "https://mcp.example.com#fragment",
		"an empty fragment":     "https://mcp.example.com/#",
		"another scheme":        "ftp://mcp.example.com",
		"no host":               "https:///mcp",
		"opaque":                "https:mcp",
		"user information":      "https://user@mcp.example.com",
		"a space":               "https://mcp.example.com/a b",
		"a line end":            "https://mcp.example.com/\r\nX: y",
		"not ASCII":             "https://mcp.example.com/é",
		"a backslash":           "https://mcp.example.com\\@evil.example",
		"an invalid escape":     "https://mcp.example.com/%zz",
		"an invalid port":       "https://mcp.example.com:port/",
		"nothing":               "",
		"a script":              "javascript:alert(1)",
		"a port without a host": "https://:443/",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := oauth.ProtectedResourceLocations(text); !errors.Is(err, oauth.ErrAddress) {
				t.Errorf("as a resource: %q, %v", got, err)
			}
			if got, err := oauth.AuthorizationServerLocations(text); !errors.Is(err, oauth.ErrAddress) {
				t.Errorf("as an issuer: %q, %v", got, err)
			}
			if got, err := oauth.Canonical(text); !errors.Is(err, oauth.ErrAddress) {
				t.Errorf("in canonical form: %q, %v", got, err)
			}
		})
	}
	if _, err := oauth.AuthorizationServerLocations("https://auth.example.com/?a=b"); !errors.Is(err, oauth.ErrAddress) {
		t.Errorf("an issuer with a query: %v", err)
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"https://auth.example.com/authorize?x=y#z": true,
		"http://localhost:3000/callback":           true,
		"http://127.0.0.1/":                        true,
		"http://127.8.9.10:80/":                    true,
		"http://[::1]:9/":                          true,
		"http://[::ffff:127.0.0.1]/":               true,
		"http://example.com/":                      false,
		"http://localhost.example.com/":            false,
		"http://10.0.0.1/":                         false,
		"http://2130706433/":                       false,
		"http://0.0.0.0/":                          false,
		"javascript:alert(1)":                      false,
		"file:///etc/passwd":                       false,
		"-https://auth.example.com":                false,
		"https://auth.example.com/\n":              false,
		"https://secret@auth.example.com/":         false,
	} {
		if err := oauth.CheckURL(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCanonicalFormLowersSchemeAndHostOnly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"HTTPS://MCP.Example.COM/Server/MCP": "https://mcp.example.com/Server/MCP",
		"https://MCP.example.com":            "https://mcp.example.com",
		"https://mcp.example.com/":           "https://mcp.example.com/",
		"https://mcp.example.com:443?A=B":    "https://mcp.example.com:443?A=B",
	} {
		if got, err := oauth.Canonical(text); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}
