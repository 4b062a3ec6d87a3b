/** A server at which everybody needs an account: it returns the token of its caller, and refuses callers without one. */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { until } from '../../fixtures/start-fixture.ts';
import type { Gateway } from './gateway.ts';

const SOON_MS = 60_000;

export interface NotesServer {
  url: string;
  stop(): void;
}

/** Starts it: a tool, a prompt and a resource, for callers whose token ends in `-at-notes`; they return that token in capitals. */
export async function startNotes(): Promise<NotesServer> {
  const server: Server = createServer(async (request, response) => {
    const token = /^Bearer (\S+-at-notes)$/.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) return void response.writeHead(401).end();
    const mcp = new McpServer({ name: 'notes', version: '1.0.0' });
    const text = `You are ${token.toUpperCase()}`;
    const annotations = { readOnlyHint: true };
    mcp.registerTool('whoami', { description: 'Who calls', annotations }, () => ({
      content: [{ type: 'text', text }],
    }));
    mcp.registerPrompt('greet', { description: 'Greets' }, () => ({
      messages: [{ role: 'user', content: { type: 'text', text } }],
    }));
    mcp.registerResource('me', 'note://me', {}, ({ href: uri }) => ({ contents: [{ uri, text }] }));
    const transport = new StreamableHTTPServerTransport({});
    await mcp.connect(transport as Transport);
    await transport.handleRequest(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, stop: () => void server.close() };
}

/** Registers it as `notes`, with accounts. @returns a function that waits until it has a status */
export async function registerNotes(
  gateway: Gateway,
  { url }: NotesServer,
): Promise<(status: string) => Promise<unknown>> {
  const body = {
    name: 'notes',
    transport_type: 'HTTP',
    connection_config: { url },
    accounts: 'per_principal',
    tool_approval: 'trust',
  };
  const { json } = await gateway.api('POST', '/api/v1/aggregator/servers', body);
  return status =>
    until(`notes is ${status}`, SOON_MS, async () => {
      const found = await gateway.api('GET', `/api/v1/aggregator/servers/${String(json['id'])}`);
      return found.json['status'] === status || undefined;
    });
}

/** Connects an account over the API. */
export async function connectNotes(gateway: Gateway, token: string, name: string): Promise<void> {
  const body = { server: 'notes', token: `${name}-at-notes` };
  const { status, text } = await gateway.api('POST', '/api/v1/accounts', body, token);
  if (status !== 201) throw new Error(`${status} ${text}`);
}
