package main

import (
	"context"
	"errors"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/oauth/login"
)

// document describes the program to authorization servers that read such documents.
const document = "https://conformance-test.local/client-metadata.json"

func loginScenarios() map[string]scenario {
	all := map[string]scenario{
		"auth/pre-registration":                 enter(registered),
		"auth/client-credentials-basic":         enter(secret),
		"auth/client-credentials-jwt":           enter(key),
		"auth/enterprise-managed-authorization": enter(enterprise),
		"auth/wif-jwt-bearer":                   enter(workload),
	}
	for _, name := range []string{
		"metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "metadata-issuer-mismatch",
		"oauth-metadata-backcompat", "oauth-endpoint-fallback", "basic-cimd", "resource-mismatch", "authorization-server-migration",
		"scope-from-www-authenticate", "scope-from-scopes-supported", "scope-omitted-when-undefined", "scope-step-up", "scope-retry-limit",
		"token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none",
		"offline-access-scope", "offline-access-not-supported",
		"iss-supported", "iss-not-advertised", "iss-supported-missing", "iss-wrong-issuer", "iss-unexpected", "iss-normalized",
		"dpop", "dpop-nonce",
	} {
		all["auth/"+name] = enter(person)
	}
	return all
}

// enter is a scenario that gets past a server that asks who is calling.
func enter(grant func(p *props) (login.Grant, error)) scenario {
	return func(ctx context.Context, s *stage) error {
		way, err := grant(&s.props)
		if err != nil {
			return err
		}
		auth, err := login.New(s.url, way, nil)
		if err != nil {
			return err
		}
		return s.with(ctx, auth, client.Options{}, func(c *client.Client) error {
			return listAndCall(ctx, c, "test-tool", nil)
		})
	}
}

// person logs in at once: the suite's servers do not ask.
func person(*props) (login.Grant, error) {
	return &login.Code{UserAgent: login.Direct{}, MetadataURL: document, Name: "bossman conformance"}, nil
}

func registered(p *props) (login.Grant, error) {
	return &login.Code{UserAgent: login.Direct{}, Client: p.client()}, nil
}

func (p *props) client() *login.Client {
	return &login.Client{Issuer: p.Issuer, ID: p.ClientID, Secret: p.ClientSecret}
}

func secret(p *props) (login.Grant, error) {
	return &login.ClientCredentials{Client: *p.client()}, nil
}

func key(p *props) (login.Grant, error) {
	signer, err := login.ParseKey([]byte(p.PrivateKey))
	if err != nil {
		return nil, err
	}
	return &login.ClientCredentials{Client: login.Client{Issuer: p.Issuer, ID: p.ClientID, Key: signer}}, nil
}

func enterprise(p *props) (login.Grant, error) {
	if p.IDToken == "" {
		return nil, errors.New("no identity is given")
	}
	return &login.Enterprise{
		Client:         *p.client(),
		ProviderClient: login.Client{Issuer: p.ProviderIssuer, ID: p.ProviderClientID},
		TokenEndpoint:  p.ProviderToken,
		Subject:        func(context.Context) (string, error) { return p.IDToken, nil },
	}, nil
}

func workload(p *props) (login.Grant, error) {
	return &login.Workload{
		ClientID:  p.ClientID,
		Statement: func(context.Context, string) (string, error) { return p.Statement, nil },
	}, nil
}
