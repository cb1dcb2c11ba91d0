package main

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/server"
)

func elicit(c *mcp.Call, key, message, form string) (*mcp.ElicitResult, error) {
	return c.Elicit(key, &mcp.ElicitParams{Message: message, RequestedSchema: jsontext.Value(form)})
}

func sample(c *mcp.Call, key, prompt string) (string, error) {
	answer, err := c.Sample(key, &mcp.CreateMessageParams{
		Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.Contents{mcp.Text(prompt)}}},
		MaxTokens: 100,
	})
	if err != nil {
		return "", err
	}
	return client.TextOf(answer.Content), nil
}

// ask adds a tool without arguments that needs its Call.
func ask(s *server.Server, name, description string, run func(c *mcp.Call) (string, error)) {
	s.AddTool(mcp.Tool{Name: name, Description: description}, server.CallFunc(func(_ context.Context, c *mcp.Call, _ none) (string, error) {
		return run(c)
	}))
}

func addQuestionTools(s *server.Server) {
	type prompt struct {
		Prompt string `json:"prompt" doc:"What to ask the model"`
	}
	s.AddTool(mcp.Tool{Name: "test_sampling", Description: "Ask the client's model"}, server.CallFunc(func(_ context.Context, c *mcp.Call, in prompt) (string, error) {
		return sample(c, "answer", in.Prompt)
	}))
	type message struct {
		Message string `json:"message" doc:"What to ask the user"`
	}
	s.AddTool(mcp.Tool{Name: "test_elicitation", Description: "Ask the user"}, server.CallFunc(func(_ context.Context, c *mcp.Call, in message) (string, error) {
		answer, err := elicit(c, "user", in.Message, `{"type":"object","properties":{"username":{"type":"string"},"email":{"type":"string"}},"required":["username","email"]}`)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s %s", answer.Action, answer.Content), nil
	}))
	form := func(name, description, fields string) {
		ask(s, name, description, func(c *mcp.Call) (string, error) {
			answer, err := elicit(c, "form", description, fields)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s %s", answer.Action, answer.Content), nil
		})
	}
	form("test_elicitation_sep1034_defaults", "Ask with defaults", `{"type":"object","properties":{
		"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
		"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`)
	form("test_elicitation_sep1330_enums", "Ask to choose", `{"type":"object","properties":{
		"untitledSingle":{"type":"string","enum":["one","two"]},
		"titledSingle":{"type":"string","oneOf":[{"const":"one","title":"One"},{"const":"two","title":"Two"}]},
		"legacyEnum":{"type":"string","enum":["one","two"],"enumNames":["One","Two"]},
		"untitledMulti":{"type":"array","items":{"type":"string","enum":["one","two"]}},
		"titledMulti":{"type":"array","items":{"anyOf":[{"const":"one","title":"One"},{"const":"two","title":"Two"}]}}}}`)
	ask(s, "test_missing_capability", "Need the client's model", func(c *mcp.Call) (string, error) { return sample(c, "answer", "Are you there?") })
}

const nameForm = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`

// addRoundTools adds the tools that take more than one round in the stateless era.
func addRoundTools(s *server.Server) {
	ask(s, "test_input_required_result_elicitation", "Ask for a name", func(c *mcp.Call) (string, error) {
		answer, err := elicit(c, "user_name", "What is your name?", nameForm)
		if err != nil {
			return "", err
		}
		return "Hello, " + string(answer.Content), nil
	})
	ask(s, "test_input_required_result_sampling", "Ask a model", func(c *mcp.Call) (string, error) {
		return sample(c, "capital_question", "What is the capital of France?")
	})
	ask(s, "test_input_required_result_list_roots", "Ask for roots", func(c *mcp.Call) (string, error) {
		roots, err := c.Roots("client_roots")
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d roots", len(roots.Roots)), nil
	})
	confirmed := func(name string) {
		ask(s, name, "Ask to confirm, with state", func(c *mcp.Call) (string, error) {
			if err := c.Keep("state of " + name); err != nil {
				return "", err
			}
			if _, err := elicit(c, "confirm", "Are you sure?", `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`); err != nil {
				return "", err
			}
			return "state-ok " + string(c.State()), nil
		})
	}
	confirmed("test_input_required_result_request_state")
	confirmed("test_input_required_result_tampered_state")
	ask(s, "test_input_required_result_multiple_inputs", "Ask three things at once", threeInputs)
	ask(s, "test_input_required_result_multi_round", "Ask twice, one after the other", twoRounds)
	ask(s, "test_input_required_result_capabilities", "Ask what the client can answer", func(c *mcp.Call) (string, error) {
		if c.Client.Capabilities.Elicitation.HasForm() {
			if _, err := elicit(c, "name", "What is your name?", nameForm); err != nil {
				return "", err
			}
			return "asked the user", nil
		}
		return sample(c, "name", "Make up a name.")
	})
}

func threeInputs(c *mcp.Call) (string, error) {
	if err := c.Keep("three"); err != nil {
		return "", err
	}
	answer, err1 := elicit(c, "name", "What is your name?", nameForm)
	greeting, err2 := sample(c, "greeting", "Greet somebody.")
	roots, err3 := c.Roots("roots")
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s %s %d", answer.Content, greeting, len(roots.Roots)), nil
}

func twoRounds(c *mcp.Call) (string, error) {
	for step, key := range []string{"step1", "step2"} {
		if err := c.Keep(step); err != nil {
			return "", err
		}
		if _, err := elicit(c, key, "Step by step", nameForm); err != nil {
			return "", err
		}
	}
	return "both steps done", nil
}
