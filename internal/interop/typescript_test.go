package interop_test

import (
	"testing"

	"github.com/bossman-mcp/bossman/internal/need"
)

// story is what every TypeScript client does with bossman: it prints one line
// that the tests compare. Its arguments are the kind of transport, and the command
// or the address.
const story = `
async function story(client, transport) {
  await client.connect(transport);
  const server = client.getServerVersion();
  const { tools } = await client.listTools();
  const created = await client.callTool({ name: "create_task", arguments: { description: "from a client" } });
  const task = JSON.parse(created.content[0].text);
  const taken = await client.callTool({ name: "get_next_task", arguments: { worker: "typescript" } });
  const done = await client.callTool({ name: "report_task_done", arguments: { id: task.id, result: "ok" } });
  const missing = await client.callTool({ name: "get_task", arguments: { id: "task_xyz" } });
  let unknown = 0;
  try { await client.callTool({ name: "nonexistent_tool", arguments: {} }); } catch (e) { unknown = e.code; }
  if (transport.terminateSession) await transport.terminateSession();
  await client.close();
  console.log(JSON.stringify({
    server: server && server.name, tools: tools.map(t => t.name).sort().join(" "), status: task.status,
    taken: JSON.parse(taken.content[0].text).task.id === task.id, done: JSON.parse(done.content[0].text).status,
    missing: missing.isError + " " + missing.content[0].text, unknown,
  }));
}
const [kind, target, key] = process.argv.slice(1);
const headers = { "X-Api-Token": key };
const info = { name: "interop", version: "1.0.0" };
`

const told = `{"server":"bossman","tools":"create_task get_next_task get_task list_tasks report_task_done","status":"pending","taken":true,"done":"done","missing":"true error: task not found: task_xyz","unknown":-32602}` + "\n"

// sdk1 drives the first generation of the SDK.
const sdk1 = `
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
` + story + `
let transport;
if (kind === "stdio") {
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  transport = new StdioClientTransport({ command: target, args: [] });
} else if (kind === "http") {
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  transport = new StreamableHTTPClientTransport(new URL(target + "/mcp"), { requestInit: { headers } });
} else {
  const { SSEClientTransport } = await import("@modelcontextprotocol/sdk/client/sse.js");
  transport = new SSEClientTransport(new URL(target + "/sse"), {
    requestInit: { headers },
    eventSourceInit: { headers, fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...headers } }) },
  });
}
await story(new Client(info, { capabilities: {} }), transport);
`

func TestTheFirstTypeScriptSDKs(t *testing.T) {
	for _, tc := range []struct {
		version string
		kinds   []string
	}{
		{"1.0.4", []string{"stdio"}}, // its other transport cannot send a key
		{"1.7.0", []string{"stdio", "sse"}},
		{"1.12.3", []string{"stdio", "http", "sse"}},
		{"1.22.0", []string{"stdio", "http", "sse"}},
		{"1.32.2", []string{"stdio", "http", "sse"}},
	} {
		t.Run(tc.version, func(t *testing.T) {
			dir := need.NPM(t, "@modelcontextprotocol/sdk@"+tc.version)
			for _, kind := range tc.kinds {
				t.Run(kind, func(t *testing.T) { tell(t, dir, sdk1, kind) })
			}
		})
	}
}

// tell runs a story over one kind of transport.
func tell(t *testing.T, dir, script, kind string) {
	t.Helper()
	target := program
	if kind != "stdio" {
		target = serveHTTP
	}
	if got := output(t, need.NodeCommand(t, dir, script, kind, target(t), apiKey)); got != told {
		t.Errorf("got  %s\nwant %s", got, told)
	}
}

// sdk2 drives the second generation, which speaks both eras.
func sdk2(mode string) string {
	return `
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
` + story + `
const transport = kind === "stdio"
  ? new StdioClientTransport({ command: target, args: [] })
  : new StreamableHTTPClientTransport(new URL(target + "/mcp"), { requestInit: { headers } });
await story(new Client(info, { capabilities: {}, versionNegotiation: { mode: ` + mode + ` } }), transport);
`
}

func TestTheSecondTypeScriptSDK(t *testing.T) {
	dir := need.NPM(t, "@modelcontextprotocol/client@2.4.0")
	for name, mode := range map[string]string{
		"pinned to the newest": `{ pin: "2026-07-28" }`,
		"automatic":            `"auto"`,
		"legacy":               `"legacy"`,
	} {
		for _, kind := range []string{"stdio", "http"} {
			t.Run(name+" over "+kind, func(t *testing.T) { tell(t, dir, sdk2(mode), kind) })
		}
	}
}
