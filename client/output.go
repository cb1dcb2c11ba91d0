package client

import (
	"bytes"
	"errors"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/schema"
)

// toolbox is what the client remembers of the tools it has listed: the schemas
// that their results must fit.
type toolbox struct {
	mu      sync.Mutex
	outputs map[string]*output // by tool
}

// output is the schema of one tool's results. It is compiled when the tool is
// listed. Nothing outside its text is ever looked at; see package schema.
type output struct {
	text   jsontext.Value
	schema *schema.Schema
	err    error // why there is no schema
}

// maxTools is how many tools are remembered; a server that lists more is checked
// less.
const maxTools = 10_000

func (b *toolbox) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.outputs = nil
}

// learn remembers a tool as it was listed last.
func (b *toolbox) learn(t *mcp.Tool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.outputs[t.Name]
	switch {
	case t.OutputSchema == nil:
		delete(b.outputs, t.Name)
	case known != nil && bytes.Equal(known.text, t.OutputSchema): // and perhaps compiled
	case known == nil && len(b.outputs) >= maxTools:
	default:
		if b.outputs == nil {
			b.outputs = make(map[string]*output)
		}
		o := &output{text: t.OutputSchema}
		o.schema, o.err = schema.Parse(t.OutputSchema)
		b.outputs[t.Name] = o
	}
}

func (b *toolbox) output(tool string) *output {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.outputs[tool]
}

// usable reports why results cannot be checked: a schema that is none, that is
// too costly, or that refers to something outside.
func (o *output) usable() error {
	if o == nil {
		return nil
	}
	if o.err != nil {
		return o.err
	}
	return o.schema.Compile()
}

// check holds a result to the schema. Failures promise nothing.
func (o *output) check(r *mcp.CallToolResult) error {
	switch {
	case o == nil || r.IsError:
		return nil
	case r.StructuredContent == nil:
		return errors.New("structured content is missing")
	}
	return o.schema.Validate(r.StructuredContent)
}

// mirrored returns the headers that a tool wants, as the transport takes them.
func mirrored(params []mcp.HeaderParam) map[string]string {
	if len(params) == 0 {
		return nil
	}
	headers := make(map[string]string, len(params))
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, p := range params {
		pointer := ""
		for _, name := range p.Path {
			pointer += "/" + escape.Replace(name)
		}
		headers[pointer] = p.Name
	}
	return headers
}
