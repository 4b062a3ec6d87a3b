/**
 * The clients of the benchmark: the official SDK 1.x in the legacy era, 2.x in the modern one, behind one interface. They declare all
 * client capabilities, answer server requests always alike, and keep notifications.
 */
import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Era } from '../exchanges.ts';
import type { Endpoint } from './gateway.ts';

/** An item of a list as the SDK returns it. */
export interface Listed {
  name: string;
  uri?: string;
  uriTemplate?: string;
  [key: string]: unknown;
}

/** Options of a call besides its arguments. */
export interface CallOptions {
  onProgress?(progress: number): void;
  signal?: AbortSignal;
}

/** A connected client. */
export interface BenchClient {
  /** Reads every page of a list. */
  list(kind: 'tools' | 'prompts' | 'resources' | 'templates'): Promise<Listed[]>;
  call(name: string, given?: object, options?: CallOptions): Promise<Record<string, unknown>>;
  prompt(name: string, given?: Record<string, string>): Promise<Record<string, unknown>>;
  complete(prompt: string, argument: string, value: string): Promise<readonly string[]>;
  read(uri: string): Promise<Record<string, unknown>>;
  subscribe(uri: string): Promise<void>;
  /** Subscribes to log messages and list changes, in the way of the era. */
  listen(): Promise<void>;
  /** The notifications received so far, as JSON text. */
  told: string[];
  /** The text received over HTTP; empty over stdio. */
  received(): string;
  close(): Promise<void>;
}

const IDENTITY = { name: 'portico-bench', version: '1.0.0' };
const CAPABILITIES = { roots: {}, sampling: {}, elicitation: { form: {} } };
const PAGES = 1_000;
const TIMEOUT_MS = 6_000;
const SAMPLED = {
  model: 'm',
  role: 'assistant' as const,
  content: { type: 'text' as const, text: 'sampled' },
};
const FILLED_IN = { action: 'accept' as const, content: { name: 'Ada' } };
/** The roots that the clients declare. */
export const ROOTS = [{ uri: 'file:///projects/here', name: 'here' }];
const MEMBERS = {
  tools: 'tools',
  prompts: 'prompts',
  resources: 'resources',
  templates: 'resourceTemplates',
} as const;

const OFFERS = {
  tools: 'tools',
  prompts: 'prompts',
  resources: 'resources',
  templates: 'resources',
} as const;

/** A `fetch` that can keep a copy of the responses. */
function createKeptFetch(isKept: boolean) {
  const decoder = new TextDecoder();
  let text = '';
  const read = async (body: ReadableStream<Uint8Array>) => {
    for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  };
  const keptFetch = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(input, init);
    if (!isKept || !response.body) return response;
    const [given, kept] = response.body.tee();
    read(kept).catch(() => undefined);
    const { status, statusText, headers } = response;
    return new Response(given, { status, statusText, headers });
  };
  return { fetch: keptFetch, received: () => text };
}

type Kept = ReturnType<typeof createKeptFetch>;
type Lists = Record<
  'tools' | 'prompts' | 'resources' | 'templates',
  (cursor: object) => Promise<unknown>
>;

async function readPages(lists: Lists, kind: keyof Lists): Promise<Listed[]> {
  const listed: Listed[] = [];
  let cursor: object = {};
  for (let page = 0; page < PAGES; page += 1) {
    const result = (await lists[kind](cursor)) as Record<string, Listed[]> & {
      nextCursor?: string;
    };
    listed.push(...(result[MEMBERS[kind]] ?? []));
    if (result.nextCursor === undefined) return listed;
    cursor = { cursor: result.nextCursor };
  }
  throw new Error(`more than ${PAGES} pages`);
}

const listsOf = (client: Client1 | Client2): Lists => ({
  tools: cursor => client.listTools(cursor),
  prompts: cursor => client.listPrompts(cursor),
  resources: cursor => client.listResources(cursor),
  templates: cursor => client.listResourceTemplates(cursor),
});

const toOptions = ({ onProgress, signal }: CallOptions) => ({
  timeout: TIMEOUT_MS,
  ...(signal && { signal }),
  ...(onProgress && { onprogress: ({ progress }: { progress: number }) => onProgress(progress) }),
});

