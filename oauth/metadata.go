package oauth

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var (
	// ErrDocument is matched by the errors for metadata that cannot be read.
	ErrDocument = errors.New("unreadable metadata document")
	// ErrMismatch is matched by the errors for metadata that describes someone
	// other than was asked about. Such a document must not be used.
	ErrMismatch = errors.New("metadata document of another party")
)

// ProtectedResource is the metadata of a protected resource (RFC 9728, section
// 2). Members that are not set are not written.
type ProtectedResource struct {
	// Resource is the identifier: for an MCP server the URL of its endpoint.
	Resource string `json:"resource"`
	// AuthorizationServers are the issuers whose tokens the resource takes.
	AuthorizationServers []string `json:"authorization_servers,omitempty"`
	JWKSURI              string   `json:"jwks_uri,omitempty"`
	// ScopesSupported are the scopes for basic use: a client asks for them all
	// when a challenge names none.
	ScopesSupported []string `json:"scopes_supported,omitempty"`
	// BearerMethodsSupported tells how a token may be sent. Nil says nothing; the
	// empty list says in no way. MCP knows "header" only.
	BearerMethodsSupported             []string       `json:"bearer_methods_supported,omitzero"`
	ResourceSigningAlgValuesSupported  []string       `json:"resource_signing_alg_values_supported,omitempty"`
	ResourceName                       string         `json:"resource_name,omitempty"`
	ResourceDocumentation              string         `json:"resource_documentation,omitempty"`
	ResourcePolicyURI                  string         `json:"resource_policy_uri,omitempty"`
	ResourceTOSURI                     string         `json:"resource_tos_uri,omitempty"`
	TLSClientCertificateBoundTokens    bool           `json:"tls_client_certificate_bound_access_tokens,omitzero"`
	AuthorizationDetailsTypesSupported []string       `json:"authorization_details_types_supported,omitempty"`
	DPoPSigningAlgValuesSupported      []string       `json:"dpop_signing_alg_values_supported,omitempty"`
	DPoPBoundAccessTokensRequired      bool           `json:"dpop_bound_access_tokens_required,omitzero"`
	SignedMetadata                     string         `json:"signed_metadata,omitempty"`
	Extra                              jsontext.Value `json:",embed"` // members not named above, as an object
}

// ParseProtectedResource reads metadata that was found for resource, an
// identifier as the caller knows it: the endpoint's URL, or the Identifier of a
// [Location]. The document must name the very same, byte for byte (RFC 9728,
// section 3.3). Errors do not repeat what the document says.
func ParseProtectedResource(data []byte, resource string) (*ProtectedResource, error) {
	var p ProtectedResource
	if err := decode(data, &p); err != nil {
		return nil, fmt.Errorf("read protected-resource metadata: %w", err)
	}
	if p.Resource != resource {
		return nil, fmt.Errorf("read protected-resource metadata: %w: it is not about %s", ErrMismatch, resource)
	}
	return &p, nil
}

// Validate says why p may not be published by an MCP server, or nil. It wants
// https URLs (plain http on this machine), at least one authorization server,
// and no offline_access among the scopes, which is for clients to ask.
func (p *ProtectedResource) Validate() error {
	if _, err := parseIdentifier(p.Resource); err != nil {
		return fmt.Errorf("check resource identifier: %w", err)
	}
	if err := CheckURL(p.Resource); err != nil {
		return fmt.Errorf("check resource identifier: %w", err)
	}
	if len(p.AuthorizationServers) == 0 {
		return errors.New("check authorization_servers: none named")
	}
	for _, issuer := range p.AuthorizationServers {
		if err := errors.Join(checkIssuer(issuer), CheckURL(issuer)); err != nil {
			return fmt.Errorf("check authorization server %q: %w", issuer, err)
		}
	}
	if slices.Contains(p.ScopesSupported, "offline_access") {
		return errors.New("check scopes_supported: offline_access is not the resource's to name")
	}
	return nil
}

