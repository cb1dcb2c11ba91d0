// Gosdk uses bossman as a client built with the official Go SDK does. Its
// arguments are the kind of transport, the command or the address, an API key, and
// the protocol revision to open with, empty for the SDK's own choice. It prints the
// revision that was agreed on and one line about what it saw.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 5 {
		log.Fatal("usage: gosdk KIND TARGET KEY REVISION")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		log.Fatal(err)
	}
}

// account is the line: what the client saw.
type account struct {
	Server  string `json:"server"`
	Tools   string `json:"tools"`
	Status  string `json:"status"`
	Taken   bool   `json:"taken"`
	Done    string `json:"done"`
	Missing string `json:"missing"`
	Unknown int64  `json:"unknown"`
}

func run(ctx context.Context, kind, target, key, revision string) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1.0.0"}, nil)
	session, err := client.Connect(ctx, transport(kind, target, key), &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	seen, err := story(ctx, session)
	if err = errors.Join(err, session.Close()); err != nil {
		return err
	}
	line, err := json.Marshal(seen)
	if err != nil {
		return err
	}
	fmt.Printf("%s\n%s\n", session.InitializeResult().ProtocolVersion, line)
	return nil
}

func transport(kind, target, key string) mcp.Transport {
	web := &http.Client{Transport: keyed(key)}
	switch kind {
	case "stdio":
		return &mcp.CommandTransport{Command: exec.Command(target)}
	case "sse":
		return &mcp.SSEClientTransport{Endpoint: target + "/sse", HTTPClient: web}
	}
	return &mcp.StreamableClientTransport{Endpoint: target + "/mcp", HTTPClient: web}
}

// keyed sends requests with an API key.
type keyed string

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Api-Token", string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// task is as much of a task as the story is about.
type task struct{ ID, Status string }

func story(ctx context.Context, s *mcp.ClientSession) (*account, error) {
	seen := &account{Server: s.InitializeResult().ServerInfo.Name}
	list, err := s.ListTools(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	slices.SortFunc(list.Tools, func(a, b *mcp.Tool) int { return cmp.Compare(a.Name, b.Name) })
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	seen.Tools = strings.Join(names, " ")

	var created, done task
	var taken struct{ Task task }
	if err := call(ctx, s, "create_task", map[string]any{"description": "from a client"}, &created); err != nil {
		return nil, err
	}
	if err := call(ctx, s, "get_next_task", map[string]any{"worker": "go"}, &taken); err != nil {
		return nil, err
	}
	if err := call(ctx, s, "report_task_done", map[string]any{"id": created.ID, "result": "ok"}, &done); err != nil {
		return nil, err
	}
	seen.Status, seen.Taken, seen.Done = created.Status, taken.Task.ID == created.ID, done.Status

	missing, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "get_task", Arguments: map[string]any{"id": "task_xyz"}})
	if err != nil {
		return nil, fmt.Errorf("call get_task: %w", err)
	}
	seen.Missing = fmt.Sprintf("%t %s", missing.IsError, text(missing))
	_, err = s.CallTool(ctx, &mcp.CallToolParams{Name: "nonexistent_tool", Arguments: map[string]any{}})
	var refused *jsonrpc.Error
	if errors.As(err, &refused) {
		seen.Unknown = refused.Code
	}
	return seen, nil
}

// call calls a tool that must succeed and decodes the text it answers with.
func call(ctx context.Context, s *mcp.ClientSession, name string, arguments, into any) error {
	result, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return fmt.Errorf("call %s: %w", name, err)
	}
	if result.IsError {
		return fmt.Errorf("call %s: the tool failed: %s", name, text(result))
	}
	return json.Unmarshal([]byte(text(result)), into)
}

func text(result *mcp.CallToolResult) string {
	if len(result.Content) > 0 {
		if content, ok := result.Content[0].(*mcp.TextContent); ok {
			return content.Text
		}
	}
	return ""
}
