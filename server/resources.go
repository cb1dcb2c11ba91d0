package server

import (
	"context"
	"errors"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// ReadRequest says which resource is wanted.
type ReadRequest struct {
	URI  string
	Vars map[string]string // the template's variables, decoded; nil for a plain resource
}

// ReadFunc reads a resource. Contents without a URI or a MIME type get those of
// the resource. A [*mcp.ResourceNotFoundError] says that there is none after
// all; other errors are internal, and only logged.
type ReadFunc func(ctx context.Context, c *mcp.Call, r ReadRequest) ([]mcp.ResourceContents, error)

type resource struct {
	mcp.Resource
	read ReadFunc
}

type template struct {
	mcp.ResourceTemplate
	pattern *pattern
	read    ReadFunc
}

// AddResource offers a resource at its URI, which must be free.
func (s *Server) AddResource(description mcp.Resource, read ReadFunc) {
	if description.URI == "" || description.Name == "" || read == nil {
		panic("server: resource " + description.Name + " needs a URI, a name and a function that reads it")
	}
	if !s.resources.add(description.URI, &resource{description, read}) {
		panic("server: resource " + description.URI + " is registered twice")
	}
	s.changed(mcp.NotificationResourcesListChanged)
}

// RemoveResource takes a resource away and reports whether it was there.
func (s *Server) RemoveResource(uri string) bool {
	removed := s.resources.remove(uri)
	if removed {
		s.changed(mcp.NotificationResourcesListChanged)
	}
	return removed
}

// AddTemplate offers a family of resources by a URI template (RFC 6570). A URI
// that is no plain resource goes to the first template that matches it, in the
// order they were added.
func (s *Server) AddTemplate(description mcp.ResourceTemplate, read ReadFunc) {
	pattern, err := parsePattern(description.URITemplate)
	if err != nil {
		panic("server: resource template " + description.URITemplate + ": " + err.Error())
	}
	if description.Name == "" || read == nil {
		panic("server: resource template " + description.URITemplate + " needs a name and a function that reads it")
	}
	if !s.templates.add(description.URITemplate, &template{description, pattern, read}) {
		panic("server: resource template " + description.URITemplate + " is registered twice")
	}
	s.changed(mcp.NotificationResourcesListChanged)
}

func (s *Server) listResources(c *mcp.Call) (any, error) {
	return s.resources.page(c, s.opts.PageSize, func(resources []*resource, next *string) any {
		result := &mcp.ListResourcesResult{Resources: make([]mcp.Resource, len(resources)), NextCursor: next}
		result.TTLMs, result.CacheScope = s.hints()
		for i, r := range resources {
			result.Resources[i] = r.Resource
		}
		return result
	})
}

func (s *Server) listTemplates(c *mcp.Call) (any, error) {
	return s.templates.page(c, s.opts.PageSize, func(templates []*template, next *string) any {
		result := &mcp.ListResourceTemplatesResult{ResourceTemplates: make([]mcp.ResourceTemplate, len(templates)), NextCursor: next}
		result.TTLMs, result.CacheScope = s.hints()
		for i, t := range templates {
			result.ResourceTemplates[i] = t.ResourceTemplate
		}
		return result
	})
}

// maxURI is the longest URI that is looked up, in bytes.
const maxURI = 8192

func (s *Server) readResource(ctx context.Context, c *mcp.Call) (any, error) {
	raw := jsonscan.Get(c.Params, "uri")
	if jsonscan.KindOf(raw) != jsonscan.String {
		return nil, jsonrpc.InvalidParams("uri must be a string")
	}
	if len(raw) > maxURI {
		return nil, jsonrpc.InvalidParams("uri is longer than %d bytes", maxURI)
	}
	request := ReadRequest{URI: jsonscan.Unquote(raw)}
	read, mimeType := s.reader(&request)
	if read == nil {
		return nil, &mcp.ResourceNotFoundError{URI: request.URI}
	}
	contents, err := read(ctx, c, request)
	if err != nil {
		return nil, err
	}
	if len(contents) == 0 {
		return nil, errors.New("resource " + request.URI + " was read without contents")
	}
	for i := range contents {
		if contents[i].URI == "" {
			contents[i].URI = request.URI
		}
		if contents[i].MIMEType == "" {
			contents[i].MIMEType = mimeType
		}
	}
	stale := int64(0)
	return &mcp.ReadResourceResult{Contents: contents, TTLMs: &stale, CacheScope: mcp.CachePrivate}, nil
}

// reader finds who reads a URI, and fills in the template's variables.
func (s *Server) reader(request *ReadRequest) (ReadFunc, string) {
	if r, ok := s.resources.get(request.URI); ok {
		return r.read, r.MIMEType
	}
	for _, e := range s.templates.snapshot().entries {
		if request.Vars = e.value.pattern.match(request.URI); request.Vars == nil {
			continue
		}
		return e.value.read, e.value.MIMEType
	}
	return nil, ""
}
