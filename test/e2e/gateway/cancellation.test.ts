/**
 * A client that disconnects in the middle of a call: its server is told, whichever eras the two speak, and received the call once. A
 * gateway that stops while a call waits for its client ends the call at the server, and says so afterwards.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { KINDS, type Kind, type Plan, type SeenCall } from '../../worker/support/asking-script.ts';
import { startAsking, type AskingUpstream } from '../support/asking-upstream.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { LEGACY_VERSION, MODERN_VERSION, modernHeaders } from '../support/raw-client.ts';

const CAPABILITIES = { elicitation: { form: {} } };
/** Less than a call timeout: until then only the client can end a call. */
const soon = { timeout: 20_000, interval: 10 };

const upstreams = {} as Record<Kind, AskingUpstream>;
let gateway: Gateway;
let calls = 0;
/** Kept across the restart of the gateway. */
let data = '';

beforeAll(async () => {
  for (const kind of KINDS) upstreams[kind] = await startAsking(kind);
  data = await mkdtemp(join(tmpdir(), 'portico-cancel-'));
  gateway = await startGateway({ data });
  for (const kind of KINDS) {
    const transport_type = kind === 'sse-legacy' ? 'SSE' : 'HTTP';
    await gateway.register(kind, upstreams[kind].url, { transport_type });
  }
}, 300_000);

afterAll(async () => {
  await gateway?.stop();
  await Promise.all(Object.values(upstreams).map(upstream => upstream.close()));
  await rm(data, { recursive: true, force: true });
});

type Send = (body: object, signal?: AbortSignal) => Promise<Response>;

const post = (headers: Record<string, string>, body: object, signal?: AbortSignal) =>
  fetch(`${gateway.origin}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.adminToken}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });

async function legacyClient(): Promise<Send> {
  const version = { 'mcp-protocol-version': LEGACY_VERSION };
  const clientInfo = { name: 'leaving', version: '1' };
  const params = { protocolVersion: LEGACY_VERSION, capabilities: CAPABILITIES, clientInfo };
  const response = await post(version, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const session = { ...version, 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
  await response.text();
  return (body, signal) =>
    post(session, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: body }, signal);
}

const modernClient = (capabilities: object) => async (): Promise<Send> => (params, signal) => {
  const { name = '', _meta } = params as { name?: string; _meta?: object };
  const meta = {
    ..._meta,
    'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'leaving', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: meta } };
  return post(modernHeaders('tools/call', name), body, signal);
};

const clients = {
  'a legacy client': legacyClient,
  'a modern client': modernClient({}),
  'a modern client that can be asked': modernClient(CAPABILITIES),
};

/** Returns the params of a call that follows the plan. */
function callOf(kind: Kind, plan: Omit<Plan, 'mark'>) {
  calls += 1;
  const mark = `call-${calls}`;
  const params = {
    name: `${kind}.ask`,
    arguments: { mark, ...plan },
    ...(plan.progress ? { _meta: { progressToken: mark } } : {}),
  };
  return { mark, params, seen: (): SeenCall | undefined => upstreams[kind].server.call(mark) };
}

/** Reads a response until its text matches. */
async function readUntil(response: Response, pattern: RegExp): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!pattern.test(text)) {
    const chunk = await reader?.read();
    if (!chunk || chunk.done) throw new Error(`ended after ${text}`);
    text += chunk.value;
  }
}

/** Returns what the server saw of a call, once it knows that the call is over. */
async function untilCancelled(kind: Kind, seen: () => SeenCall | undefined): Promise<unknown> {
  const heard = { cut: kind !== 'sse-legacy', cancelled: kind !== 'http-modern' };
  return vi.waitFor(() => {
    expect(seen()).toMatchObject(heard);
    return seen();
  }, soon);
}

const CALLED_ONCE = { arrivals: 1, done: false };
const LEGACY_KINDS = KINDS.filter(kind => kind !== 'http-modern');

describe.each(Object.entries(clients))('%s that disconnects', (_who, connect) => {
  it.each(KINDS)('[MCP-4] [MCP-5] [UP-3] before a result of %s cancels its call', async kind => {
    const send = await connect();
    const { params, seen } = callOf(kind, { hang: true });
    const client = new AbortController();
    const going = send(params, client.signal).catch(() => undefined);
    await vi.waitFor(() => expect(seen()).toBeDefined(), soon);
    client.abort();
    expect(await untilCancelled(kind, seen)).toMatchObject(CALLED_ONCE);
    await going;
  });

  it.each(LEGACY_KINDS)(
    '[MCP-4] [MCP-5] [UP-3] in the middle of a response of %s cancels its call',
    async kind => {
      const send = await connect();
      const { params, seen } = callOf(kind, { hang: true, progress: true });
      const client = new AbortController();
      await readUntil(await send(params, client.signal), /notifications\/progress/);
      client.abort();
      expect(await untilCancelled(kind, seen)).toMatchObject(CALLED_ONCE);
    },
  );
});

it.each(LEGACY_KINDS)(
  '[MCP-4] [MCP-5] [UP-3] a legacy client that disconnects while %s asks cancels its call',
  async kind => {
    const send = await legacyClient();
    const { params, seen } = callOf(kind, { rounds: 1 });
    const client = new AbortController();
    await readUntil(await send(params, client.signal), /elicitation\/create/);
    client.abort();
    expect(await untilCancelled(kind, seen)).toMatchObject(CALLED_ONCE);
  },
);

interface Asking {
  result: { requestState: string; inputRequests: Record<string, object> };
}

/** Returns the params of the retry, with every question answered. */
async function retryOf(response: Response, params: object): Promise<object> {
  const text = await response.text();
  const { result } = JSON.parse(/\{.*\}/.exec(text)?.[0] ?? '') as Asking;
  const { requestState, inputRequests } = result;
  const answers = Object.keys(inputRequests).map(key => [key, { action: 'decline' }]);
  return { ...params, requestState, inputResponses: Object.fromEntries(answers) as object };
}

it.each(LEGACY_KINDS)(
  '[MCP-5] [UP-3] a modern client that disconnects after it answered %s cancels its call',
  async kind => {
    const send = await clients['a modern client that can be asked']();
    const { params, seen } = callOf(kind, { rounds: 1, hang: true });
    const retry = await retryOf(await send(params), params);
    const client = new AbortController();
    const going = send(retry, client.signal).catch(() => undefined);
    await vi.waitFor(() => expect(seen()?.answers).toHaveLength(1), soon);
    client.abort();
    expect(await untilCancelled(kind, seen)).toMatchObject(CALLED_ONCE);
    await going;
  },
);

it('[MCP-5] [MCP-10] a gateway that stops ends suspended calls, and says so when it is back', async () => {
  const send = await clients['a modern client that can be asked']();
  const { params, seen } = callOf('http-legacy', { rounds: 1 });
  const retry = await retryOf(await send(params), params);
  expect(seen()?.cut).toBe(false);
  const { port, adminToken } = gateway;
  await gateway.stop();
  await vi.waitFor(() => expect(seen()?.cut).toBe(true), soon);
  gateway = await startGateway({ data, port, adminToken });
  const text = await (await send(retry)).text();
  expect(text).toContain('call_gone');
  expect(seen()).toMatchObject({ arrivals: 1, answers: [], done: false });
}, 300_000);
