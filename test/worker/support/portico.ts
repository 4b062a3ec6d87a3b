/**
 * Portico as a client sees it: the Worker's own handler, called in the isolate of the test. Each `createPortico` has fresh memory, like
 * another isolate of the same deployment; storage and objects are shared.
 */
import {
  createExecutionContext,
  runDurableObjectAlarm,
  runInDurableObject,
  waitOnExecutionContext,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import worker from '../../../src/index.ts';
import { SseParser } from '../../../src/http/sse-events.ts';
import { PATIENT } from '../../fixtures/patient.ts';

export { PATIENT };

export const ADMIN = env.PORTICO_ADMIN_TOKEN ?? '';
export const ORIGIN = 'http://127.0.0.1:8787';
export const SERVERS = '/api/v1/aggregator/servers';
export const MODERN = '2026-07-28';
/** For a server whose tools change in a test that is not about their approval. */
export const TRUSTED = { tool_approval: 'trust' };

/** For a client without streams, so that a slow answer has the same form as any other. */
export const WHOLE = { accept: 'application/json' };

export interface Sent {
  token?: string | null;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface Portico {
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** A REST request with a JSON body. */
  api(method: string, path: string, body?: unknown, sent?: Sent): Promise<Response>;
  /** POSTs a message (or text) to an MCP endpoint. */
  post(message: unknown, sent?: Sent, path?: string): Promise<Response>;
  /** Waits for all work that outlives its response. */
  settle(): Promise<void>;
}

/**
 * The same response. On a busy machine a long call is answered with a stream of comments before its answer; `json` then reads that answer.
 */
function withJson(response: Response): Response {
  if (!response.headers.get('content-type')?.includes('event-stream')) return response;
  const json = async (): Promise<unknown> => {
    const messages = new SseParser(2 ** 26).push(await response.text());
    return JSON.parse(messages.at(-1)?.data ?? '');
  };
  return Object.defineProperty(response, 'json', { value: json });
}

/** The porticos of a test file that may have deferred work. */
const porticos = new Set<Pick<Portico, 'settle'>>();
const SETTLE_MS = 3_000;

/** Waits a while for deferred work of a test file: else the rows of its calls would reach the database of the next. */
export async function settleAll(): Promise<void> {
  const left = [...porticos].map(portico => portico.settle());
  porticos.clear();
  await Promise.race([Promise.allSettled(left), scheduler.wait(SETTLE_MS)]);
}

/** @param settings replace bindings and settings of the Worker, not of its objects @param origin under which it is called */
export function createPortico(
  settings: Partial<Env> & Record<`PORTICO_${string}`, string> = {},
  origin: string = ORIGIN,
): Portico {
  const own: Env = { ...env, ...settings };
  const contexts: ExecutionContext[] = [];
  const fetch = async (path: string, init?: RequestInit) => {
    const context = createExecutionContext();
    contexts.push(context);
    const request = new Request<unknown, IncomingRequestCfProperties>(
      `${origin}${path}`,
      init as RequestInit<IncomingRequestCfProperties>,
    );
    return worker.fetch(request, own, context);
  };
  const headersOf = ({ token = ADMIN, headers = {} }: Sent) => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...headers,
  });
  const signalOf = ({ signal }: Sent) => (signal ? { signal } : {});
  const portico: Portico = {
    fetch,
    api: (method, path, body, sent = {}) =>
      fetch(path, {
        method,
        headers: headersOf(sent),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    post: async (message, sent = {}, path = '/mcp') =>
      withJson(
        await fetch(path, {
          method: 'POST',
          headers: headersOf(sent),
          body: typeof message === 'string' ? message : JSON.stringify(message),
          ...signalOf(sent),
        }),
      ),
    async settle() {
      for (const context of contexts.splice(0)) await waitOnExecutionContext(context);
    },
  };
  porticos.add(portico);
  return portico;
}

/** The object of a server's monitor. */
export const monitorOf = (serverId: string) => env.SERVER_MONITOR.getByName(serverId);

/** Keys of a server in KV: its catalogs, and the search data made from them. */
export async function storedCatalogs(serverId: string) {
  const { keys } = await env.CATALOG.list({ prefix: `catalog/${serverId}/` });
  const names = keys.map(({ name }) => name);
  const isOfIndex = (name: string) => name.includes('/index-');
  return {
    catalogs: names.filter(name => !isOfIndex(name)),
    segments: names.filter(isOfIndex),
  };
}

export interface ServerView {
  id: string;
  name: string;
  status: string;
  tool_count: number;
  held_tools: number;
  last_error: string | null;
  era: string | null;
}

/** Registers a server at `https://{name}.example.com/mcp`. */
export async function register(
  portico: Portico,
  name: string,
  more: object = {},
): Promise<ServerView> {
  const response = await portico.api('POST', SERVERS, {
    name,
    transport_type: 'HTTP',
    connection_config: { url: `https://${name}.example.com/mcp` },
    ...more,
  });
  expect([name, response.status]).toEqual([name, 201]);
  return response.json();
}

/** Waits until the record of a server is as wanted; wakes its monitor meanwhile. */
export async function whenServer(
  portico: Portico,
  id: string,
  isWanted: (server: ServerView) => boolean,
): Promise<ServerView> {
  await runDurableObjectAlarm(monitorOf(id));
  return vi.waitFor(async () => {
    const server = await (await portico.api('GET', `${SERVERS}/${id}`)).json<ServerView>();
    expect(server).toSatisfy(isWanted);
    return server;
  }, PATIENT);
}

/** Registers a server and waits until it was discovered. */
export async function registerConnected(
  portico: Portico,
  name: string,
  more: object = {},
): Promise<ServerView> {
  const { id } = await register(portico, name, more);
  return whenServer(portico, id, ({ status }) => status === 'CONNECTED');
}

/** Waits until the monitor of a connected server has sent its notifications, and rests until its next cycle. */
export async function whenQuiet(id: string): Promise<void> {
  await vi.waitFor(async () => {
    const left = await runInDurableObject(monitorOf(id), async (_, { storage }) => ({
      alarm: await storage.getAlarm(),
      news: [await storage.get('untold'), await storage.get('telling')],
    }));
    expect(left.news).toEqual([undefined, undefined]);
    // An alarm that is due is a cycle about to begin.
    expect(left.alarm ?? 0).toBeGreaterThan(Date.now());
  }, PATIENT);
}

/** Waits until the monitor of a connected server has classified its tools, and recorded that. */
export async function whenSorted(id: string): Promise<void> {
  await vi.waitFor(async () => {
    const row = await env.DB.prepare(
      'SELECT catalog_hash AS hash, skills_revision AS revision FROM servers WHERE id = ?',
    )
      .bind(id)
      .first<{ hash: string; revision: number }>();
    const done = await runInDurableObject(monitorOf(id), (_, { storage }) =>
      storage.get<{ basis: string; skillsRevision: number }>('classified'),
    );
    expect([done?.basis.split(' ')[0], done?.skillsRevision]).toEqual([row?.hash, row?.revision]);
  }, PATIENT);
}

export interface CreatedToken {
  id: string;
  token: string;
}

/** Creates a token. */
export async function createToken(portico: Portico, more: object = {}): Promise<CreatedToken> {
  const response = await portico.api('POST', '/api/v1/tokens', { name: 'test', ...more });
  expect(response.status).toBe(201);
  return response.json();
}

/** A modern request with its headers. */
export function modern(method: string, params: Record<string, unknown> = {}, id: unknown = 1) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const name = params['name'] ?? params['uri'];
  return {
    message: {
      jsonrpc: '2.0',
      id,
      method,
      params: { ...params, _meta: { ...(params['_meta'] as object | undefined), ...meta } },
    },
    headers: {
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
  };
}

/** A legacy request. */
export const legacy = (method: string, params: object = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

/** Opens a legacy session. @returns its id */
export async function initialize(
  portico: Portico,
  sent: Sent = {},
  path = '/mcp',
  protocolVersion = '2025-11-25',
): Promise<string> {
  const params = {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  };
  const response = await portico.post(legacy('initialize', params), sent, path);
  expect(response.status).toBe(200);
  const session = response.headers.get('mcp-session-id') ?? '';
  expect(session).not.toBe('');
  return session;
}

/** Headers of a request in a session. */
export const inSession = (session: string) => ({
  'mcp-session-id': session,
  'mcp-protocol-version': '2025-11-25',
});

/** A list or call request of an era, in the form of that era. */
export function ask(
  era: 'legacy' | 'modern',
  method: string,
  params: Record<string, unknown> = {},
  id: unknown = 1,
) {
  return era === 'modern'
    ? modern(method, params, id)
    : { message: legacy(method, params, id), headers: {} };
}

export interface RpcAnswer {
  id: unknown;
  result?: Record<string, unknown> & {
    tools?: { name: string }[];
    content?: { text: string }[];
    isError?: boolean;
    _meta?: Record<string, unknown>;
  };
  error?: { code: number; message: string; data?: unknown };
}
