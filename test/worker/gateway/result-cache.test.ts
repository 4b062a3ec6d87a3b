/** The result cache as a caller sees it: what is a hit and for whom, and what never is. */
import { describe, expect, it } from 'vitest';
import { look } from '../support/approvals.ts';
import { createPerson, rowsOf } from '../support/call-rows.ts';
import {
  callCached,
  connectCached,
  expectMiss,
  person,
  watchedCache,
} from '../support/cached-servers.ts';
import { resultOf } from '../support/fake-server.ts';
import { createPortico, SERVERS } from '../support/portico.ts';

const portico = createPortico();

describe('a tool', () => {
  it('[LLM-5] without a rule is called each time, and the cache is not asked', async () => {
    const { asked, settings } = watchedCache();
    const watched = createPortico(settings);
    const { name, count } = await connectCached(watched);
    for (let at = 1; at <= 2; at += 1) {
      const called = await callCached(watched, name);
      expect(called).toMatchObject({ serial: `${name}#${at}`, note: undefined });
    }
    expect(count()).toBe(2);
    expect(asked).toEqual([]);
  });

  it('[LLM-5] with a rule is called once, and its result says whether it was cached', async () => {
    const { name, count, allow } = await connectCached(portico);
    await allow();
    const first = await callCached(portico, name, { args: { a: 1, b: '\u00e9' } });
    expect(first).toMatchObject({ serial: `${name}#1`, note: { hit: false, ttl_ms: 600_000 } });
    const again = await callCached(portico, name, { args: { b: 'é', a: 1.0 } });
    expect(again).toMatchObject({ serial: `${name}#1`, note: { hit: true, ttl_ms: 600_000 } });
    expect(again.note?.age_ms).toBeGreaterThanOrEqual(0);
    expect((await callCached(portico, name, { args: { a: 2 } })).serial).toBe(`${name}#2`);
    expect(count()).toBe(2);
  });

  it('[LLM-5] is cached alike over REST and in either era', async () => {
    const { name, count, allow } = await connectCached(portico);
    await allow();
    await callCached(portico, name);
    const body = { name: `${name}.get` };
    const rest = await portico.api('POST', '/api/v1/tools/call', body);
    expect(await rest.json()).toMatchObject({ _meta: { 'portico/cache': { hit: true } } });
    const legacy = await callCached(portico, name, { era: 'legacy' });
    expect(legacy.note?.hit).toBe(true);
    expect(count()).toBe(1);
  });

  it('[LLM-5] that does not declare to be read-only is never cached, whatever a rule says', async () => {
    const { name, count, allow } = await connectCached(portico);
    await allow({ tool: '*' });
    await allow({ tool: 'put' });
    for (let at = 0; at < 2; at += 1) {
      expect((await callCached(portico, name, { tool: 'put' })).note).toBeUndefined();
    }
    expect(count()).toBe(2);
  });

  it('[LLM-5] that no longer declares it is no longer cached', async () => {
    const { id, name, server, count, allow } = await connectCached(portico);
    await portico.api('PATCH', `${SERVERS}/${id}`, { tool_approval: 'trust' });
    await allow();
    await callCached(portico, name);
    expect((await callCached(portico, name)).note?.hit).toBe(true);
    server.tools = [{ name: 'get', inputSchema: { type: 'object' } }];
    expect((await look(portico, id)).tool_count).toBe(1);
    const fresh = createPortico();
    expect((await callCached(fresh, name)).note).toBeUndefined();
    expect(count()).toBe(2);
  });
});

describe('a hit', () => {
  it('[LLM-5] [SEC-6] is a call with a row that says so', async () => {
    const { name, allow } = await connectCached(portico);
    await allow();
    const someone = await createPerson(portico);
    const { token } = someone;
    await callCached(portico, name, { token });
    await callCached(portico, name, { token });
    const rows = await rowsOf(portico, someone);
    expect(rows.map(({ outcome, detail }) => [outcome, detail['cached']])).toEqual([
      ['done', undefined],
      ['done', true],
    ]);
  });

  it.each<[string, object]>([
    ['a header', { headers: { 'cache-control': 'no-cache' } }],
    ['_meta', { meta: { 'portico/cache': 'no-cache' } }],
  ])(
    '[LLM-5] is bypassed with %s, and the new result then takes its place',
    async (_way, directive) => {
      const { name, allow } = await connectCached(portico);
      await allow();
      await callCached(portico, name);
      expect(await callCached(portico, name, directive)).toMatchObject({
        serial: `${name}#2`,
        note: { hit: false },
      });
      expect(await callCached(portico, name)).toMatchObject({
        serial: `${name}#2`,
        note: { hit: true },
      });
    },
  );

  it('[LLM-5] is bypassed over REST too, and no-store stores nothing', async () => {
    const { name, allow, count } = await connectCached(portico);
    await allow();
    const call = async (cacheControl: string) =>
      portico.api(
        'POST',
        '/api/v1/tools/call',
        { name: `${name}.get` },
        {
          headers: { 'cache-control': cacheControl },
        },
      );
    await call('no-store');
    await call('no-cache');
    await call('no-store');
    expect((await callCached(portico, name)).serial).toBe(`${name}#2`);
    expect(count()).toBe(3);
  });
});