// AuthorizationServer is the metadata of an authorization server (RFC 8414,
// section 2), or of an OpenID provider, with the members that MCP clients use.
// Members that are not set are not written.
type AuthorizationServer struct {
	Issuer                                     string   `json:"issuer"`
	AuthorizationEndpoint                      string   `json:"authorization_endpoint,omitempty"`
	TokenEndpoint                              string   `json:"token_endpoint,omitempty"`
	JWKSURI                                    string   `json:"jwks_uri,omitempty"`
	RegistrationEndpoint                       string   `json:"registration_endpoint,omitempty"`
	RevocationEndpoint                         string   `json:"revocation_endpoint,omitempty"`
	IntrospectionEndpoint                      string   `json:"introspection_endpoint,omitempty"`
	ScopesSupported                            []string `json:"scopes_supported,omitempty"`
	ResponseTypesSupported                     []string `json:"response_types_supported,omitempty"`
	ResponseModesSupported                     []string `json:"response_modes_supported,omitempty"`
	GrantTypesSupported                        []string `json:"grant_types_supported,omitempty"`
	AuthorizationGrantProfilesSupported        []string `json:"authorization_grant_profiles_supported,omitempty"`
	TokenEndpointAuthMethodsSupported          []string `json:"token_endpoint_auth_methods_supported,omitempty"`
	TokenEndpointAuthSigningAlgValuesSupported []string `json:"token_endpoint_auth_signing_alg_values_supported,omitempty"`
	// CodeChallengeMethodsSupported tells of PKCE; see [AuthorizationServer.S256].
	CodeChallengeMethodsSupported []string `json:"code_challenge_methods_supported,omitempty"`
	// IssParameterSupported says that every authorization response names its
	// issuer (RFC 9207): one that does not is to be refused.
	IssParameterSupported bool `json:"authorization_response_iss_parameter_supported,omitzero"`
	// ClientIDMetadataDocumentSupported says that a client may use the URL of its
	// own metadata document as its id.
	ClientIDMetadataDocumentSupported bool           `json:"client_id_metadata_document_supported,omitzero"`
	DPoPSigningAlgValuesSupported     []string       `json:"dpop_signing_alg_values_supported,omitempty"`
	ServiceDocumentation              string         `json:"service_documentation,omitempty"`
	Extra                             jsontext.Value `json:",embed"` // members not named above, as an object
}

// ParseAuthorizationServer reads metadata that was found for issuer. The
// document must name the very same, byte for byte (RFC 8414, section 3.3).
// Endpoints are returned as they stand: see [CheckURL]. Errors do not repeat
// what the document says.
func ParseAuthorizationServer(data []byte, issuer string) (*AuthorizationServer, error) {
	var a AuthorizationServer
	if err := decode(data, &a); err != nil {
		return nil, fmt.Errorf("read authorization-server metadata: %w", err)
	}
	if a.Issuer != issuer {
		return nil, fmt.Errorf("read authorization-server metadata: %w: it is not about %s", ErrMismatch, issuer)
	}
	return &a, nil
}

// S256 reports whether the server says that it takes PKCE with S256. MCP clients
// refuse one that does not.
func (a *AuthorizationServer) S256() bool {
	return slices.Contains(a.CodeChallengeMethodsSupported, "S256")
}

// decode reads one JSON object. The library's errors quote from the text, which
// may come from a machine that a stranger made us ask: only the place is kept.
func decode(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	if err == nil && jsontext.Value(data).Kind() != '{' {
		return fmt.Errorf("%w: not a JSON object", ErrDocument)
	}
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return fmt.Errorf("%w: bad JSON at byte %d", ErrDocument, syntax.ByteOffset)
	case errors.As(err, &semantic):
		return fmt.Errorf("%w: a value of the wrong type at byte %d", ErrDocument, semantic.ByteOffset)
	default:
		return ErrDocument
	}
}
