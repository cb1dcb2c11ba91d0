package interop_test

import (
	"testing"

	"github.com/bossman-mcp/bossman/internal/need"
)

func TestTheInspectorsCommandLine(t *testing.T) {
	dir := need.NPM(t, "@modelcontextprotocol/inspector@2.12.0")
	node := need.Node(t)
	for _, era := range []string{"auto", "modern", "legacy"} {
		t.Run(era+" over stdio", func(t *testing.T) {
			server := program(t)
			mentions(t, output(t, need.NodeTool(t, node, dir, "mcp-inspector", "--cli", "--method", "tools/list", "--strict", "--format", "json", "--protocol-era", era, "--", server)),
				`"create_task"`, `"report_task_done"`)
			mentions(t, output(t, need.NodeTool(t, node, dir, "mcp-inspector", "--cli", "--method", "tools/call", "--tool-name", "create_task",
				"--tool-args-json", `{"description":"inspected"}`, "--format", "json", "--protocol-era", era, "--", server)), "inspected", "task_")
		})
		t.Run(era+" over HTTP", func(t *testing.T) {
			url := serveHTTP(t)
			mentions(t, output(t, need.NodeTool(t, node, dir, "mcp-inspector", "--cli", "--method", "tools/list", "--strict", "--format", "json", "--protocol-era", era,
				"--transport", "http", "--server-url", url+"/mcp", "--header", "X-Api-Token: "+apiKey)), `"create_task"`)
		})
	}
}

func TestTheOlderInspectorsCommandLine(t *testing.T) {
	dir := need.NPM(t, "@modelcontextprotocol/inspector@0.22.0")
	node := need.Node(t)
	url := serveHTTP(t)
	mentions(t, output(t, need.NodeTool(t, node, dir, "mcp-inspector", "--cli", url+"/mcp", "--transport", "http", "--method", "tools/list", "--header", "X-Api-Token: "+apiKey)), `"create_task"`)
	mentions(t, output(t, need.NodeTool(t, node, dir, "mcp-inspector", "--cli", program(t), "--method", "tools/list")), `"create_task"`)
}

func TestMcporter(t *testing.T) {
	node := need.Node24(t)
	dir := need.NPM(t, "mcporter@0.12.3")
	server := program(t)
	mentions(t, output(t, need.NodeTool(t, node, dir, "mcporter", "list", "--stdio", server, "--name", "p", "--json")), `"create_task"`)
	mentions(t, output(t, need.NodeTool(t, node, dir, "mcporter", "call", "--stdio", server, "--name", "p", "--tool", "create_task", "--args", `{"description":"ported"}`, "--output", "json")), "ported", "task_")
}

// remote drives the SDK through mcp-remote, which stands in front of an HTTP
// server as a stdio one.
const remote = `
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
` + story + `
const args = ["node_modules/mcp-remote/dist/proxy.js", target + "/mcp", "--allow-http", "--header", "X-Api-Token:" + key];
await story(new Client(info, { capabilities: {} }), new StdioClientTransport({ command: process.execPath, args, stderr: "ignore", env: process.env }));
`

func TestMcpRemote(t *testing.T) {
	dir := need.NPM(t, "mcp-remote@0.15.1", "@modelcontextprotocol/sdk@1.32.2")
	cmd := need.NodeCommand(t, dir, remote, "remote", serveHTTP(t), apiKey)
	cmd.Env = append(cmd.Environ(), "MCP_REMOTE_CONFIG_DIR="+t.TempDir())
	if got := output(t, cmd); got != told {
		t.Errorf("got  %s\nwant %s", got, told)
	}
}
