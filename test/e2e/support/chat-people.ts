/** Clients of the tool `chat`, in both eras, each with a person who is shown forms; and rounds sent by hand. */
import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { ChatView } from '../../../src/agents/chat/chat-events.ts';
import type { Gateway } from './gateway.ts';
import { MODERN_VERSION, modernHeaders, post, type Answer, type Target } from './raw-client.ts';

export interface Form {
  message: string;
  requestedSchema: { properties: Record<string, object>; required?: string[] };
}
export interface Person {
  /** The forms that were shown. */
  forms: Form[];
  /** The notifications received meanwhile. */
  heard: string[];
  names(): Promise<string[]>;
  chat(given: object): Promise<ChatView>;
  close(): Promise<void>;
}
/** Decides a form. */
export type Answering = (form: Form) => {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, boolean>;
};

const identity = { name: 'portico-e2e', version: '1.0.0' };

/** The endpoint that lists `chat`. */
export const chatUrl = ({ origin }: Gateway, path = '/mcp'): URL =>
  new URL(`${origin}${path}?tools=chat`);
export const viewOf = (result: unknown): ChatView =>
  (result as { structuredContent: unknown }).structuredContent as ChatView;

const toInit = ({ adminToken }: Gateway) => ({
  requestInit: { headers: { authorization: `Bearer ${adminToken}` } },
});

interface Watching {
  forms: Form[];
  heard: string[];
  onForm(params: unknown): { action: 'accept' | 'decline' | 'cancel'; [key: string]: unknown };
  onprogress(progress: { message?: string | undefined }): void;
}

function watching(answer: Answering): Watching {
  const forms: Form[] = [];
  const heard: string[] = [];
  return {
    forms,
    heard,
    onForm(params) {
      forms.push(params as Form);
      return { ...answer(params as Form) };
    },
    onprogress: ({ message = '' }) => void heard.push(message),
  };
}

async function withSdk1(answer: Answering, transport: Transport): Promise<Person> {
  const client = new Client1(identity, { capabilities: { elicitation: {} } });
  const { forms, heard, onForm, onprogress } = watching(answer);
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => onForm(params) as never);
  await client.connect(transport);
  const told = { onprogress };
  return {
    forms,
    heard,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    chat: async given =>
      viewOf(await client.callTool({ name: 'chat', arguments: { ...given } }, undefined, told)),
    close: () => client.close(),
  };
}

async function withSdk2(
  gateway: Gateway,
  answer: Answering,
  mode: 'legacy' | { pin: string },
): Promise<Person> {
  const capabilities = { elicitation: { form: {} } };
  const client = new Client2(identity, { capabilities, versionNegotiation: { mode } });
  const { forms, heard, onForm, onprogress } = watching(answer);
  client.setRequestHandler('elicitation/create', ({ params }) => onForm(params));
  await client.connect(new Http2(chatUrl(gateway), toInit(gateway)));
  return {
    forms,
    heard,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    chat: async given =>
      viewOf(await client.callTool({ name: 'chat', arguments: { ...given } }, { onprogress })),
    close: () => client.close(),
  };
}

export const withHttp1 = (gateway: Gateway, answer: Answering): Promise<Person> =>
  withSdk1(answer, new Http1(chatUrl(gateway), toInit(gateway)) as Transport);

/** Every kind of client that can be asked. */
export const people: [string, (gateway: Gateway, answer: Answering) => Promise<Person>][] = [
  ['SDK 1', withHttp1],
  [
    'SDK 1 over HTTP+SSE',
    (gateway, answer) =>
      withSdk1(answer, new SSEClientTransport(chatUrl(gateway, '/sse'), toInit(gateway))),
  ],
  ['SDK 2, legacy', (gateway, answer) => withSdk2(gateway, answer, 'legacy')],
  ['SDK 2, 2026-07-28', (gateway, answer) => withSdk2(gateway, answer, { pin: MODERN_VERSION })],
];

/** One call of `chat` by hand, 2026-07-28. @param more members of its params beside the usual */
export function callModern(
  target: Target,
  given: object,
  capabilities: object,
  more: object = {},
): Promise<Answer> {
  return post(target, modernBody(given, capabilities, more), modernHeaders('tools/call', 'chat'));
}

export function modernBody(given: object, capabilities: object, more: object = {}): string {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
    'io.modelcontextprotocol/clientInfo': identity,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const params = { name: 'chat', arguments: given, ...more, _meta };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
}
