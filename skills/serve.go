package skills

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// Options are what [Serve] can be told; nil means the zero value of each.
type Options struct {
	// Prefix stands before the paths of skills in their URIs, such as
	// "acme/billing". Empty: nothing does.
	Prefix string
	// Dynamic names skills, by their path in the file system, whose files change
	// while they are served. Clients get no list of their files and cannot check
	// them; some will not use such a skill. Nil: none does.
	Dynamic []string
	// Nested says that skills inside the folder of a skill are offered on their
	// own too, and must then be valid. False: they are only files of that skill.
	Nested bool
	// TTL is how long clients may keep what they are told of skills. 0: they should
	// not.
	TTL time.Duration
	// Public says that all callers may see all skills, so that shared caches may
	// keep them. False: only the caller may.
	Public bool
	// PageSize is the most skills of one page of the list, and the most entries of
	// one page of a folder. 0: 50.
	PageSize int
}

// Serve offers the skills in fsys: every folder, at any depth, that has a SKILL.md.
// A skill in the folder a/b has the URI skill://a/b/SKILL.md. Its files can be read as
// resources, its folders can be listed, and its SKILL.md is in the list of resources.
// Call it once for a server.
//
// All skills are checked first: the first that breaks a rule is the error, and then
// nothing is offered. Files and folders whose names begin with a dot are passed over.
// Links, devices and pipes are refused. Skills are what they are when Serve is called,
// and a file that changes later is not served; see [Options.Dynamic]. Digests are made
// when they are first asked for.
//
// If others can write to the folders, let fsys be that of an [os.Root], so that
// no link that appears later can lead out of it.
func Serve(s *server.Server, fsys fs.FS, opts *Options) error {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.PageSize <= 0 {
		o.PageSize = 50
	}
	c, err := scan(fsys, &o)
	if err != nil {
		return fmt.Errorf("serve skills: %w", err)
	}
	for _, k := range c.skills {
		s.AddResource(k.resource(), c.read)
	}
	s.AddTemplate(mcp.ResourceTemplate{URITemplate: c.base + "{+path}", Name: "skill-files", Description: "Files of skills"}, c.read)
	s.Method(MethodList, c.list)
	s.Method(MethodGet, c.get)
	s.Method(MethodReadDirectory, c.readDirectory)
	s.Extension(Extension, map[string]bool{"directoryRead": true})
	return nil
}

// ListResult is one page of skills.
type ListResult struct {
	Skills []*Skill `json:"skills"`
	// NextCursor asks for the next page; nil on the last.
	NextCursor *string `json:"nextCursor,omitzero"`
	TTLMs      int64   `json:"ttlMs"`
	CacheScope string  `json:"cacheScope"` // mcp.CachePublic or mcp.CachePrivate
}

// GetResult is one skill.
type GetResult struct {
	Skill      *Skill `json:"skill"`
	TTLMs      int64  `json:"ttlMs"`
	CacheScope string `json:"cacheScope"` // mcp.CachePublic or mcp.CachePrivate
}

// DirectoryResult is one page of what is in a folder: files, and folders, which have
// the MIME type [DirectoryType].
type DirectoryResult struct {
	Resources []mcp.Resource `json:"resources"`
	// NextCursor asks for the next page; nil on the last.
	NextCursor *string `json:"nextCursor,omitzero"`
}

// list answers skills/list. A dynamic skill that is not valid at the moment is left
// out.
func (c *catalogue) list(_ context.Context, call *mcp.Call) (any, error) {
	after, err := cursorOf(call)
	if err != nil {
		return nil, err
	}
	found, next := page(c.skills, after, c.opts.PageSize, func(k *offered) string { return k.uri })
	result := &ListResult{Skills: make([]*Skill, 0, len(found)), NextCursor: next}
	result.TTLMs, result.CacheScope = c.hints()
	for _, k := range found {
		entry, err := c.entry(k)
		switch {
		case err == nil:
			result.Skills = append(result.Skills, entry)
		case !k.dynamic:
			return nil, err
		}
	}
	return result, nil
}

// get answers skills/get.
func (c *catalogue) get(_ context.Context, call *mcp.Call) (any, error) {
	uri, err := uriOf(call)
	if err != nil {
		return nil, err
	}
	k := c.byURI[uri]
	if k == nil {
		return nil, jsonrpc.InvalidParams("No skill is served at %s", uri)
	}
	entry, err := c.entry(k)
	if err != nil {
		return nil, err
	}
	result := &GetResult{Skill: entry}
	result.TTLMs, result.CacheScope = c.hints()
	return result, nil
}

// hints are the cache hints of entries.
func (c *catalogue) hints() (ttl int64, scope string) {
	if c.opts.Public {
		return c.opts.TTL.Milliseconds(), mcp.CachePublic
	}
	return c.opts.TTL.Milliseconds(), mcp.CachePrivate
}

// maxURI is the longest URI that is looked up, in bytes.
const maxURI = 8192

// uriOf returns the URI that a Call is about.
func uriOf(call *mcp.Call) (string, error) {
	raw := jsonscan.Get(call.Params, "uri")
	if jsonscan.KindOf(raw) != jsonscan.String {
		return "", jsonrpc.InvalidParams("uri must be a string")
	}
	if len(raw) > maxURI {
		return "", jsonrpc.InvalidParams("uri is longer than %d bytes", maxURI)
	}
	return jsonscan.Unquote(raw), nil
}

// resource is the skill's SKILL.md in the list of resources.
func (k *offered) resource() mcp.Resource {
	return mcp.Resource{URI: k.uri, Name: k.name(), Description: k.description, MIMEType: markdown}
}

func (k *offered) name() string { return k.path[strings.LastIndexByte(k.path, '/')+1:] }
