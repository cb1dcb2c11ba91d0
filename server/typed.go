package server

import (
	"context"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/plain"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/schema"
)

// Tool offers a plain function as a tool. In is a struct; its fields are the
// arguments, described by their tags as package schema says. Out is what the
// tool answers, see [Func]. For titles, annotations and icons use
// [Server.AddTool] with [Func].
func Tool[In, Out any](s *Server, name, description string, run func(ctx context.Context, in In) (Out, error)) {
	s.AddTool(mcp.Tool{Name: name, Description: description}, Func(run))
}

// Func makes a tool's implementation from a plain function. The input schema is
// inferred from In. What Out is decides what the client gets:
//
//   - string: one block of text;
//   - a content block or [mcp.Contents]: those;
//   - [*mcp.CallToolResult]: the result itself;
//   - anything else: structured content, with an output schema inferred from
//     Out, and the same JSON as text for older clients, unless Out is a [Texter].
//
// A type that has no schema panics.
func Func[In, Out any](run func(ctx context.Context, in In) (Out, error)) Implementation {
	return CallFunc(func(ctx context.Context, _ *mcp.Call, in In) (Out, error) { return run(ctx, in) })
}

// CallFunc is [Func] for functions that need their Call: to report progress, to
// ask the user, or to know who is calling.
func CallFunc[In, Out any](run func(ctx context.Context, c *mcp.Call, in In) (Out, error)) Implementation {
	input, codec := mustInfer[In]("arguments"), plain.Of(reflect.TypeFor[In]())
	output, render, sure := rendering[Out]()
	work := func(ctx context.Context, c *mcp.Call, in In) (*mcp.CallToolResult, error) {
		out, err := run(ctx, c, in)
		if err != nil {
			return nil, err
		}
		return render(out)
	}
	i := Implementation{
		input: input, output: output, sure: sure,
		run: func(ctx context.Context, c *mcp.Call, arguments jsontext.Value) (*mcp.CallToolResult, error) {
			in, err := argumentsOf[In](codec, arguments)
			if err != nil {
				return nil, err
			}
			return work(ctx, c, in)
		},
	}
	if codec.Exact() {
		i.runExact = func(ctx context.Context, c *mcp.Call, arguments jsontext.Value) (_ *mcp.CallToolResult, ran bool, _ error) {
			var in In
			if !codec.ReadExact(arguments, jsonscan.Known(c.Long), reflect.ValueOf(&in).Elem()) {
				return nil, false, nil
			}
			result, err := work(ctx, c, in)
			return result, true, err
		}
	}
	return i
}

func mustInfer[T any](what string) *schema.Schema {
	s, err := schema.For[T]()
	if err != nil {
		panic(fmt.Sprintf("server: %s of type %v: %v", what, reflect.TypeFor[T](), err))
	}
	return s
}

// rendering chooses, once, how values of a type become results. The results are sure
// to fit the schema, or have to be checked.
func rendering[Out any]() (_ *schema.Schema, render func(Out) (*mcp.CallToolResult, error), sure bool) {
	content := func(blocks func(Out) mcp.Contents) func(Out) (*mcp.CallToolResult, error) {
		return func(out Out) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: blocks(out)}, nil
		}
	}
	t := reflect.TypeFor[Out]()
	switch {
	case t == reflect.TypeFor[*mcp.CallToolResult]():
		return nil, func(out Out) (*mcp.CallToolResult, error) { return any(out).(*mcp.CallToolResult), nil }, false
	case t.Kind() == reflect.String:
		return nil, content(func(out Out) mcp.Contents {
			return mcp.Contents{mcp.Text(reflect.ValueOf(out).String())}
		}), false
	case t == reflect.TypeFor[mcp.Contents]():
		return nil, content(func(out Out) mcp.Contents { return any(out).(mcp.Contents) }), false
	case t.Implements(reflect.TypeFor[mcp.Content]()):
		return nil, content(func(out Out) mcp.Contents { return mcp.Contents{any(out).(mcp.Content)} }), false
	}
	codec := plain.Of(t)
	var words func(Out) string
	if t.Implements(reflect.TypeFor[Texter]()) {
		words = func(out Out) string { return any(out).(Texter).Text() }
	}
	render = func(out Out) (*mcp.CallToolResult, error) { return structured(codec, words, out) }
	return mustInfer[Out]("output"), render, codec.Fits()
}

// Texter is an output that has words of its own for the model. They are the text of
// the result, in place of the output's JSON; that stays its structured content.
type Texter interface {
	Text() string
}

// structured puts out's JSON into a result, as itself and as text, unless there are
// words for that.
func structured[Out any](codec *plain.Codec, words func(Out) string, out Out) (*mcp.CallToolResult, error) {
	r := &struct { // one allocation for all
		result mcp.CallToolResult
		text   mcp.TextContent
		blocks [1]mcp.Content
		room   [64]byte
	}{}
	text, ok := codec.Append(r.room[:0], reflect.ValueOf(&out).Elem())
	if !ok {
		var err error
		if text, err = json.Marshal(out); err != nil {
			return nil, fmt.Errorf("write the output: %w", err)
		}
	}
	if words != nil {
		r.text.Text = words(out)
	} else {
		r.text.Text = string(text)
	}
	r.blocks[0] = &r.text
	r.result.Content, r.result.StructuredContent = r.blocks[:], text
	return &r.result, nil
}
