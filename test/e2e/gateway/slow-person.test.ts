/**
 * A person who thinks for longer than a Worker on Cloudflare lives on after its response, asked by a tool that had asked nothing before: so
 * the Worker itself made that call, with its own session if its server has a stream per session. Server and client are the SDKs' own.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { MODERN_VERSION } from '../support/raw-client.ts';

const THINKS_MS = 45_000;
/** Enough calls to make a tool quiet, and the most calls to wait for its new session. */
const QUIET_CALLS = 7;
const MOST_QUIET_CALLS = 2_000;

/** How a server asks: on the stream of the call, or on that of its session, where the SDK sends messages that name no request. */
const PLACES = ['call', 'session'] as const;
type Place = (typeof PLACES)[number];

let gateway: Gateway;
const https: Server[] = [];
/** Calls of the tools that arrived, by their session. */
const arrived: Record<Place, string[]> = { call: [], session: [] };

function createRemover(place: Place): McpServer {
  const server = new McpServer({ name: 'remover', version: '1' });
  server.registerTool('remove', { inputSchema: { all: z.boolean() } }, async ({ all }, extra) => {
    arrived[place].push(String(extra.sessionId));
    const params = {
      message: 'All of it?',
      requestedSchema: { type: 'object' as const, properties: {} },
    };
    const ask = () =>
      place === 'session'
        ? server.server.elicitInput(params)
        : extra.sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema);
    const said = all ? (await ask()).action : 'not asked';
    return { content: [{ type: 'text', text: said }] };
  });
  return server;
}

/** @returns its URL */
async function serve(place: Place): Promise<string> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const open = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: id => void sessions.set(id, transport),
    });
    await createRemover(place).connect(transport as never);
    return transport;
  };
  const http = createServer((request, response) => {
    void (async () => {
      if (request.method === 'GET' && place === 'call') return void response.writeHead(405).end();
      const transport = sessions.get(String(request.headers['mcp-session-id'])) ?? (await open());
      return transport.handleRequest(request, response);
    })();
  }).listen(0, '127.0.0.1');
  https.push(http);
  await once(http, 'listening');
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

beforeAll(async () => {
  gateway = await startGateway({});
  for (const place of PLACES) await gateway.register(`by-${place}`, await serve(place));
});

afterAll(async () => {
  await gateway?.stop();
  for (const http of https) {
    http.closeAllConnections();
    http.close();
  }
});

it.concurrent.each(PLACES)(
  '[MCP-4] [MCP-5] is waited for when asked on the stream of the %s',
  async place => {
    const client = new Client(
      { name: 'slow-person', version: '1' },
      {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode: { pin: MODERN_VERSION } },
      },
    );
    client.setRequestHandler('elicitation/create', async () => {
      await new Promise(resolve => setTimeout(resolve, THINKS_MS));
      return { action: 'accept' as const, content: {} };
    });
    const requestInit = { headers: { authorization: `Bearer ${gateway.adminToken}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${gateway.origin}/mcp`), { requestInit }),
    );
    const remove = async (all: boolean) => {
      const called = { name: `by-${place}.remove`, arguments: { all } };
      const { content } = await client.callTool(called, { timeout: 4 * THINKS_MS });
      return content;
    };
    const sessions = () => new Set(arrived[place]).size;
    const isReady = (calls: number) =>
      calls >= QUIET_CALLS && (place === 'call' || sessions() > 1 || calls > MOST_QUIET_CALLS);
    let calls = 0;
    for (; !isReady(calls); calls += 1) {
      expect(await remove(false)).toEqual([{ type: 'text', text: 'not asked' }]);
    }
    // One call after the other, so the object would have needed no other session.
    expect(sessions()).toBe(place === 'call' ? 1 : 2);
    expect(await remove(true)).toEqual([{ type: 'text', text: 'accept' }]);
    expect(arrived[place]).toHaveLength(calls + 1);
    expect(await remove(false)).toEqual([{ type: 'text', text: 'not asked' }]);
    await client.close();
  },
);
