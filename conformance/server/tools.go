package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

// none is the input of tools without arguments.
type none struct{}

// pixel is the smallest picture there is, in PNG.
var pixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89")

// silence is the smallest sound there is, in WAV.
var silence = []byte("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00")

func embedded() mcp.Content {
	return mcp.Embed(mcp.ResourceContents{URI: "test://embedded", MIMEType: "text/plain", Text: "embedded text"})
}

func addContentTools(s *server.Server) {
	fixed := func(name, description string, contents ...mcp.Content) {
		server.Tool(s, name, description, func(context.Context, none) (mcp.Contents, error) { return contents, nil })
	}
	fixed("test_simple_text", "Answer with text", mcp.Text("This is a simple text answer."))
	fixed("test_image_content", "Answer with a picture", mcp.Image(pixel, "image/png"))
	fixed("test_audio_content", "Answer with a sound", mcp.Audio(silence, "audio/wav"))
	fixed("test_embedded_resource", "Answer with a resource", embedded())
	fixed("test_multiple_content_types", "Answer with several kinds of content", mcp.Text("several"), mcp.Image(pixel, "image/png"), embedded())
	server.Tool(s, "test_error_handling", "Fail", func(context.Context, none) (string, error) {
		return "", errors.New("this tool always fails")
	})
}

// pause is how far apart the suite wants notifications.
const pause = 50 * time.Millisecond

func addReportingTools(s *server.Server) {
	report := func(name, description string, say func(ctx context.Context, c *mcp.Call, step int) error) {
		s.AddTool(mcp.Tool{Name: name, Description: description}, server.CallFunc(func(ctx context.Context, c *mcp.Call, _ none) (string, error) {
			for step := range 3 {
				if err := say(ctx, c, step); err != nil {
					return "", err
				}
				time.Sleep(pause)
			}
			return "reported", nil
		}))
	}
	report("test_tool_with_progress", "Report progress", func(ctx context.Context, c *mcp.Call, step int) error {
		return c.Progress(ctx, float64(step*50), 100, "working")
	})
	say := func(ctx context.Context, c *mcp.Call, step int) error {
		return c.Log(ctx, mcp.LevelInfo, "conformance", fmt.Sprintf("step %d", step))
	}
	report("test_tool_with_logging", "Send log messages", say)
	report("test_logging_tool", "Send log messages to those who want them", say)
	s.AddTool(mcp.Tool{Name: "test_reconnection", Description: "Let the client go and answer when it is back"},
		server.CallFunc(func(_ context.Context, c *mcp.Call, _ none) (string, error) {
			c.Release()
			time.Sleep(2 * pause)
			return "welcome back", nil
		}))
	server.Tool(s, "test_streaming_elicitation", "Answer at once", func(context.Context, none) (string, error) { return "done", nil })
}

func addChangingTools(s *server.Server) {
	var count atomic.Int64
	server.Tool(s, "test_trigger_tool_change", "Add a tool", func(context.Context, none) (string, error) {
		name := fmt.Sprintf("added_tool_%d", count.Add(1))
		server.Tool(s, name, "A tool that was added while serving", func(context.Context, none) (string, error) { return "added", nil })
		s.RemoveTool(name)
		return "changed", nil
	})
	server.Tool(s, "test_trigger_prompt_change", "Add a prompt", func(context.Context, none) (string, error) {
		name := fmt.Sprintf("added_prompt_%d", count.Add(1))
		addPrompt(s, mcp.Prompt{Name: name, Description: "A prompt that was added while serving"}, mcp.Text("added"))
		s.RemovePrompt(name)
		return "changed", nil
	})
}

func addSchemaTools(s *server.Server) {
	echo := func(_ context.Context, _ *mcp.Call, arguments jsontext.Value) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text(string(arguments))}}, nil
	}
	s.AddTool(mcp.Tool{Name: "json_schema_2020_12_tool", Description: "Has a schema that uses much of its dialect"}, server.Raw(jsontext.Value(`{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"type": "object",
		"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {
			"name": {"type": "string"},
			"address": {"$ref": "#/$defs/address"},
			"contactMethod": {"type": "string", "enum": ["phone", "email"]},
			"phone": {"type": "string"},
			"email": {"type": "string"}
		},
		"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
		"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
		"then": {"required": ["phone"]},
		"else": {"required": ["email"]},
		"additionalProperties": false
	}`), nil, echo))
	s.AddTool(mcp.Tool{Name: "test_x_mcp_header", Description: "Has a parameter that clients repeat in a header"}, server.Raw(jsontext.Value(`{
		"type": "object",
		"properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "level": {"type": "integer"}},
		"additionalProperties": false
	}`), nil, echo))
}
