// The contract of the benchmark served by the TypeScript SDK, used as its
// documentation shows: zod schemas and default options.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod/v4';

const option = name => {
    const at = process.argv.indexOf(name);
    return at < 0 ? undefined : process.argv[at + 1];
};
const tools = Number(option('-tools') ?? 0);
const address = option('-http');

const text = value => ({ content: [{ type: 'text', text: value }] });

const search = z.object({
    query: z.string().describe('Words that the documents must hold'),
    limit: z.int().optional().describe('How many documents to return at most'),
    tags: z.array(z.string()).optional().describe('Tags that the documents must all have'),
    since: z.string().optional().describe('The oldest date to look at, such as 2026-01-31'),
    author: z
        .object({ name: z.string().describe('Full name'), email: z.string().optional().describe('Address') })
        .optional()
        .describe('Who wrote the documents')
});

function newServer() {
    const server = new McpServer({ name: 'typescript', version: '1.0.0' });
    server.registerTool(
        'add',
        {
            description: 'Add two numbers together',
            inputSchema: z.object({ a: z.number().describe('First number'), b: z.number().describe('Second number') }),
            outputSchema: z.object({ sum: z.number().describe('The sum of a and b') })
        },
        async ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } })
    );
    server.registerTool(
        'echo',
        { description: 'Say it again', inputSchema: z.object({ text: z.string().describe('What to say') }) },
        async ({ text: words }) => text(words)
    );
    server.registerTool(
        'slow',
        { description: 'Sleep for a while', inputSchema: z.object({ ms: z.int().describe('How long to sleep, in milliseconds') }) },
        async ({ ms }) => {
            await sleep(ms);
            return text('done');
        }
    );
    server.registerTool(
        'count',
        { description: 'Count and report each step', inputSchema: z.object({ n: z.int().describe('How many steps to report') }) },
        async ({ n }, ctx) => {
            const progressToken = ctx.mcpReq._meta?.progressToken;
            for (let i = 1; i <= n; i++) {
                await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: i, total: n } });
            }
            return text('done');
        }
    );
    for (let i = 0; i < tools; i++) {
        server.registerTool(
            `search_${String(i).padStart(3, '0')}`,
            { description: 'Search the archive for documents that match, newest first', inputSchema: search },
            async ({ query }) => text(query)
        );
    }
    return server;
}

// The default allows 1,024 subscriptions, fewer than the benchmark opens.
const modern = toNodeHandler(createMcpHandler(newServer, { legacy: 'reject', maxSubscriptions: 10_000 }));

const sessions = new Map();

async function legacy(req, res) {
    const known = sessions.get(req.headers['mcp-session-id']);
    if (known) {
        return known.handleRequest(req, res);
    }
    const transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: id => {
            sessions.set(id, transport);
        }
    });
    await newServer().connect(transport);
    return transport.handleRequest(req, res);
}

if (address) {
    const [host, port] = address.split(':');
    createServer((req, res) =>
        req.headers['mcp-protocol-version'] === '2026-07-28' ? modern(req, res) : legacy(req, res)
    ).listen(Number(port), host);
} else {
    serveStdio(newServer);
}
