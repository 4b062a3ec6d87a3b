/** Shared by the tests of the result cache: servers with read-only tools, rules, and calls that show whether their result was cached. */
import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { FakeServer, resultOf, serve, toolOf, type FakeServerOptions } from './fake-server.ts';
import { ask, createToken, registerConnected, type Portico, type RpcAnswer } from './portico.ts';
import { createRecords } from './records.ts';

export const READS = { annotations: { readOnlyHint: true } };
export const RULES = '/api/v1/cache/rules';

export interface CacheNote {
  hit: boolean;
  age_ms?: number;
  ttl_ms: number;
}

export interface CacheRuleView {
  id: string;
  server: string;
  tool: string;
  ttl_seconds: number;
  public: boolean;
  revision: number;
}

/** The outcome of a call. */
export interface Called {
  status: number;
  /** The number of the call at the server. */
  serial: string | undefined;
  note: CacheNote | undefined;
  answer: RpcAnswer;
}

let made = 0;

/** Connects a server with a read-only tool `get` and a tool `put` that is not; each result has its own number. */
export async function connectCached(portico: Portico, options: FakeServerOptions = {}) {
  const name = `cached-${(made += 1)}`;
  const server = new FakeServer({
    era: 'modern',
    tools: [toolOf('get', READS), toolOf('put')],
    ...options,
  });
  let serial = 0;
  const answer: FakeServer['call'] = post =>
    resultOf(post, { content: [{ type: 'text', text: `${name}#${(serial += 1)}` }] });
  server.call = answer;
  serve({ [name]: server });
  const { id } = await registerConnected(portico, name);
  const rules = createRecords<CacheRuleView>(portico, RULES);
  return {
    id,
    name,
    server,
    answer,
    rules,
    allow: (more: object = {}) =>
      rules.create({ server: name, tool: 'get', ttl_seconds: 600, ...more }),
    /** How many calls reached the server. */
    count: () => server.of('tools/call').length,
  };
}

export interface CallOptions {
  token?: string;
  tool?: string;
  args?: object;
  meta?: object;
  headers?: Record<string, string>;
  era?: 'legacy' | 'modern';
  signal?: AbortSignal;
}

/** A call over MCP. */
export async function callCached(
  portico: Portico,
  name: string,
  { token, tool = 'get', args = {}, meta, headers = {}, era = 'modern', signal }: CallOptions = {},
): Promise<Called> {
  const params = {
    name: `${name}.${tool}`,
    arguments: args,
    ...(meta ? { _meta: meta } : {}),
  };
  const asked = ask(era, 'tools/call', params);
  const response = await portico.post(asked.message, {
    headers: { ...asked.headers, ...headers },
    ...(token === undefined ? {} : { token }),
    ...(signal ? { signal } : {}),
  });
  const answer = await response.json<RpcAnswer>();
  return {
    status: response.status,
    serial: answer.result?.content?.[0]?.text,
    note: answer.result?._meta?.['portico/cache'] as CacheNote | undefined,
    answer,
  };
}

/** A member with a token. */
export const person = async (portico: Portico): Promise<string> =>
  (await createToken(portico)).token;

/** A promise that the test settles, to hold back a server's answers. */
export function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Bindings whose cache shards note their calls; with `fails` they fail. */
export function watchedCache(fails = false) {
  const asked: string[] = [];
  const binding = {
    getByName(name: string) {
      asked.push(name);
      if (fails) throw new Error('no such object');
      return env.RESULT_CACHE.getByName(name);
    },
  } as unknown as typeof env.RESULT_CACHE;
  return { asked, settings: { RESULT_CACHE: binding } };
}

/** Expects that the server made the result. */
export function expectMiss({ note, status }: Called): void {
  expect(status).toBe(200);
  expect(note?.hit ?? false).toBe(false);
}
