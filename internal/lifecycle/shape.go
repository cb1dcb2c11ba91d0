package lifecycle

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// shapeFor gives a result, which is in the newest form, the form of a revision
// of the handshake era: what the revision does not know is left out, or said in
// words that it does. Results are shared, so they are copied before they change.
func shapeFor(rev *revision.Revision, result any) (any, error) {
	memo, ok := result.(*mcp.Memo)
	if !ok {
		return older(rev, result), nil
	}
	text, err := memo.Text(rev.Name, func(result any) ([]byte, error) {
		return jsonrpc.AppendValue(nil, older(rev, result))
	})
	return jsontext.Value(text), err
}

func older(rev *revision.Revision, result any) any {
	switch r := result.(type) {
	case *mcp.CallToolResult:
		return olderToolResult(rev, r)
	case *mcp.ListToolsResult:
		c := *r
		c.ResultType, c.TTLMs, c.CacheScope = "", nil, ""
		c.Tools = each(r.Tools, func(t *mcp.Tool) { olderTool(rev, t) })
		return &c
	case *mcp.ListResourcesResult:
		c := *r
		c.ResultType, c.TTLMs, c.CacheScope = "", nil, ""
		c.Resources = each(r.Resources, func(x *mcp.Resource) { olderResource(rev, x) })
		return &c
	case *mcp.ListResourceTemplatesResult:
		c := *r
		c.ResultType, c.TTLMs, c.CacheScope = "", nil, ""
		c.ResourceTemplates = each(r.ResourceTemplates, func(x *mcp.ResourceTemplate) {
			olderNames(rev, &x.Title, &x.Icons)
			x.Annotations = olderAnnotations(rev, x.Annotations)
			olderMeta(rev, &x.Meta)
		})
		return &c
	case *mcp.ListPromptsResult:
		c := *r
		c.ResultType, c.TTLMs, c.CacheScope = "", nil, ""
		c.Prompts = each(r.Prompts, func(p *mcp.Prompt) { olderPrompt(rev, p) })
		return &c
	case *mcp.ReadResourceResult:
		c := *r
		c.ResultType, c.TTLMs, c.CacheScope = "", nil, ""
		c.Contents = each(r.Contents, func(x *mcp.ResourceContents) { olderMeta(rev, &x.Meta) })
		return &c
	case *mcp.GetPromptResult:
		c := *r
		c.ResultType = ""
		c.Messages = each(r.Messages, func(m *mcp.PromptMessage) { m.Content = olderContent(rev, m.Content) })
		return &c
	case *mcp.CompleteResult:
		c := *r
		c.ResultType = ""
		return &c
	}
	return result
}

// each returns a copy of list with change applied to every element.
func each[T any](list []T, change func(*T)) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(list))
	copy(out, list)
	for i := range out {
		change(&out[i])
	}
	return out
}

// olderToolResult returns r itself if it can stand as it is, as most can.
func olderToolResult(rev *revision.Revision, r *mcp.CallToolResult) *mcp.CallToolResult {
	structured := r.StructuredContent
	if !rev.Structured || !rev.AnyOutput && jsonscan.KindOf(structured) != jsonscan.Object {
		structured = nil
	}
	contents := r.Content
	for i, content := range r.Content {
		shaped := olderContent(rev, content)
		if shaped != content {
			if &contents[0] == &r.Content[0] {
				contents = append(mcp.Contents(nil), r.Content...)
			}
			contents[i] = shaped
		}
	}
	if r.ResultType == "" && len(structured) == len(r.StructuredContent) && (len(contents) == 0 || &contents[0] == &r.Content[0]) {
		return r
	}
	c := *r
	c.ResultType, c.Content, c.StructuredContent = "", contents, structured
	return &c
}

func olderTool(rev *revision.Revision, t *mcp.Tool) {
	olderNames(rev, &t.Title, &t.Icons)
	olderMeta(rev, &t.Meta)
	if !rev.Annotated {
		t.Annotations = nil
	}
	if !rev.Structured || !rev.AnyOutput && !describesObject(t.OutputSchema) {
		t.OutputSchema = nil
	}
}

// describesObject reports whether a schema says at its root that it is for
// objects, as the revisions that wanted that could see.
func describesObject(schema jsontext.Value) bool {
	return string(jsonscan.Get(schema, "type")) == `"object"`
}

func olderResource(rev *revision.Revision, x *mcp.Resource) {
	olderNames(rev, &x.Title, &x.Icons)
	x.Annotations = olderAnnotations(rev, x.Annotations)
	olderMeta(rev, &x.Meta)
}

func olderPrompt(rev *revision.Revision, p *mcp.Prompt) {
	olderNames(rev, &p.Title, &p.Icons)
	olderMeta(rev, &p.Meta)
	if !rev.Structured {
		p.Arguments = each(p.Arguments, func(a *mcp.PromptArgument) { a.Title = "" })
	}
}

func olderNames(rev *revision.Revision, title *string, icons *[]mcp.Icon) {
	if !rev.Structured {
		*title = ""
	}
	if !rev.Icons {
		*icons = nil
	}
}

// olderMeta drops the _meta of a part of a result, which came together with
// titles.
func olderMeta(rev *revision.Revision, meta *mcp.Meta) {
	if !rev.Structured {
		*meta = nil
	}
}

func olderAnnotations(rev *revision.Revision, a *mcp.Annotations) *mcp.Annotations {
	if a == nil || rev.Structured || a.LastModified == "" {
		return a
	}
	c := *a
	c.LastModified = ""
	if c.Audience == nil && c.Priority == nil {
		return nil
	}
	return &c
}

// introduce is the answer to initialize.
func introduce(rev *revision.Revision, found *mcp.DiscoverResult) *mcp.InitializeResult {
	result := &mcp.InitializeResult{
		ProtocolVersion: rev.Name, Capabilities: found.Capabilities, Instructions: found.Instructions,
	}
	info := jsonscan.Get(found.Meta, mcp.MetaServerInfo)
	if info != nil && jsonscan.Check(info, jsonrpc.MaxDepth) == nil { // a foreign handler may write anything; then the name stays empty
		_ = readInfo(info, &result.ServerInfo)
	}
	olderNames(rev, &result.ServerInfo.Title, &result.ServerInfo.Icons)
	if !rev.Icons {
		result.ServerInfo.Description, result.ServerInfo.WebsiteURL = "", ""
	}
	if !rev.Annotated {
		result.Capabilities.Completions = nil
	}
	result.Capabilities.Extensions = nil
	return result
}
