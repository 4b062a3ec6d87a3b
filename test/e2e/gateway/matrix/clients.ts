/**
 * The three kinds of clients behind one interface: the 1.x SDK over Streamable HTTP and over HTTP+SSE, the 2.x SDK pinned to 2026-07-28.
 * Owns connecting, the answers to questions, and the record of every received message, unchanged.
 */
import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { ClientKind } from '../../../protocol/cells.ts';
import { MODERN_VERSION } from '../../support/raw-client.ts';
import type { RpcError } from '../../support/raw-client.ts';

export type Json = Record<string, unknown>;

/** A JSON-RPC message as received. */
export interface Message {
  id?: string | number;
  method?: string;
  params?: Json;
  result?: Json;
  error?: RpcError;
}

export interface Where {
  origin: string;
  /** Name of a server; if absent, all servers. */
  server?: string;
  token: string;
  /** Query of the endpoint's URL. */
  query?: string;
}

export interface Asked {
  method: string;
  params: Json;
  takenBack: boolean;
}

export interface MatrixClient {
  kind: ClientKind;
  /** Every message received since the probe began, oldest first. */
  heard: Message[];
  /** The first response: of the handshake, or of `server/discover`. */
  opening: Json;
  /** The questions received since the probe began. */
  asked: Asked[];
  /** Sends a request; throws its error. Tools are called as the SDK calls them. */
  request(method: string, params?: Json, signal?: AbortSignal): Promise<Json>;
  /** Lists tools as the SDK does, so that it knows which arguments calls must repeat in headers. */
  learnTools(): Promise<void>;
  /** Opens a stream of notifications if the client has none by then. */
  listen(filter: Json): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

const identity = { name: 'portico-matrix', version: '1.0.0' };
const capabilities = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  roots: {},
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};
/** A question that a client does not answer, so that the server cancels it. */
export const UNANSWERED = 'never mind';
const REQUEST_TIMEOUT_MS = 60_000;
const AnySchema = z.looseObject({});

/** Creates the answers of a client, which name the client. */
function createAnswers(kind: ClientKind) {
  const asked: Asked[] = [];
  const note = (method: string, params: unknown): Asked => {
    const question = { method, params: params as Json, takenBack: false };
    asked.push(question);
    return question;
  };
  return {
    asked,
    sample: async (params: unknown, signal: AbortSignal) => {
      const question = note('sampling/createMessage', params);
      if (JSON.stringify(params).includes(UNANSWERED)) {
        // The question and its cancellation may arrive in one chunk.
        if (!signal.aborted)
          await new Promise(resolve => signal.addEventListener('abort', resolve));
        question.takenBack = true;
      }
      const content = { type: 'text' as const, text: `sampled by ${kind}` };
      return { role: 'assistant' as const, model: 'none', content };
    },
    elicit: (params: unknown) => {
      note('elicitation/create', params);
      const { mode } = params as Json;
      if (mode === 'url') return { action: 'accept' as const };
      const content = { username: kind, email: `${kind}@example.com`, name: kind, color: kind };
      return { action: 'accept' as const, content };
    },
    roots: () => {
      note('roots/list', {});
      return { roots: [{ uri: `file:///${kind}` }] };
    },
  };
}

const urlOf = ({ origin, server, query = '' }: Where, path: string) =>
  new URL(`${origin}${path}${server === undefined ? '' : `/servers/${server}`}${query}`);

const init = ({ token }: Where) => ({
  requestInit: { headers: { authorization: `Bearer ${token}` } },
});

/** Records every message before the SDK processes it. */
function record(transport: object, heard: Message[]): void {
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has this property only
  (transport as { onmessage?: (message: Message) => void }).onmessage = message =>
    void heard.push(message);
}

async function connectWithSdk1(kind: ClientKind, transport: Transport): Promise<MatrixClient> {
  const heard: Message[] = [];
  record(transport, heard);
  const answers = createAnswers(kind);
  const client = new Client1(identity, { capabilities });
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }, { signal }) =>
    answers.sample(params, signal),
  );
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answers.elicit(params));
  client.setRequestHandler(ListRootsRequestSchema, answers.roots);
  await client.connect(transport);
  return {
    kind,
    heard,
    opening: heard[0]?.result ?? {},
    asked: answers.asked,
    request: (method, params = {}, signal) =>
      client.request({ method, params } as never, ResultSchema, {
        timeout: REQUEST_TIMEOUT_MS,
        ...(signal ? { signal } : {}),
      }),
    learnTools: async () => void (await client.listTools()),
    listen: async () => async () => undefined,
    close: () => client.close(),
  };
}

async function connectWithSdk2(where: Where): Promise<MatrixClient> {
  const heard: Message[] = [];
  const answers = createAnswers('modern');
  const versionNegotiation = { mode: { pin: MODERN_VERSION } };
  const client = new Client2(identity, { capabilities, versionNegotiation });
  client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) =>
    answers.sample(params, mcpReq.signal),
  );
  client.setRequestHandler('elicitation/create', ({ params }) => answers.elicit(params));
  client.setRequestHandler('roots/list', answers.roots);
  const transport = new Http2(urlOf(where, '/mcp'), init(where));
  record(transport, heard);
  await client.connect(transport);
  return {
    kind: 'modern',
    heard,
    opening: heard[0]?.result ?? {},
    asked: answers.asked,
    request: (method, params = {}, signal) => {
      const options = { timeout: REQUEST_TIMEOUT_MS, ...(signal ? { signal } : {}) };
      return method === 'tools/call'
        ? (client.callTool(params as never, options) as Promise<Json>)
        : (client.request({ method, params }, AnySchema, options) as Promise<Json>);
    },
    learnTools: async () => void (await client.listTools()),
    listen: async filter => {
      const listening = await client.listen(filter);
      return () => listening.close();
    },
    close: () => client.close(),
  };
}

/** Connects a client of each kind. */
export const connectors: Record<ClientKind, (where: Where) => Promise<MatrixClient>> = {
  legacy: where =>
    connectWithSdk1('legacy', new Http1(urlOf(where, '/mcp'), init(where)) as Transport),
  sse: where => connectWithSdk1('sse', new SSEClientTransport(urlOf(where, '/sse'), init(where))),
  modern: connectWithSdk2,
};
