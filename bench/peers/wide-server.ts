/**
 * The upstream that is called, restarted and listed: a server on the SDK 1.x with its defaults. `/mcp/FIRST/COUNT` has `echo` and COUNT
 * tools from number FIRST on; at `/quiet/FIRST/COUNT` sessions have no notification stream. Arguments: `http PORT`, or `stdio FIRST COUNT`.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const VERBS = ['list', 'get', 'create', 'update', 'delete', 'search', 'export', 'archive', 'share'];
const THINGS = [
  'issue',
  'branch',
  'message',
  'invoice',
  'order',
  'ticket',
  'event',
  'page',
  'file',
];
const PURPOSES = [
  'Use it before anything is changed.',
  'The answer names each of them with its state.',
  'Only those that the account may see are considered.',
  'Large answers come in pages, with a cursor for the next.',
];

const pick = (values: readonly string[], at: number) => values[at % values.length] ?? '';

function toTool(index: number) {
  const [verb, thing] = [pick(VERBS, index), pick(THINGS, Math.floor(index / VERBS.length))];
  return {
    name: `${verb}_${thing}_${index}`,
    description: `Lets you ${verb} a ${thing} of the workspace. ${pick(PURPOSES, index)}`,
    inputSchema: {
      type: 'object' as const,
      properties: {
        [`${thing}_id`]: { type: 'string', description: `Which ${thing} it is` },
        limit: { type: 'integer', description: 'How many at most' },
      },
      required: [`${thing}_id`],
    },
  };
}

const ECHO = {
  name: 'echo',
  description: 'Answers with its message',
  inputSchema: {
    type: 'object' as const,
    properties: { message: { type: 'string' } },
    required: ['message'],
  },
};

function createWideServer(first: number, count: number): Server {
  const server = new Server({ name: 'wide', version: '1.0.0' }, { capabilities: { tools: {} } });
  const tools = [ECHO, ...Array.from({ length: count }, (_, index) => toTool(first + index))];
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: 'text', text: String(params.arguments?.['message']) }],
  }));
  return server;
}

const sessions = new Map<string, StreamableHTTPServerTransport>();

async function openTransport(path: string): Promise<StreamableHTTPServerTransport> {
  const [first = 0, count = 0] = path.split('/').slice(2).map(Number);
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: id => void sessions.set(id, transport),
  });
  await createWideServer(first, count).connect(transport as never);
  return transport;
}

function serveHttp(port: number): void {
  const server = createServer(async (request, response) => {
    const isStream = request.method === 'GET';
    if (isStream && request.url?.startsWith('/quiet')) return void response.writeHead(405).end();
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && !known) {
      const error = { code: -32001, message: 'Session not found' };
      response.writeHead(404, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
    }
    await (known ?? (await openTransport(request.url ?? ''))).handleRequest(request, response);
  });
  server.listen(port, '127.0.0.1');
}

const [way, first, count] = process.argv.slice(2);
if (way === 'http') serveHttp(Number(first));
else await createWideServer(Number(first), Number(count)).connect(new StdioServerTransport());
