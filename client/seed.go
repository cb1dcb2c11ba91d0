package client

import (
	"context"
	"encoding/base64"
	"errors"
	"sync"

	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/stdio"
)

// Server is an MCP server in a child process, for programs that want its tools
// and nothing else. [Client] can do more.
type Server struct {
	command *stdio.Cmd

	mu     sync.Mutex
	client *Client // nil until started
}

// NewServer returns the server that a command line starts. No shell sees it, and
// nothing runs before [Server.Start].
func NewServer(command string, args ...string) *Server {
	return &Server{command: stdio.Command(command, args...)}
}

// Start starts the process and greets the server.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		return errors.New("start server: it was started before")
	}
	c, err := Connect(context.Background(), s.command, nil)
	if err != nil {
		return err
	}
	s.client = c
	return nil
}

func (s *Server) started() (*Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		return nil, errors.New("the server was not started")
	}
	return s.client, nil
}

// ListTools returns all the server's tools.
func (s *Server) ListTools() (Tools, error) {
	c, err := s.started()
	if err != nil {
		return nil, err
	}
	var tools Tools
	for t, err := range c.Tools(context.Background()) {
		if err != nil {
			return nil, err
		}
		tools = append(tools, Tool{Name: t.Name, Description: t.Description, RawInputSchema: t.InputSchema})
	}
	return tools, nil
}

// Call calls a tool. If the tool says that it failed, the error is a [*ToolError]
// and the content is there too, for the model to read.
func (s *Server) Call(name string, args map[string]any) ([]ToolResultContent, error) {
	c, err := s.started()
	if err != nil {
		return nil, err
	}
	result, err := c.CallTool(context.Background(), name, args, nil)
	if err != nil {
		return nil, err
	}
	content := make([]ToolResultContent, len(result.Content))
	for i, block := range result.Content {
		content[i] = flat(block)
	}
	if result.IsError {
		return content, &ToolError{Tool: name, Result: result}
	}
	return content, nil
}

// Close shuts the server down and waits until its process is gone. Closing a
// server that was not started does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	c := s.client
	s.mu.Unlock()
	if c == nil {
		return nil
	}
	return c.Close()
}

// Tools is a list of tools.
type Tools []Tool

// ByName returns the tool with that name, and whether there is one.
func (ts Tools) ByName(name string) (Tool, bool) {
	for _, t := range ts {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Tool is a tool of a [Server].
type Tool struct {
	Name           string
	Description    string // when to use it
	RawInputSchema []byte // the JSON Schema of the arguments, as it was sent
}

// ToolResultContent is one block of what a tool answered.
type ToolResultContent struct {
	Type     string // "text" or "image"; also "audio", "resource_link" and "resource"
	Text     string // of a text, of a resource that is text; the URI of a link
	Data     string // of an image, of audio, of a resource that is bytes: base64
	MimeType string // of Data, and of a resource
}

// flat gives a block the one form that all of them share.
func flat(block mcp.Content) ToolResultContent {
	switch b := block.(type) {
	case *mcp.TextContent:
		return ToolResultContent{Type: "text", Text: b.Text}
	case *mcp.ImageContent:
		return ToolResultContent{Type: "image", Data: base64.StdEncoding.EncodeToString(b.Data), MimeType: b.MIMEType}
	case *mcp.AudioContent:
		return ToolResultContent{Type: "audio", Data: base64.StdEncoding.EncodeToString(b.Data), MimeType: b.MIMEType}
	case *mcp.ResourceLink:
		return ToolResultContent{Type: "resource_link", Text: b.URI, MimeType: b.MIMEType}
	case *mcp.EmbeddedResource:
		r := &b.Resource
		return ToolResultContent{Type: "resource", Text: r.Text, Data: base64.StdEncoding.EncodeToString(r.Blob), MimeType: r.MIMEType}
	case *mcp.UnknownContent:
		return ToolResultContent{Type: b.Type, Text: string(b.Raw)}
	}
	return ToolResultContent{}
}
