package mcp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bossman-mcp/bossman/jsonrpc"
)

// ErrInputRequired is what a question returns while its answer is not there.
// The handler returns it, as it is or wrapped, and is run again from its start
// once the client has answered. So a handler asks first and acts afterwards.
// Questions that do not depend on each other are best asked together:
//
//	name, err1 := c.Elicit("name", …)
//	city, err2 := c.Sample("city", …)
//	if err := errors.Join(err1, err2); err != nil {
//		return nil, err
//	}
var ErrInputRequired = errors.New("input required")

// Input is what the rounds of one Call hand on: answers the client gave, state
// the handler kept, and questions that are still open.
type Input struct {
	Answers InputResponses
	State   jsontext.Value // what Keep was given in the last round
	Used    InputResponses // answers the handler has read in this round
	Wanted  InputRequests  // asked in this round
}

// Elicit asks the user for input, by a form or by sending them to a URL. The key
// names the question within this Call.
func (c *Call) Elicit(key string, p *ElicitParams) (*ElicitResult, error) {
	have := c.Client.Capabilities.Elicitation
	switch {
	case p.Mode == ElicitURL && !have.HasURL():
		return nil, missing(ClientCapabilities{Elicitation: &ElicitationCapability{URL: &Supported{}}})
	case p.Mode != ElicitURL && !have.HasForm():
		return nil, missing(ClientCapabilities{Elicitation: &ElicitationCapability{Form: &Supported{}}})
	}
	return ask[ElicitResult](c, key, MethodElicit, p)
}

// Sample asks the client's model for a message.
func (c *Call) Sample(key string, p *CreateMessageParams) (*CreateMessageResult, error) {
	have := c.Client.Capabilities.Sampling
	if have == nil {
		return nil, missing(ClientCapabilities{Sampling: &SamplingCapability{}})
	}
	if have.Tools == nil && (len(p.Tools) > 0 || p.ToolChoice != nil) {
		return nil, missing(ClientCapabilities{Sampling: &SamplingCapability{Tools: &Supported{}}})
	}
	return ask[CreateMessageResult](c, key, MethodCreateMessage, p)
}

// Roots asks the client which folders it works in.
func (c *Call) Roots(key string) (*ListRootsResult, error) {
	if c.Client.Capabilities.Roots == nil {
		return nil, missing(ClientCapabilities{Roots: &RootsCapability{}})
	}
	return ask[ListRootsResult](c, key, MethodListRoots, nil)
}

// Keep hands state to the next round, where [Call.State] returns it. It travels
// through the client, sealed: the client can neither read nor change it, nor use
// it for another request or after it expired.
func (c *Call) Keep(state any) error {
	text, err := marshal(state)
	if err != nil {
		return fmt.Errorf("keep state: %w", err)
	}
	c.Input.State = text
	return nil
}

// State returns what the last round kept, nil in the first.
func (c *Call) State() jsontext.Value { return c.Input.State }

// ask returns the answer to a question, or notes the question as wanted.
func ask[R any](c *Call, key, method string, params any) (*R, error) {
	if answer, ok := c.Input.Answers[key]; ok {
		result := new(R)
		if err := json.Unmarshal(answer, result); err != nil {
			return nil, jsonrpc.InvalidParams("the answer to the question %q is not a result of %s", key, method)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.Input.Used == nil {
			c.Input.Used = make(InputResponses)
		}
		c.Input.Used[key] = answer
		return result, nil
	}
	var raw jsontext.Value
	if params != nil {
		var err error
		if raw, err = json.Marshal(params); err != nil {
			return nil, fmt.Errorf("ask %s: %w", key, err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.ContainsFunc(c.Input.Wanted, func(r InputRequest) bool { return r.Key == key }) {
		c.Input.Wanted = append(c.Input.Wanted, InputRequest{Key: key, Method: method, Params: raw})
	}
	return nil, ErrInputRequired
}

// InputResponses are the client's answers, by the key of the question. Each is
// the result of the method that was asked for.
type InputResponses map[string]jsontext.Value

// InputRequest is a question to the client, under a key.
type InputRequest struct {
	Key    string
	Method string
	Params jsontext.Value // nil when the method has none
}

// InputRequests are questions in the order they were asked. In JSON they are an
// object, by key.
type InputRequests []InputRequest

// InputRequiredResult tells the client what to find out before it retries.
type InputRequiredResult struct {
	Meta          Meta          `json:"_meta,omitzero"`
	ResultType    string        `json:"resultType,omitzero"`
	InputRequests InputRequests `json:"inputRequests,omitzero"`
	RequestState  *string       `json:"requestState,omitzero"` // to be sent back as it is
}

// inputRequestBody is an InputRequest without its key.
type inputRequestBody struct {
	Method string         `json:"method"`
	Params jsontext.Value `json:"params,omitzero"`
}

// MarshalJSONTo writes the questions as an object.
func (rs InputRequests) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, r := range rs {
		if err := enc.WriteToken(jsontext.String(r.Key)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, inputRequestBody{r.Method, r.Params}); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// UnmarshalJSONFrom reads the questions from an object, in its order.
func (rs *InputRequests) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if kind := dec.PeekKind(); kind != '{' {
		return fmt.Errorf("inputRequests must be an object, not %v", kind)
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	*rs = InputRequests{}
	for dec.PeekKind() != '}' {
		var r InputRequest
		if err := json.UnmarshalDecode(dec, &r.Key); err != nil {
			return err
		}
		var body inputRequestBody
		if err := json.UnmarshalDecode(dec, &body); err != nil {
			return err
		}
		r.Method, r.Params = body.Method, body.Params
		*rs = append(*rs, r)
	}
	_, err := dec.ReadToken()
	return err
}
