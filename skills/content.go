package skills

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// read answers resources/read for the files of skills. What was found at the start is
// looked up by its URI, so that no URI can lead anywhere else.
func (c *catalogue) read(_ context.Context, _ *mcp.Call, r server.ReadRequest) ([]mcp.ResourceContents, error) {
	content, err := c.content(r.URI)
	if err != nil {
		return nil, err
	}
	contents := mcp.ResourceContents{URI: r.URI, MIMEType: typeOf(lastSegment(r.URI))}
	text := utf8.Valid(content)
	if text {
		contents.Text = string(content)
	} else {
		contents.Blob = content
	}
	if contents.MIMEType == "" {
		contents.MIMEType = "application/octet-stream"
		if text {
			contents.MIMEType = "text/plain"
		}
	}
	return []mcp.ResourceContents{contents}, nil
}

func (c *catalogue) content(uri string) ([]byte, error) {
	f := c.files[uri]
	if f == nil {
		return c.dynamicContent(uri)
	}
	opened, err := c.open(f)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	content := make([]byte, f.size+1) // one more than there should be
	n, err := io.ReadFull(opened, content)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read skill file %s: %w", f.path, err)
	}
	content = content[:n]
	f.mu.Lock()
	defer f.mu.Unlock()
	switch digest := Digest(content); {
	case int64(len(content)) != f.size, f.digest != "" && f.digest != digest:
		return nil, errChanged
	default:
		f.digest = digest
	}
	return content, nil
}

func (c *catalogue) dynamicContent(uri string) ([]byte, error) {
	notFound := &mcp.ResourceNotFoundError{URI: uri}
	name, ok := c.dynamicPath(uri)
	if !ok || !c.isPlain(name) {
		return nil, notFound
	}
	opened, err := c.fsys.Open(name)
	if err != nil {
		return nil, notFound
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, notFound
	}
	content, err := io.ReadAll(io.LimitReader(opened, MaxBytes+1))
	if err == nil && len(content) > MaxBytes {
		err = fmt.Errorf("it has more than %d bytes", MaxBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("read skill file %s: %w", name, err)
	}
	return content, nil
}

// dynamicPath returns the path of a URI that is inside a dynamic skill: each segment is
// a name, is written in one way only, and is not hidden.
func (c *catalogue) dynamicPath(uri string) (name string, ok bool) {
	escaped, ok := strings.CutPrefix(uri, c.base)
	if !ok || !plainURI(uri) {
		return "", false
	}
	if name, ok = unescape(escaped); !ok || !fs.ValidPath(name) || escapePath(name) != escaped {
		return "", false
	}
	for _, k := range c.skills {
		inside, ok := strings.CutPrefix(name+"/", k.path+"/")
		if !ok || !k.dynamic {
			continue
		}
		for segment := range strings.SplitSeq(inside, "/") {
			if isHidden(segment) {
				return "", false
			}
		}
		return name, true
	}
	return "", false
}

// isPlain reports whether neither a path nor a folder on the way is a link.
func (c *catalogue) isPlain(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		info, err := fs.Lstat(c.fsys, name)
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// unescape reads a part of a URI as a path.
func unescape(escaped string) (name string, ok bool) {
	name, err := url.PathUnescape(escaped)
	return name, err == nil
}

// lastSegment is the name of the file or folder at a URI.
func lastSegment(uri string) string {
	escaped := uri[strings.LastIndexByte(uri, '/')+1:]
	if name, ok := unescape(escaped); ok {
		return name
	}
	return escaped
}
