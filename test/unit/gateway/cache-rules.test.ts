/** Which results are cached and under which key: rules, cache directives, keys and results, without a gateway. */
import { describe, expect, it } from 'vitest';
import { toCacheKey, type CachedCall } from '../../../src/gateway/cache/cache-key.ts';
import { decideRule, type CacheRule } from '../../../src/servers/cache-rules/cache-rule.ts';
import { directiveOfHeader, directiveOfMeta } from '../../../src/gateway/cache/cache-control.ts';
import { isKeepable, toResponse, withNote } from '../../../src/gateway/cache/cached-result.ts';
import { rawMembers } from '../../../src/shared/json/json-spans.ts';
import { createRecord } from './fakes.ts';

const ruleOf = (tool: string, more: Partial<CacheRule> = {}): CacheRule => ({
  id: tool,
  tool,
  ttlMs: 60_000,
  isPublic: false,
  revision: 1,
  ...more,
});
const itemOf = (key: string, annotations?: object) => ({
  key,
  raw: new Map(annotations ? [['annotations', JSON.stringify(annotations)]] : []),
});
const READS = { readOnlyHint: true };

describe('a rule', () => {
  it.each([
    [undefined, false],
    [{}, false],
    [{ readOnlyHint: false, idempotentHint: true }, false],
    [{ idempotentHint: true }, false],
    [{ readOnlyHint: 'true' }, false],
    [{ readOnlyHint: true }, true],
    [{ readOnlyHint: true, idempotentHint: false, openWorldHint: true }, true],
  ])('[LLM-5] applies only to read-only tools: %j %s', (annotations, isCached) => {
    expect(decideRule([ruleOf('*')], itemOf('get', annotations)) !== undefined).toBe(isCached);
  });

  it('[LLM-5] with the exact name comes first, then the most cautious pattern', () => {
    const short = ruleOf('*', { id: 'short', ttlMs: 1_000, isPublic: true });
    const open = ruleOf('get*', { id: 'open', ttlMs: 500, isPublic: true });
    const own = ruleOf('g*', { id: 'own' });
    const exact = ruleOf('get', { id: 'exact', isPublic: true });
    const idOf = (rules: CacheRule[]) => decideRule(rules, itemOf('get', READS))?.id;
    expect(idOf([short, open, own, exact])).toBe('exact');
    expect(idOf([short, open, own])).toBe('own');
    expect(idOf([short, open])).toBe('open');
    expect(idOf([ruleOf('put*')])).toBeUndefined();
    expect(decideRule([short], undefined)).toBeUndefined();
  });
});

describe('a key', () => {
  const server = createRecord('a', {
    verdict: { era: 'modern', protocolVersion: '', transport: 'http', sessionful: false },
  });
  const base: CachedCall = {
    rule: ruleOf('get'),
    server,
    tool: 'get',
    params: rawMembers('{"name":"a.get","arguments":{"b":1.0,"a":"\\u0041"}}'),
    capabilities: {},
    principalId: 'p1',
  };
  const keyOf = async (more: Partial<CachedCall>) => (await toCacheKey({ ...base, ...more })).key;
  const params = (text: string) => ({ params: rawMembers(text) });
  const ofClient = (declared: object) => {
    const meta = `{"io.modelcontextprotocol/clientCapabilities":${JSON.stringify(declared)}}`;
    return params(`{"arguments":{"a":"A","b":1},"_meta":${meta}}`);
  };

  it('[LLM-5] is equal for equivalent calls', async () => {
    const key = await keyOf({});
    for (const same of [
      '{"name":"x","arguments":{"a":"A","b":1}}',
      '{"arguments":{ "a":"A", "b":10e-1 },"_meta":{}}',
      '{"arguments":{"a":"A","b":1},"_meta":{"progressToken":7,"traceparent":"x","portico/cache":"x","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{}}}',
    ]) {
      expect(await keyOf(params(same))).toBe(key);
    }
    const capabilities = { elicitation: {} };
    expect(await keyOf({ capabilities, ...ofClient({ elicitation: {} }) })).toBe(
      await keyOf({ capabilities }),
    );
  });

  it('[LLM-5] differs for everything that can change the result', async () => {
    const { credential } = server;
    const secret = { name: 'S', sealed: '', origins: [], revision: 2 };
    const others: Partial<CachedCall>[] = [
      {},
      { principalId: 'p2' },
      { tool: 'got' },
      { rule: ruleOf('get', { id: 'other' }) },
      { rule: ruleOf('get', { revision: 2 }) },
      { server: { ...server, id: 'other' } },
      { server: { ...server, revision: 2 } },
      { server: { ...server, generation: 2 } },
      { server: { ...server, catalogHash: 'other' } },
      { server: { ...server, credential: { ...credential, revision: 9 } } },
      { server: { ...server, credential: { ...credential, secrets: [secret] } } },
      { capabilities: { elicitation: {} } },
      params('{"arguments":{"a":"A","b":2}}'),
      params('{"arguments":{"a":"A","b":1,"c":null}}'),
      params('{"arguments":{"a":"A","b":1},"_meta":{"vendor/tenant":"x"}}'),
      params('{"arguments":{"a":"A","b":1},"extra":1}'),
      ofClient({ extensions: { x: {} } }),
      ofClient({ elicitation: { own: {} } }),
      params('{}'),
    ];
    const keys = await Promise.all(others.map(keyOf));
    expect(new Set(keys).size).toBe(others.length);
  });

  it('[LLM-5] is shared only if the rule says so and the server cannot distinguish its callers', async () => {
    const rule = ruleOf('get', { isPublic: true });
    const scopeOf = async (more: Partial<CachedCall>) =>
      (await toCacheKey({ ...base, rule, ...more })).scope;
    expect(await scopeOf({})).toBe('public');
    expect(await keyOf({ rule })).toBe(await keyOf({ rule, principalId: 'p2' }));
    const sessionful = {
      ...server,
      verdict: server.verdict && { ...server.verdict, sessionful: true },
    };
    expect(await scopeOf({ server: sessionful })).toBe('principal p1');
    expect(await scopeOf({ server: { ...server, verdict: null } })).toBe('principal p1');
  });
});