describe('nothing is cached', () => {
  it.each<[string, object]>([
    ['that is a failure', { content: [{ type: 'text', text: 'no' }], isError: true }],
    ['that asks back', { resultType: 'input_required', inputRequests: {}, requestState: 's' }],
    ['that is too large', { content: [{ type: 'text', text: 'x'.repeat(262_144) }] }],
  ])('[LLM-5] %s', async (_what, result) => {
    const { name, server, count, allow } = await connectCached(portico);
    await allow();
    server.call = post => resultOf(post, { resultType: 'complete', ...result });
    for (let at = 0; at < 3; at += 1) {
      expect((await callCached(portico, name)).note).toBeUndefined();
    }
    expect(count()).toBe(3);
  });

  it('[LLM-5] of a JSON-RPC error, a broken answer or an unavailable server', async () => {
    const { name, server, count, allow, answer } = await connectCached(portico);
    await allow();
    const failures = [
      (post: { id: unknown }) =>
        Response.json({ jsonrpc: '2.0', id: post.id, error: { code: -32000, message: 'no' } }),
      () => new Response('{"jsonrpc"', { headers: { 'content-type': 'application/json' } }),
      () => new Response(null, { status: 503 }),
    ];
    for (const failure of failures) {
      server.call = failure;
      expectMiss(await callCached(portico, name));
    }
    expect(count()).toBe(3);
    server.call = answer;
    expectMiss(await callCached(portico, name));
  });

  it('[LLM-5] of the retry of a call', async () => {
    const { name, server, count, allow } = await connectCached(portico);
    await allow();
    server.call = post =>
      'requestState' in post.params
        ? resultOf(post, { resultType: 'complete', content: [{ type: 'text', text: 'done' }] })
        : resultOf(post, { resultType: 'input_required', inputRequests: {}, requestState: 's' });
    for (let at = 0; at < 2; at += 1) {
      const asked = await callCached(portico, name);
      const requestState = asked.answer.result?.['requestState'];
      const response = await portico.post(
        {
          jsonrpc: '2.0',
          id: 2,
          method: 'tools/call',
          params: {
            name: `${name}.get`,
            arguments: {},
            requestState,
            inputResponses: {},
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientCapabilities': {},
            },
          },
        },
        {
          headers: {
            'mcp-protocol-version': '2026-07-28',
            'mcp-method': 'tools/call',
            'mcp-name': `${name}.get`,
          },
        },
      );
      const text = await response.text();
      expect(text).toContain('"done"');
      expect(text).not.toContain('portico/cache');
    }
    expect(count()).toBe(4);
  });

  it('[LLM-5] and nothing is lost if the cache is unavailable', async () => {
    const { asked, settings } = watchedCache(true);
    const broken = createPortico(settings);
    const { name, allow } = await connectCached(broken);
    await allow();
    expect((await callCached(broken, name)).serial).toBe(`${name}#1`);
    expect((await callCached(broken, name)).serial).toBe(`${name}#2`);
    expect(asked.length).toBeGreaterThan(0);
  });
});

it('[LLM-5] a person gets no earlier result after losing the right to call the tool', async () => {
  const { name, id, count, allow } = await connectCached(portico);
  await allow({ public: true });
  const token = await person(portico);
  await callCached(portico, name, { token });
  expect((await callCached(portico, name, { token })).note?.hit).toBe(true);
  const denied = await portico.api('POST', '/api/v1/access/rules', {
    effect: 'deny',
    subject: { kind: 'everyone' },
    server: id,
    tool: 'get',
  });
  expect(denied.status).toBe(201);
  const refused = await callCached(portico, name, { token });
  expect(refused.serial).toBeUndefined();
  expect(JSON.stringify(refused.answer)).toContain('not found');
  expect(count()).toBe(1);
});
