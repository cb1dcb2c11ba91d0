package oauth

import (
	"fmt"
	"strings"
)

// Location is a place where a metadata document may be, and the identifier that
// a document found there must carry to be used.
type Location struct {
	URL        string
	Identifier string
}

// ProtectedResourceURL returns where the metadata of a resource is: the
// well-known path goes between host and path (RFC 9728, section 3.1).
func ProtectedResourceURL(resource string) (string, error) {
	if _, err := parseIdentifier(resource); err != nil {
		return "", fmt.Errorf("locate metadata of the resource: %w", err)
	}
	origin, rest := splitOrigin(resource)
	if rest == "/" || strings.HasPrefix(rest, "/?") {
		rest = rest[1:]
	}
	return origin + "/.well-known/oauth-protected-resource" + rest, nil
}

// ProtectedResourceLocations returns where a client looks for the metadata of a
// resource whose challenge named none, in order: at the resource's own path, and
// at the root, where the document describes the whole origin.
func ProtectedResourceLocations(resource string) ([]Location, error) {
	own, err := ProtectedResourceURL(resource)
	if err != nil {
		return nil, err
	}
	found := []Location{{own, resource}}
	origin, _ := splitOrigin(resource)
	root := origin + "/.well-known/oauth-protected-resource"
	if root != own {
		found = append(found, Location{root, origin})
	}
	return found, nil
}

// AuthorizationServerLocations returns where a client looks for the metadata of
// an authorization server, in order: OAuth's document, then OpenID Connect's, the
// well-known path between host and path; then OpenID Connect's after the path,
// for an issuer that has one (RFC 8414, sections 3.1 and 5). Documents from all
// of them must carry the issuer as it is written here.
func AuthorizationServerLocations(issuer string) ([]Location, error) {
	if err := checkIssuer(issuer); err != nil {
		return nil, fmt.Errorf("locate metadata of the issuer: %w", err)
	}
	origin, path := splitOrigin(issuer)
	path = strings.TrimSuffix(path, "/")
	found := []Location{
		{origin + "/.well-known/oauth-authorization-server" + path, issuer},
		{origin + "/.well-known/openid-configuration" + path, issuer},
	}
	if path != "" {
		found = append(found, Location{origin + path + "/.well-known/openid-configuration", issuer})
	}
	return found, nil
}

// checkIssuer refuses what RFC 8414, section 2, does not allow as an issuer,
// other than plain http.
func checkIssuer(issuer string) error {
	if _, err := parseIdentifier(issuer); err != nil {
		return err
	}
	if strings.Contains(issuer, "?") {
		return fmt.Errorf("%w: a query", ErrAddress)
	}
	return nil
}
