/**
 * Third-party clients behind one interface: the 1.x SDK, the 2.x SDK in each of its modes, and `mcp-remote` as a stdio bridge under a 1.x
 * client. Owns connecting and closing; does not change their results.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { MODERN_VERSION } from './raw-client.ts';
import type { Target } from './raw-client.ts';

export interface McpClient {
  listTools(): Promise<{ name: string; [key: string]: unknown }[]>;
  callTool(name: string, given?: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

const identity = { name: 'portico-e2e', version: '1.0.0' };
const proxy = fileURLToPath(
  new URL('../../../node_modules/mcp-remote/dist/proxy.js', import.meta.url),
);

function requestInit(target: Target): { requestInit: { headers: Record<string, string> } } {
  const headers: Record<string, string> = {};
  if (target.token !== undefined) headers['authorization'] = `Bearer ${target.token}`;
  return { requestInit: { headers } };
}

async function connectWithSdk1(transport: Transport): Promise<McpClient> {
  const client = new Client1(identity);
  await client.connect(transport);
  return {
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, given = {}) => client.callTool({ name, arguments: given }),
    close: () => client.close(),
  };
}

async function connectWithSdk2(
  target: Target,
  mode: 'auto' | 'legacy' | 'pinned',
): Promise<McpClient> {
  const client = new Client2(identity, {
    versionNegotiation: { mode: mode === 'pinned' ? { pin: MODERN_VERSION } : mode },
  });
  await client.connect(new Http2(new URL(target.url), requestInit(target)));
  return {
    listTools: async () => (await client.listTools()).tools,
    callTool: async (name, given = {}) => client.callTool({ name, arguments: given }),
    close: () => client.close(),
  };
}

async function throughMcpRemote(target: Target, protocol: 'legacy' | 'auto'): Promise<McpClient> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-mcp-remote-'));
  const header = ['--header', `Authorization: Bearer ${target.token ?? ''}`];
  const args = [proxy, target.url, '--transport', 'http-only', '--protocol', protocol, ...header];
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, MCP_REMOTE_CONFIG_DIR: folder };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    env,
    stderr: 'ignore',
  });
  const client = await connectWithSdk1(transport);
  const close = async () => {
    await client.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...client, close };
}

/** Every third-party client, by its name in test titles. */
export const clients = {
  'SDK 1.x': (target: Target) =>
    connectWithSdk1(new Http1(new URL(target.url), requestInit(target)) as Transport),
  'SDK 2.x auto': (target: Target) => connectWithSdk2(target, 'auto'),
  'SDK 2.x pinned to 2026-07-28': (target: Target) => connectWithSdk2(target, 'pinned'),
  'SDK 2.x legacy': (target: Target) => connectWithSdk2(target, 'legacy'),
  'mcp-remote': (target: Target) => throughMcpRemote(target, 'legacy'),
  'mcp-remote auto': (target: Target) => throughMcpRemote(target, 'auto'),
} satisfies Record<string, (target: Target) => Promise<McpClient>>;

export type ClientName = keyof typeof clients;
export const clientNames = Object.keys(clients) as ClientName[];

/** Connects to an HTTP+SSE upstream, to make the same call directly. */
export const connectToSse = (url: string): Promise<McpClient> =>
  connectWithSdk1(new SSEClientTransport(new URL(url)));
