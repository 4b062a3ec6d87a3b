/**
 * The minimal upstream MCP server of the benchmark: a child process that responds with JSON as fast as node:http allows.
 *
 * Owns: `POST /modern/{any}` (2026-07-28, stateless), `POST /legacy/{any}` (2025-11-25, one `Mcp-Session-Id` per `initialize`), and `GET
 * /counts`, which returns how often each method was received, so that a run can prove what reached the upstream. Every path serves the same
 * tools: `echo`, `read`, `slow` and 97 generated ones. A path with `telling` declares that it notifies of list changes. Refuses: streams
 * (GET on an MCP path gets 405, but with the argument `streams` a legacy path opens a stream without messages), a legacy request without
 * its session (400, unknown: 404). Ends by itself when the process that forked it is gone.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const TOOLS_PER_SERVER = 100;
/** How long a call of `slow` takes, like that of many servers on the internet. */
const SLOW_MS = 1_000;
const KEEP_ALIVE_MS = 120_000;
const SERVER_INFO = { name: 'bench-upstream', version: '1.0.0' };
const MODERN_RESULT = {
  resultType: 'complete',
  _meta: { 'io.modelcontextprotocol/serverInfo': SERVER_INFO },
};
const MODERN_LIST_RESULT = { ...MODERN_RESULT, ttlMs: 60_000, cacheScope: 'public' };

interface RpcMessage {
  id?: string | number;
  method: string;
  params?: { protocolVersion?: string; name?: string; arguments?: { message?: string } };
}

const tools = [
  {
    name: 'echo',
    description: 'Returns the message it was given.',
    inputSchema: {
      type: 'object',
      properties: { message: { type: 'string', description: 'What to say.' } },
      required: ['message'],
    },
  },
  {
    name: 'read',
    description: 'Returns the message it was given, and says that it only reads.',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'slow',
    description: 'Returns the message it was given, a second later.',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
  },
  ...Array.from({ length: TOOLS_PER_SERVER - 3 }, (_, index) => ({
    name: `tool-${String(index + 1).padStart(2, '0')}`,
    description: `Generated tool ${index + 1}: looks like a usual one, with a few described arguments.`,
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What to look for.' },
        limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many at most.' },
      },
      required: ['query'],
    },
    annotations: { readOnlyHint: true },
  })),
];
const sessions = new Set<string>();
const counts: Record<string, number> = {};

function call(message: RpcMessage): Record<string, unknown> {
  const { name, arguments: input } = message.params ?? {};
  if (name !== 'echo' && name !== 'read' && name !== 'slow')
    return { content: [{ type: 'text', text: `No tool ${name}` }], isError: true };
  return { content: [{ type: 'text', text: input?.message ?? '' }] };
}

const capabilitiesOf = (url: string) => ({
  tools: url.includes('/telling') ? { listChanged: true } : {},
});

function modernResult(message: RpcMessage, url: string): Record<string, unknown> | undefined {
  switch (message.method) {
    case 'tools/call':
      return { ...call(message), ...MODERN_RESULT };
    case 'tools/list':
      return { tools, ...MODERN_LIST_RESULT };
    case 'server/discover':
      return {
        supportedVersions: ['2026-07-28'],
        capabilities: capabilitiesOf(url),
        ...MODERN_LIST_RESULT,
      };
    default:
      return undefined;
  }
}

function legacyResult(message: RpcMessage, url: string): Record<string, unknown> | undefined {
  switch (message.method) {
    case 'tools/call':
      return call(message);
    case 'tools/list':
      return { tools };
    case 'initialize':
      return {
        // Speaks the revision of its client.
        protocolVersion: message.params?.protocolVersion ?? '2025-11-25',
        capabilities: capabilitiesOf(url),
        serverInfo: SERVER_INFO,
      };
    case 'ping':
      return {};
    default:
      return undefined;
  }
}

function send(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify(value);
  const length = Buffer.byteLength(text);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers })
    .end(text);
}

function sendRpc(
  response: ServerResponse,
  message: RpcMessage,
  result: Record<string, unknown> | undefined,
  headers?: Record<string, string>,
): void {
  const { id } = message;
  if (result) return send(response, 200, { jsonrpc: '2.0', id, result }, headers);
  const error = { code: -32601, message: 'Method not found' };
  send(response, 404, { jsonrpc: '2.0', id: id ?? null, error });
}

function answerLegacy(
  message: RpcMessage,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const url = request.url ?? '/';
  if (message.method === 'initialize') {
    const session = randomUUID();
    sessions.add(session);
    return sendRpc(response, message, legacyResult(message, url), { 'mcp-session-id': session });
  }
  const session = request.headers['mcp-session-id'];
  if (typeof session !== 'string') return send(response, 400, { error: 'session missing' });
  if (!sessions.has(session)) return send(response, 404, { error: 'session unknown' });
  if (message.id === undefined) {
    response.writeHead(202).end();
    return;
  }
  sendRpc(response, message, legacyResult(message, url));
}

function answer(body: string, request: IncomingMessage, response: ServerResponse): void {
  let message: RpcMessage;
  try {
    message = JSON.parse(body);
  } catch {
    return send(response, 400, { error: 'not JSON' });
  }
  const url = request.url ?? '/';
  const era = url.startsWith('/legacy/') ? 'legacy' : 'modern';
  const key = `${era} ${message.method}`;
  counts[key] = (counts[key] ?? 0) + 1;
  const reply = () =>
    era === 'legacy'
      ? answerLegacy(message, request, response)
      : sendRpc(response, message, modernResult(message, url));
  if (message.method === 'tools/call' && message.params?.name === 'slow')
    setTimeout(reply, SLOW_MS);
  else reply();
}

function endSession(request: IncomingMessage, response: ServerResponse): void {
  const session = request.headers['mcp-session-id'];
  response.writeHead(typeof session === 'string' && sessions.delete(session) ? 200 : 404).end();
}

const hasStreams = process.argv.includes('streams');

function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
}

const server = createServer((request, response) => {
  if (request.method === 'GET' && request.url === '/counts') return send(response, 200, counts);
  if (request.method === 'DELETE') return endSession(request, response);
  if (request.method === 'GET' && hasStreams && request.url?.startsWith('/legacy/'))
    return openStream(response);
  if (request.method !== 'POST') return send(response, 405, { error: 'only POST' });
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (body += chunk));
  request.on('end', () => answer(body, request, response));
});
server.keepAliveTimeout = KEEP_ALIVE_MS;
server.listen(0, '127.0.0.1', () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
process.on('disconnect', () => process.exit(0));
