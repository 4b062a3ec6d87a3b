/**
 * Hosts that support only stdio, each with `portico stdio` as its server: the 2.x SDK in each of its modes and the 1.x SDK. Owns
 * connecting, the answers to questions, and the record of messages.
 */
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { COMPILE_CACHE, MAIN, type Message } from './portico-command.ts';
import { MODERN_VERSION } from './raw-client.ts';

export interface CallOptions {
  signal?: AbortSignal;
  onprogress?: () => void;
}

export interface StdioHost {
  era: 'legacy' | 'modern';
  listTools(): Promise<{ name: string }[]>;
  call(name: string, given?: object, options?: CallOptions): Promise<Record<string, unknown>>;
  /** How often it was notified that the tools changed. */
  changes(): number;
  /** Every message received, unchanged; the SDK drops progress that arrives together with its result. */
  heard: Message[];
  close(): Promise<void>;
}

const identity = { name: 'portico-e2e', version: '1.0.0' };
const capabilities = { sampling: {}, elicitation: { form: {} } };
const sampled = {
  role: 'assistant' as const,
  content: { type: 'text' as const, text: 'sampled here' },
  model: 'none',
};
const accepted = { action: 'accept' as const, content: { username: 'ada', email: 'a@b.example' } };

/** How a host starts its server. */
export const serverParameters = (url: string, token: string) => ({
  command: process.execPath,
  args: [MAIN, 'stdio'],
  env: { ...COMPILE_CACHE, PORTICO_URL: url, PORTICO_TOKEN: token },
  stderr: 'inherit' as const,
});

/** Records every message before the SDK processes it. */
function record(transport: object): Message[] {
  const heard: Message[] = [];
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has this property only
  (transport as { onmessage?: (message: Message) => void }).onmessage = message =>
    void heard.push(message);
  return heard;
}

async function connect1(url: string, token: string): Promise<StdioHost> {
  const client = new Client1(identity, { capabilities });
  let changes = 0;
  client.setRequestHandler(CreateMessageRequestSchema, () => sampled);
  client.setRequestHandler(ElicitRequestSchema, () => accepted);
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (changes += 1));
  const transport = new Stdio1(serverParameters(url, token));
  const heard = record(transport);
  await client.connect(transport);
  return {
    heard,
    era: 'legacy',
    listTools: async () => (await client.listTools()).tools,
    call: (name, given = {}, options = {}) =>
      client.callTool({ name, arguments: given as Record<string, unknown> }, undefined, options),
    changes: () => changes,
    close: () => client.close(),
  };
}

async function connect2(
  mode: 'auto' | 'legacy' | 'pinned',
  url: string,
  token: string,
): Promise<StdioHost> {
  const client = new Client2(identity, {
    capabilities,
    versionNegotiation: { mode: mode === 'pinned' ? { pin: MODERN_VERSION } : mode },
  });
  let changes = 0;
  client.setRequestHandler('sampling/createMessage', () => sampled);
  client.setRequestHandler('elicitation/create', () => accepted);
  client.setNotificationHandler('notifications/tools/list_changed', () => void (changes += 1));
  const transport = new Stdio2(serverParameters(url, token));
  const heard = record(transport);
  await client.connect(transport);
  const era = mode === 'legacy' ? 'legacy' : 'modern';
  if (era === 'modern') await client.listen({ toolsListChanged: true });
  return {
    heard,
    era,
    listTools: async () => (await client.listTools()).tools,
    call: (name, given = {}, options = {}) =>
      client.callTool({ name, arguments: given as Record<string, unknown> }, options),
    changes: () => changes,
    close: () => client.close(),
  };
}

/** Every kind of host, by its name in test titles. */
export const hosts: Record<string, (url: string, token: string) => Promise<StdioHost>> = {
  'SDK 2.x auto': (url, token) => connect2('auto', url, token),
  'SDK 2.x legacy': (url, token) => connect2('legacy', url, token),
  'SDK 2.x pinned to 2026-07-28': (url, token) => connect2('pinned', url, token),
  'SDK 1.x': connect1,
};
