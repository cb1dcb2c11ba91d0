package interop_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/need"
	"github.com/bossman-mcp/bossman/stdio"
	"github.com/bossman-mcp/bossman/streamable"
)

const published = "2026.8.31" // of the reference servers

// reference returns the command that starts a reference server.
func reference(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	dir := need.NPM(t, "@modelcontextprotocol/server-"+name+"@"+published)
	return need.NodeTool(t, need.Node(t), dir, "mcp-server-"+name, args...)
}

// asDialer makes our client start what cmd would.
func asDialer(cmd *exec.Cmd) *stdio.Cmd {
	c := stdio.Command(cmd.Path, cmd.Args[1:]...)
	c.Env, c.Dir = cmd.Env, cmd.Dir
	return c
}

func connect(t *testing.T, d client.Dialer) *client.Client {
	t.Helper()
	c, err := client.Connect(t.Context(), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		start := time.Now()
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if took := time.Since(start); took > 6*time.Second {
			t.Errorf("Close took %v", took)
		}
	})
	return c
}

// said calls a tool and returns its text.
func said(t *testing.T, c *client.Client, tool string, arguments map[string]any) string {
	t.Helper()
	result, err := c.CallTool(t.Context(), tool, arguments, nil)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if result.IsError {
		t.Errorf("%s failed: %s", tool, client.TextOf(result.Content))
	}
	return client.TextOf(result.Content)
}

func toolNames(t *testing.T, c *client.Client) []string {
	t.Helper()
	tools, err := client.Collect(c.Tools(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestServerEverything(t *testing.T) {
	for _, kind := range []string{"stdio", "streamableHttp", "sse"} {
		t.Run(kind, func(t *testing.T) {
			var d client.Dialer
			switch kind {
			case "stdio":
				d = asDialer(reference(t, "everything", "stdio"))
			case "streamableHttp":
				d = streamable.Dial(listening(t, kind)+"/mcp", nil)
			case "sse":
				d = streamable.Dial(listening(t, kind)+"/sse", nil)
			}
			c := connect(t, d)
			names := toolNames(t, c)
			for _, want := range []string{"echo", "get-sum"} {
				if !slices.Contains(names, want) {
					t.Fatalf("no tool %s among %v", want, names)
				}
			}
			mentions(t, said(t, c, "echo", map[string]any{"message": "hello from Go"}), "hello from Go")
			mentions(t, said(t, c, "get-sum", map[string]any{"a": 2, "b": 40}), "42")
			prompts, err := client.Collect(c.Prompts(t.Context()))
			if err != nil || len(prompts) == 0 {
				t.Errorf("prompts: %d, %v", len(prompts), err)
			}
			resources, err := client.Collect(c.Resources(t.Context()))
			if err != nil || len(resources) == 0 {
				t.Fatalf("resources: %d, %v", len(resources), err)
			}
			contents, err := c.ReadResource(t.Context(), resources[0].URI, nil)
			if err != nil || len(contents.Contents) == 0 {
				t.Errorf("read %s: %v", resources[0].URI, err)
			}
		})
	}
}

// listening starts server-everything on a free port and returns its address.
func listening(t *testing.T, kind string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	cmd := reference(t, "everything", kind)
	cmd.Env = append(cmd.Environ(), "PORT="+strconv.Itoa(port))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for range 200 {
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			return "http://" + address
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("server-everything does not listen")
	return ""
}

func TestServerFilesystem(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, asDialer(reference(t, "filesystem", dir)))
	file := filepath.Join(dir, "note.txt")
	said(t, c, "write_file", map[string]any{"path": file, "content": "written by a client in Go"})
	text, err := os.ReadFile(file)
	if err != nil || string(text) != "written by a client in Go" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	mentions(t, said(t, c, "read_text_file", map[string]any{"path": file}), "written by a client in Go")
	mentions(t, said(t, c, "list_directory", map[string]any{"path": dir}), "note.txt")
	result, err := c.CallTool(t.Context(), "read_text_file", map[string]any{"path": "/etc/hostname"}, nil)
	if err != nil || !result.IsError {
		t.Errorf("a file outside was read: %v, %v", result, err)
	}
}

func TestServerMemory(t *testing.T) {
	cmd := reference(t, "memory")
	cmd.Env = append(cmd.Environ(), "MEMORY_FILE_PATH="+filepath.Join(t.TempDir(), "memory.json"))
	c := connect(t, asDialer(cmd))
	said(t, c, "create_entities", map[string]any{"entities": []map[string]any{
		{"name": "bossman", "entityType": "program", "observations": []string{"keeps tasks"}},
	}})
	mentions(t, said(t, c, "read_graph", nil), "bossman", "keeps tasks")
	mentions(t, said(t, c, "search_nodes", map[string]any{"query": "tasks"}), "bossman")
}

func TestServerSequentialThinking(t *testing.T) {
	c := connect(t, asDialer(reference(t, "sequential-thinking")))
	if names := toolNames(t, c); !slices.Contains(names, "sequentialthinking") {
		t.Fatalf("tools: %v", names)
	}
	for n := range 2 {
		got := said(t, c, "sequentialthinking", map[string]any{
			"thought": "step " + strings.Repeat("I", n+1), "thoughtNumber": n + 1, "totalThoughts": 2, "nextThoughtNeeded": n == 0,
		})
		mentions(t, got, fmt.Sprintf(`"thoughtNumber": %d`, n+1))
	}
}
