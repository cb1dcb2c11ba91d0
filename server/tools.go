package server

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/schema"
)

// ToolFunc does a tool's work. Arguments are an object that fits the tool's
// input schema, with defaults filled in. An error becomes a result that is
// marked as an error, for the model to read, unless it holds a [*jsonrpc.Error]
// or asks for input: those answer the Call itself.
type ToolFunc func(ctx context.Context, c *mcp.Call, arguments jsontext.Value) (*mcp.CallToolResult, error)

// Implementation is what stands behind a tool: its schemas and its work. Make
// one with [Func], [CallFunc] or [Raw].
type Implementation struct {
	input, output *schema.Schema // output is nil where nothing is promised
	run           ToolFunc
	sure          bool // what run returns fits output: its type sees to that

	// runExact is run for arguments that were not checked. It runs only if reading
	// them shows that they fit the schema and that no default is to be filled in.
	// Nil: the schema has to be asked.
	runExact func(ctx context.Context, c *mcp.Call, arguments jsontext.Value) (_ *mcp.CallToolResult, ran bool, _ error)
}

// Raw is a tool whose author brings the schemas, which are kept to the letter.
// A nil output schema promises nothing. A schema that is none panics when the
// tool is added.
func Raw(input, output jsontext.Value, run ToolFunc) Implementation {
	i := Implementation{run: run, input: parseSchema(input)}
	if output != nil {
		i.output = parseSchema(output)
	}
	return i
}

// Wrap returns the implementation with its work inside of another, which sees
// arguments that fit the schema and may answer in its place.
func (i Implementation) Wrap(around func(next ToolFunc) ToolFunc) Implementation {
	i.run, i.runExact = around(i.run), nil // the other takes arguments that were checked
	i.sure = false                         // and returns what it likes
	return i
}

func parseSchema(text jsontext.Value) *schema.Schema {
	s, err := schema.Parse(text)
	if err == nil {
		err = s.Compile()
	}
	if err != nil {
		panic("server: " + err.Error())
	}
	return s
}

// tool is a tool as it is registered.
type tool struct {
	mcp.Tool
	Implementation
	headers []mcp.HeaderParam // parameters that HTTP requests repeat
}

// AddTool offers a tool. The implementation's schemas are put into the
// description; the rest of it is taken as it is. The name must be free.
func (s *Server) AddTool(description mcp.Tool, i Implementation) {
	if description.Name == "" {
		panic("server: a tool needs a name")
	}
	if i.run == nil || i.input == nil {
		panic("server: tool " + description.Name + " has no implementation")
	}
	description.InputSchema = i.input.JSON()
	if i.output != nil {
		description.OutputSchema = i.output.JSON()
	}
	if !s.tools.add(description.Name, &tool{description, i, mustMirror(&description)}) {
		panic("server: tool " + description.Name + " is registered twice")
	}
	s.changed(mcp.NotificationToolsListChanged)
}

// RemoveTool takes a tool away and reports whether it was there.
func (s *Server) RemoveTool(name string) bool {
	removed := s.tools.remove(name)
	if removed {
		s.changed(mcp.NotificationToolsListChanged)
	}
	return removed
}

func (s *Server) listTools(c *mcp.Call) (any, error) {
	return s.tools.page(c, s.opts.PageSize, func(tools []*tool, next *string) any {
		result := &mcp.ListToolsResult{Tools: make([]mcp.Tool, len(tools)), NextCursor: next}
		result.TTLMs, result.CacheScope = s.hints()
		for i, t := range tools {
			result.Tools[i] = t.Tool
		}
		return result
	})
}

// callTool finds the tool, checks the arguments and the output, and makes
// results of errors.
func (s *Server) callTool(ctx context.Context, c *mcp.Call) (any, error) {
	var name, arguments []byte
	for member, value := range jsonscan.Known(c.Long).Members(c.Params) {
		switch string(member) {
		case "name":
			name = value
		case "arguments":
			arguments = value
		}
	}
	if jsonscan.KindOf(name) != jsonscan.String {
		return nil, jsonrpc.InvalidParams("name must be the name of a tool")
	}
	t, ok := s.tools.find(name)
	if !ok {
		return nil, jsonrpc.InvalidParams("Unknown tool: %s", jsonscan.Unquote(name))
	}
	switch jsonscan.KindOf(arguments) {
	case jsonscan.Object:
	case jsonscan.Invalid, jsonscan.Null:
		arguments = []byte("{}")
	default:
		return nil, jsonrpc.InvalidParams("arguments must be an object")
	}
	result, err := t.call(ctx, c, arguments)
	if err != nil {
		return t.failure(err)
	}
	if result == nil {
		s.log.Error("tool returned neither a result nor an error", "tool", t.Name)
		return nil, jsonrpc.InternalError("the tool returned nothing")
	}
	if err := t.checkOutput(result); err != nil {
		s.log.Error("tool output does not fit its schema", "tool", t.Name, "error", err)
		return nil, jsonrpc.InternalError("the tool's output does not fit its output schema")
	}
	return result, nil
}

func (t *tool) call(ctx context.Context, c *mcp.Call, arguments jsontext.Value) (*mcp.CallToolResult, error) {
	if t.runExact != nil {
		if result, ran, err := t.runExact(ctx, c, arguments); ran {
			return result, err
		}
	}
	if err := t.input.Validate(arguments); err != nil {
		return nil, err
	}
	arguments, err := t.input.Defaults(arguments)
	if err != nil {
		return nil, err
	}
	return t.run(ctx, c, arguments)
}

// failure sorts errors: those that answer the Call, and those that the model
// should read.
func (t *tool) failure(err error) (any, error) {
	var (
		wire     *jsonrpc.Error
		missing  *mcp.MissingCapabilityError
		notFound *mcp.ResourceNotFoundError
		invalid  *schema.Invalid
	)
	switch {
	case errors.Is(err, mcp.ErrInputRequired), errors.As(err, &wire), errors.As(err, &missing), errors.As(err, &notFound):
		return nil, err
	case errors.As(err, &invalid):
		return Failed("invalid arguments for " + t.Name + ": " + invalid.Error()), nil
	}
	return Failed(err.Error()), nil
}

// Failed is a result that tells the model what went wrong.
func Failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text(text)}, IsError: true}
}

func (t *tool) checkOutput(r *mcp.CallToolResult) error {
	if t.output == nil || t.sure || r.IsError {
		return nil
	}
	if r.StructuredContent == nil {
		return errors.New("structured content is missing")
	}
	return t.output.Validate(r.StructuredContent)
}
