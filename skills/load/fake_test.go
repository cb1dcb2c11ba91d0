package load_test

import (
	"context"
	"sync"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
	"github.com/bossman-mcp/bossman/skills"
)

const (
	uri   = "skill://acme/refunds/SKILL.md"
	email = "skill://acme/refunds/examples/an%20email.md"
	text  = "---\nname: refunds\ndescription: Give money back\nmetadata:\n  version: 1.0\n---\n\nSee [it](examples/an email.md).\n"
	words = "Dear customer\n"
)

// fake is a server that says of its skills what it is told to say, and notes what
// is read.
type fake struct {
	entries []skills.Skill
	files   map[string]string

	mu    sync.Mutex
	reads []string
}

// honest returns a fake whose files match their entry.
func honest() *fake {
	return &fake{
		entries: []skills.Skill{{
			URI:         uri,
			Frontmatter: []byte(`{"description":"Give money back","metadata":{"version":1},"name":"refunds"}`),
			Files:       []skills.File{file(uri, text), file(email, words)},
		}},
		files: map[string]string{uri: text, email: words},
	}
}

func file(uri, content string) skills.File {
	return skills.File{URI: uri, Digest: skills.Digest([]byte(content)), Size: int64(len(content))}
}

func (f *fake) handler() *server.Server {
	s := server.New("fake", "1", nil)
	s.Extension(skills.Extension, nil)
	s.Method(skills.MethodList, func(context.Context, *mcp.Call) (any, error) {
		entries := make([]*skills.Skill, len(f.entries))
		for i := range f.entries {
			entries[i] = &f.entries[i]
		}
		return map[string]any{"skills": entries, "ttlMs": 60_000, "cacheScope": "public"}, nil
	})
	s.Method(skills.MethodGet, func(_ context.Context, c *mcp.Call) (any, error) {
		for i := range f.entries {
			if f.entries[i].URI == jsonscan.Unquote(jsonscan.Get(c.Params, "uri")) {
				return map[string]any{"skill": &f.entries[i]}, nil
			}
		}
		return nil, jsonrpc.InvalidParams("no such skill")
	})
	s.AddTemplate(mcp.ResourceTemplate{URITemplate: "skill://{+path}", Name: "files"},
		func(_ context.Context, _ *mcp.Call, r server.ReadRequest) ([]mcp.ResourceContents, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.reads = append(f.reads, r.URI)
			content, ok := f.files[r.URI]
			if !ok {
				return nil, &mcp.ResourceNotFoundError{URI: r.URI}
			}
			return []mcp.ResourceContents{{Text: content}}, nil
		})
	return s
}

func (f *fake) read() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.reads...)
}