function transport1(endpoint: Endpoint, kept: Kept): Transport {
  if (endpoint.transport === 'stdio') {
    const { command, env } = endpoint;
    return new Stdio1({ command: process.execPath, args: [...command], env, stderr: 'ignore' });
  }
  const url = new URL(endpoint.url);
  const options = { requestInit: { headers: endpoint.headers ?? {} }, fetch: kept.fetch };
  if (endpoint.transport === 'sse') return new SSEClientTransport(url, options) as Transport;
  return new Http1(url, options) as Transport;
}

async function connect1(endpoint: Endpoint, kept: Kept): Promise<BenchClient> {
  const client = new Client1(IDENTITY, { capabilities: CAPABILITIES });
  const told: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, () => FILLED_IN);
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLED);
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: ROOTS }));
  client.fallbackNotificationHandler = async message => void told.push(JSON.stringify(message));
  await client.connect(transport1(endpoint, kept), { timeout: TIMEOUT_MS });
  const lists = listsOf(client);
  return {
    told,
    received: kept.received,
    list: kind => readPages(lists, kind),
    call: (name, given = {}, options = {}) =>
      client.callTool({ name, arguments: { ...given } }, undefined, toOptions(options)),
    prompt: (name, given = {}) => client.getPrompt({ name, arguments: given }),
    complete: async (name, argument, value) => {
      const ref = { type: 'ref/prompt' as const, name };
      return (await client.complete({ ref, argument: { name: argument, value } })).completion
        .values;
    },
    read: uri => client.readResource({ uri }),
    subscribe: async uri => void (await client.subscribeResource({ uri })),
    listen: async () => {
      if (client.getServerCapabilities()?.logging) await client.setLoggingLevel('info');
    },
    close: () => client.close(),
  };
}

async function connect2(endpoint: Endpoint, kept: Kept): Promise<BenchClient> {
  if (endpoint.transport === 'sse') throw new Error('SDK 2 has no HTTP+SSE');
  const client = new Client2(IDENTITY, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: 'auto' },
  });
  const told: string[] = [];
  client.setRequestHandler('elicitation/create', () => FILLED_IN);
  client.setRequestHandler('sampling/createMessage', () => SAMPLED);
  client.setRequestHandler('roots/list', () => ({ roots: ROOTS }));
  client.fallbackNotificationHandler = async message => void told.push(JSON.stringify(message));
  const transport =
    endpoint.transport === 'stdio'
      ? new Stdio2({
          command: process.execPath,
          args: [...endpoint.command],
          env: endpoint.env,
          stderr: 'ignore',
        })
      : new Http2(new URL(endpoint.url), {
          requestInit: { headers: endpoint.headers ?? {} },
          fetch: kept.fetch,
        });
  await client.connect(transport, { timeout: TIMEOUT_MS });
  const lists = listsOf(client);
  const offered = client.getServerCapabilities();
  const isModern = client.getProtocolEra() === 'modern';
  const meta = isModern ? { _meta: { 'io.modelcontextprotocol/logLevel': 'info' } } : {};
  return {
    told,
    received: kept.received,
    // The SDK itself answers requests that the server does not support, and logs to standard output.
    list: async kind => (offered?.[OFFERS[kind]] ? readPages(lists, kind) : []),
    call: async (name, given = {}, options = {}) =>
      client.callTool({ name, arguments: { ...given }, ...meta }, toOptions(options)),
    prompt: (name, given = {}) => client.getPrompt({ name, arguments: given }),
    complete: async (name, argument, value) => {
      const ref = { type: 'ref/prompt' as const, name };
      return (await client.complete({ ref, argument: { name: argument, value } })).completion
        .values;
    },
    read: uri => client.readResource({ uri }),
    subscribe: async uri => {
      if (isModern) await client.listen({ resourceSubscriptions: [uri] });
      else await client.subscribeResource({ uri });
    },
    listen: async () => {
      if (isModern) await client.listen({ toolsListChanged: true });
      else if (client.getServerCapabilities()?.logging) await client.setLoggingLevel('info');
    },
    close: () => client.close(),
  };
}

/** Connects a client of an era. @param isKept keep the text received over HTTP, for `received` */
export async function connectClient(
  endpoint: Endpoint,
  era: Era,
  isKept = false,
): Promise<BenchClient> {
  const kept = createKeptFetch(isKept);
  const isOld = era === 'legacy' || endpoint.transport === 'sse';
  return isOld ? connect1(endpoint, kept) : connect2(endpoint, kept);
}
