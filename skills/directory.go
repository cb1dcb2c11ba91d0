package skills

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"unicode/utf8"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// readDirectory answers resources/directory/read: what is directly in a folder.
func (c *catalogue) readDirectory(_ context.Context, call *mcp.Call) (any, error) {
	uri, err := uriOf(call)
	if err != nil {
		return nil, err
	}
	after, err := cursorOf(call)
	if err != nil {
		return nil, err
	}
	children, err := c.children(uri)
	if err != nil {
		return nil, err
	}
	found, next := page(children, after, c.opts.PageSize, func(r mcp.Resource) string { return r.URI })
	if found == nil {
		found = []mcp.Resource{}
	}
	return &DirectoryResult{Resources: found, NextCursor: next}, nil
}

// children returns what is in a folder, in the order of URIs.
func (c *catalogue) children(uri string) ([]mcp.Resource, error) {
	if name, ok := c.dynamicPath(uri); ok {
		return c.dynamicChildren(uri, name)
	}
	children, known := c.folders[uri]
	switch {
	case known:
		return children, nil
	case c.files[uri] != nil:
		return nil, jsonrpc.InvalidParams("%s is a file, not a folder", uri)
	}
	return nil, jsonrpc.InvalidParams("There is no folder %s", uri)
}

// dynamicChildren looks into a folder of a dynamic skill. What is not served is passed
// over.
func (c *catalogue) dynamicChildren(uri, name string) ([]mcp.Resource, error) {
	info, err := fs.Lstat(c.fsys, name)
	if err != nil || !c.isPlain(name) {
		return nil, jsonrpc.InvalidParams("There is no folder %s", uri)
	}
	if !info.IsDir() {
		return nil, jsonrpc.InvalidParams("%s is a file, not a folder", uri)
	}
	entries, err := fs.ReadDir(c.fsys, name)
	if err != nil {
		return nil, err
	}
	var children []mcp.Resource
	for _, e := range entries {
		if isHidden(e.Name()) || !plainSegment(e.Name()) || !utf8.ValidString(e.Name()) {
			continue
		}
		child := c.uri(name + "/" + e.Name())
		if e.IsDir() {
			children = append(children, mcp.Resource{URI: child, Name: e.Name(), MIMEType: DirectoryType})
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			children = append(children, c.describe(child, e.Name(), info.Size()))
		}
	}
	slices.SortFunc(children, func(a, b mcp.Resource) int { return cmp.Compare(a.URI, b.URI) })
	return children, nil
}

// describe returns a file as a resource: a skill's SKILL.md as the list of resources
// has it.
func (c *catalogue) describe(uri, name string, size int64) mcp.Resource {
	r := mcp.Resource{URI: uri, Name: name, MIMEType: typeOf(name)}
	if k := c.byURI[uri]; k != nil {
		r = k.resource()
	}
	r.Size = &size
	return r
}
