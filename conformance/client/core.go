package main

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/mcp"
)

func coreScenarios() map[string]scenario {
	return map[string]scenario{
		"initialize":               plain(listTools),
		"json-schema-ref-no-deref": plain(listTools),
		"tools_call": plain(func(ctx context.Context, c *client.Client) error {
			return listAndCall(ctx, c, "add_numbers", map[string]any{"a": 5, "b": 3})
		}),
		"sse-retry": plain(func(ctx context.Context, c *client.Client) error {
			return listAndCall(ctx, c, "test_reconnection", nil)
		}),
		"json-schema-2020-12-preservation":    plain(echoSchema),
		"http-standard-headers":               plain(useAll),
		"http-invalid-tool-headers":           plain(callAll),
		"http-custom-headers":                 customHeaders,
		"request-metadata":                    requestMetadata,
		"elicitation-sep1034-client-defaults": formDefaults,
		"sep-2322-client-request-state":       inputRounds,
	}
}

// plain is a scenario that needs nothing but a client.
func plain(do func(ctx context.Context, c *client.Client) error) scenario {
	return func(ctx context.Context, s *stage) error {
		return s.with(ctx, nil, client.Options{}, func(c *client.Client) error { return do(ctx, c) })
	}
}

func listTools(ctx context.Context, c *client.Client) error {
	_, err := client.Collect(c.Tools(ctx))
	return err
}

func call(ctx context.Context, c *client.Client, tool string, arguments any) error {
	result, err := c.CallTool(ctx, tool, arguments, nil)
	if err == nil && result.IsError {
		err = &client.ToolError{Tool: tool, Result: result}
	}
	return err
}

func listAndCall(ctx context.Context, c *client.Client, tool string, arguments any) error {
	if err := listTools(ctx, c); err != nil {
		return err
	}
	return call(ctx, c, tool, arguments)
}

// echoSchema sends a tool's schema back, to show that nothing of it was lost.
func echoSchema(ctx context.Context, c *client.Client) error {
	var input jsontext.Value
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			return err
		}
		if tool.Name == "json_schema_2020_12_tool" {
			input = tool.InputSchema
		}
	}
	if input == nil {
		return fmt.Errorf("the server does not list the tool whose schema to echo")
	}
	return call(ctx, c, "json_schema_echo", map[string]any{"schema": input})
}

// useAll uses one of each kind that the server lists.
func useAll(ctx context.Context, c *client.Client) error {
	tools, err := client.Collect(c.Tools(ctx))
	if err != nil {
		return err
	}
	resources, err := client.Collect(c.Resources(ctx))
	if err != nil {
		return err
	}
	prompts, err := client.Collect(c.Prompts(ctx))
	if err != nil {
		return err
	}
	if len(tools) == 0 || len(resources) == 0 || len(prompts) == 0 {
		return fmt.Errorf("the server lists %d tools, %d resources, %d prompts", len(tools), len(resources), len(prompts))
	}
	if err := call(ctx, c, tools[0].Name, nil); err != nil {
		return err
	}
	if _, err := c.ReadResource(ctx, resources[0].URI, nil); err != nil {
		return err
	}
	_, err = c.GetPrompt(ctx, prompts[0].Name, nil, nil)
	return err
}

// callAll calls every tool that is left after those with headers that cannot be.
func callAll(ctx context.Context, c *client.Client) error {
	tools, err := client.Collect(c.Tools(ctx))
	if err != nil {
		return err
	}
	for _, tool := range tools {
		if err := call(ctx, c, tool.Name, map[string]any{"region": "us-west1"}); err != nil {
			return err
		}
	}
	return nil
}

func customHeaders(ctx context.Context, s *stage) error {
	return s.with(ctx, nil, client.Options{}, func(c *client.Client) error {
		if err := listTools(ctx, c); err != nil {
			return err
		}
		for _, wanted := range s.props.ToolCalls {
			if err := call(ctx, c, wanted.Name, wanted.Arguments); err != nil {
				return err
			}
		}
		return nil
	})
}

// requestMetadata can answer whatever the protocol lets a server ask.
func requestMetadata(ctx context.Context, s *stage) error {
	opts := client.Options{
		Elicit: acceptForm,
		Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "none", Role: mcp.RoleAssistant, Content: mcp.Contents{mcp.Text("Hello.")}}, nil
		},
		Roots: func(context.Context) ([]mcp.Root, error) { return nil, nil },
	}
	return s.with(ctx, nil, opts, func(c *client.Client) error { return listTools(ctx, c) })
}

// acceptForm fills in nothing: the client adds the form's defaults.
func acceptForm(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
}

func formDefaults(ctx context.Context, s *stage) error {
	return s.with(ctx, nil, client.Options{Elicit: acceptForm}, func(c *client.Client) error {
		return listAndCall(ctx, c, "test_client_elicitation_defaults", nil)
	})
}

// inputRounds calls tools that ask before they answer, and some that do not.
func inputRounds(ctx context.Context, s *stage) error {
	confirm := func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: jsontext.Value(`{"confirmed":true}`)}, nil
	}
	return s.with(ctx, nil, client.Options{Elicit: confirm}, func(c *client.Client) error {
		if err := listTools(ctx, c); err != nil {
			return err
		}
		for _, tool := range []string{"test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type"} {
			if err := call(ctx, c, tool, nil); err != nil {
				return err
			}
		}
		return nil
	})
}
