package resource

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/bossman-mcp/bossman/oauth"
	"github.com/go-json-experiment/json"
)

// Document is the protected-resource metadata that a server shows to everyone,
// without a credential. As a handler it serves the document on any path, so it
// is to be mounted at its Pattern:
//
//	mux.Handle(doc.Pattern(), doc)
type Document struct {
	url     string
	pattern string
	body    []byte
}

// Metadata prepares a document for serving. Later changes to doc do not show.
// See [oauth.ProtectedResource.Validate] for what it refuses.
func Metadata(doc *oauth.ProtectedResource) (*Document, error) {
	if err := doc.Validate(); err != nil {
		return nil, fmt.Errorf("publish metadata: %w", err)
	}
	at, err := oauth.ProtectedResourceURL(doc.Resource)
	if err != nil {
		return nil, fmt.Errorf("publish metadata: %w", err)
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, fmt.Errorf("publish metadata: %w", err)
	}
	if strings.ContainsAny(u.Path, "{}") {
		return nil, fmt.Errorf("publish metadata: braces in the path of %s", doc.Resource)
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("publish metadata: %w", err)
	}
	pattern := u.EscapedPath()
	if strings.HasSuffix(pattern, "/") {
		pattern += "{$}"
	}
	return &Document{url: at, pattern: pattern, body: body}, nil
}

// URL returns where clients find the document: the resource's URL with the
// well-known path before its own.
func (d *Document) URL() string { return d.url }

// Pattern returns the document's path as an [http.ServeMux] takes it.
func (d *Document) Pattern() string { return d.pattern }

// ServeHTTP answers GET and HEAD with the document. Pages of any origin may read
// it, since it is public.
func (d *Document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		h.Set("Content-Type", "application/json")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(d.body) // a client that is gone needs no answer
	case http.MethodOptions:
		h.Set("Allow", "GET, HEAD, OPTIONS")
		h.Set("Access-Control-Allow-Methods", "GET, HEAD")
		h.Set("Access-Control-Allow-Headers", "*")
		w.WriteHeader(http.StatusNoContent)
	default:
		h.Set("Allow", "GET, HEAD, OPTIONS")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}
