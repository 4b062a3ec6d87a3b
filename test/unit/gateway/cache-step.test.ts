/** Which calls look into the result cache, and what happens on a hit and on a miss. */
import type { Naming } from '../../../src/gateway/viewer.ts';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CacheRule } from '../../../src/servers/cache-rules/cache-rule.ts';
import type { CacheShard, Taken } from '../../../src/gateway/cache/cache-port.ts';
import { CachedRequest, type CachedRequestPorts } from '../../../src/gateway/cache/cached-call.ts';
import { parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import type { RelayedRequest } from '../../../src/gateway/gateway.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { createCaller } from '../access/callers.ts';
import { createFakeGateway, createRecord } from './fakes.ts';

const keys = createKeyRing(
  JSON.stringify({ active: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }),
);
const RULE: CacheRule = { id: 'r', tool: 'read', ttlMs: 60_000, isPublic: false, revision: 1 };
const READ_ONLY = { readOnlyHint: true };
const CATALOG = parseCatalog(
  'hash-alpha',
  JSON.stringify({
    tools: [
      { name: 'read', inputSchema: {}, annotations: READ_ONLY },
      { name: 'other', inputSchema: {}, annotations: READ_ONLY },
    ],
    prompts: [{ name: 'read', annotations: READ_ONLY }],
    capabilities: {},
  }),
);
const alpha = createRecord('alpha', { cacheRules: [RULE] });
const dot: Naming = { kind: 'qualified', style: 'dot' };

/** A gateway with a cache for one result; notes what is stored in it. */
function createWorld({
  server = alpha,
  more = {},
}: { server?: typeof alpha; more?: Partial<CachedRequestPorts> } = {}) {
  const told: string[] = [];
  const deferred: Promise<unknown>[] = [];
  let kept: Taken = { kind: 'lead', mustClaim: false };
  const note = (what: string) => Promise.resolve(void told.push(what));
  const shard: CacheShard = {
    take: () => note('take').then(() => kept),
    put: (_key, _id, entry) => {
      kept = { kind: 'entry', entry };
      return note('put');
    },
    release: () => note('release'),
    leave: () => note('leave'),
    renew: () => note('renew'),
  };
  let sent = 0;
  const ports = {
    shardOf: () => shard,
    keys,
    maxResultBytes: 10_000,
    waitMs: 10,
    now: () => 1_000,
  };
  const gateway = createFakeGateway({
    catalogOf: () => CATALOG,
    cache: { ...ports, ...more },
    send() {
      sent += 1;
      const parsed = { content: [{ type: 'text', text: `call ${sent}` }] };
      const response = { kind: 'response', result: JSON.stringify(parsed), parsed } as const;
      return Promise.resolve({ response });
    },
  });
  async function call(params: object = {}, request: Partial<RelayedRequest> = {}, who = 'ada') {
    const raw = Object.entries(params).map(([key, value]) => [key, JSON.stringify(value)] as const);
    const routed = await gateway.request(
      { caller: createCaller({ principalId: who }), visible: { servers: [server] }, naming: dot },
      {
        method: 'tools/call',
        reference: { kind: 'tool', name: 'alpha.read' },
        params: new Map(raw),
        ...request,
      },
      {
        signal: new AbortController().signal,
        owner: () => 'o',
        waitUntil: work => void deferred.push(work),
        capabilities: {},
        questions: 'ask',
      },
    );
    await Promise.all(deferred);
    const { reply, isHit } = routed;
    const parsed: JsonObject = 'response' in reply ? reply.response.parsed : {};
    const [block] = parsed['content'] as { text: string }[];
    return { text: block?.text, isHit };
  }
  return { call, told, sentCount: () => sent };
}

describe('a call with a matching rule', () => {
  it('[LLM-5] is sent once, and its result answers the next call', async () => {
    const { call, told, sentCount } = createWorld();
    expect(await call()).toEqual({ text: 'call 1', isHit: undefined });
    expect(await call()).toEqual({ text: 'call 1', isHit: true });
    expect([told, sentCount()]).toEqual([['take', 'put', 'take'], 1]);
  });

  it('[ACC-3] is not answered with a result sealed for another principal', async () => {
    const { call } = createWorld();
    await call();
    expect(await call({}, {}, 'bob')).toEqual({ text: 'call 2', isHit: undefined });
  });

  it.each<[string, object, Partial<RelayedRequest>]>([
    ['its header', {}, { cache: 'fresh' }],
    ['its params', { _meta: { 'portico/cache': 'no-cache' } }, {}],
  ])('[LLM-5] is sent again if %s say so, for others too', async (_name, params, request) => {
    const { call, told } = createWorld();
    await call();
    expect(await call(params, request)).toEqual({ text: 'call 2', isHit: undefined });
    expect(await call()).toEqual({ text: 'call 2', isHit: true });
    expect(told).toEqual(['take', 'put', 'put', 'take']);
  });

  it('[LLM-5] follows its header rather than its params', async () => {
    const { call, told } = createWorld();
    await call({ _meta: { 'portico/cache': 'no-cache' } }, { cache: 'none' });
    expect(told).toEqual([]);
  });
});

describe('a call whose client leaves', () => {
  afterEach(() => void vi.useRealTimers());

  it('[LLM-5] while it joins others renews no lease', async () => {
    vi.useFakeTimers();
    const told: string[] = [];
    const note = (what: string) => Promise.resolve(void told.push(what));
    const taking = Promise.withResolvers<Taken>();
    const shard: CacheShard = {
      take: () => taking.promise,
      put: () => note('put'),
      release: () => note('release'),
      leave: () => note('leave'),
      renew: () => note('renew'),
    };
    const ports = { shardOf: () => shard, keys, maxResultBytes: 10_000, waitMs: 10, now: () => 1 };
    const client = new AbortController();
    const context = {
      signal: client.signal,
      owner: () => 'o',
      waitUntil: () => {},
      capabilities: {},
      questions: 'ask',
    } as const;
    const send = () => Promise.reject(new Error('the client is gone'));
    const key = { key: 'k', scope: 'public' };
    const call = new CachedRequest(ports, key, 60_000, context, send).taken();
    client.abort();
    taking.resolve({ kind: 'lead', mustClaim: true });
    await expect(call).rejects.toThrow('the client is gone');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(told).toEqual(['leave']);
  });
});

describe('a call that bypasses the cache', () => {
  it.each<[string, object, Partial<RelayedRequest>]>([
    ['keeps nothing, by its header', {}, { cache: 'none' }],
    ['keeps nothing, by its params', { _meta: { 'portico/cache': 'no-store' } }, {}],
    ['is a next round', { requestState: 's' }, {}],
    ['answers questions', { inputResponses: {} }, {}],
    ['makes a task', { task: {} }, {}],
    ['is of a tool without a rule', {}, { reference: { kind: 'tool', name: 'alpha.other' } }],
    [
      'is of a prompt',
      {},
      { method: 'prompts/get', reference: { kind: 'prompt', name: 'alpha.read' } },
    ],
  ])('[LLM-5] %s', async (_name, params, request) => {
    const { call, told } = createWorld();
    expect(await call(params, request)).toEqual({ text: 'call 1', isHit: undefined });
    expect(await call(params, request)).toEqual({ text: 'call 2', isHit: undefined });
    expect(told).toEqual([]);
  });

  it('[LLM-5] is any call to a server without rules', async () => {
    const { call, told } = createWorld({ server: createRecord('alpha') });
    expect(await call()).toEqual({ text: 'call 1', isHit: undefined });
    expect(told).toEqual([]);
  });

  it('[MCP-12] is not prevented by a failing cache', async () => {
    const shardOf = () => {
      throw new Error('no cache');
    };
    const { call, told } = createWorld({ more: { shardOf } });
    expect(await call()).toEqual({ text: 'call 1', isHit: undefined });
    expect(told).toEqual([]);
  });
});