it.each([
  ['no-cache', 'fresh'],
  ['max-age=0, No-Cache', 'fresh'],
  ['max-age=0', 'fresh'],
  ['no-store', 'none'],
  ['no-cache, no-store', 'none'],
  ['max-age=60', undefined],
  ['', undefined],
  [null, undefined],
  [`${'x'.repeat(2_000)},no-cache`, undefined],
])('[LLM-5] Cache-Control %j is %s', (header, directive) => {
  expect(directiveOfHeader(header)).toBe(directive);
});

it('[LLM-5] the directive may be in _meta', () => {
  expect(directiveOfMeta({ _meta: { 'portico/cache': 'no-cache' } })).toBe('fresh');
  for (const params of [
    undefined,
    {},
    { _meta: null },
    { _meta: { 'portico/cache': { hit: true } } },
  ]) {
    expect(directiveOfMeta(params)).toBeUndefined();
  }
});

describe('a result', () => {
  const responseOf = (result: object) => {
    const response = toResponse(JSON.stringify(result));
    if (!response) throw new Error('no result');
    return response;
  };

  it.each<[object, boolean]>([
    [{ content: [] }, true],
    [{ content: [], isError: false, resultType: 'complete' }, true],
    [{ content: [], isError: true }, false],
    [{ resultType: 'input_required', inputRequests: {} }, false],
    [{ resultType: 'task', taskId: 't' }, false],
    [{ resultType: 'later' }, false],
    [{ task: { taskId: 't', status: 'working' } }, false],
    [{ content: [{ type: 'text', text: 'é'.repeat(600) }] }, false],
  ])('[LLM-5] %j may be reused: %s', (result, isKept) => {
    expect(isKeepable(responseOf(result), 1_000)).toBe(isKept);
  });

  it('[LLM-5] that is a JSON-RPC error may not be reused', () => {
    const error = {
      kind: 'response',
      error: '{"code":1,"message":""}',
      parsed: { code: 1 },
    } as const;
    expect(isKeepable(error, 1_000)).toBe(false);
  });

  it('[LLM-5] is marked as cached, and is otherwise unchanged', () => {
    const text = '{"content":[ 1.0 ],"_meta":{"a":12345678901234567890,"portico/cache":"forged"}}';
    const noted = withNote(
      { kind: 'response', result: text, parsed: JSON.parse(text) as Record<string, unknown> },
      { hit: true, age_ms: 5, ttl_ms: 9 },
    );
    expect(noted.result).toBe(
      '{"content":[ 1.0 ],"_meta":{"a":12345678901234567890,"portico/cache":{"hit":true,"age_ms":5,"ttl_ms":9}}}',
    );
    expect(noted.parsed['_meta']).toMatchObject({ 'portico/cache': { hit: true } });
    expect(withNote(responseOf({ content: [] }), { hit: false, ttl_ms: 9 }).result).toBe(
      '{"content":[],"_meta":{"portico/cache":{"hit":false,"ttl_ms":9}}}',
    );
  });
});
