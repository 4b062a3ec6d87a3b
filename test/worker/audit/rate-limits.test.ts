/** Limits of calls: exact under concurrency, for a principal and for one at a server, and reported in the form of each entry point. */
import { evictDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPerson, heldCalls, logOf, rowsOf } from '../support/call-rows.ts';
import { FakeServer, resultOf, serve } from '../support/fake-server.ts';
import { call, connect, ERAS } from '../support/live-calls.ts';
import {
  createPortico,
  initialize,
  legacy,
  registerConnected,
  type RpcAnswer,
  WHOLE,
} from '../support/portico.ts';

const reasonOf = ({ result }: RpcAnswer) => result?._meta?.['portico/reason'];

afterEach(() => void vi.useRealTimers());

describe('a limit of calls', () => {
  it('[ACC-6] of 100 lets exactly 100 of 1,000 calls at once pass', async () => {
    const { name, server } = await connect('modern');
    // Two isolates of one deployment.
    const isolates = [0, 1].map(() =>
      createPortico({ PORTICO_RATE_LIMIT: '100', PORTICO_CALL_TIMEOUT_MS: '120000' }),
    );
    const [portico = createPortico()] = isolates;
    const person = await createPerson(portico);
    // Nothing is refilled meanwhile, however long they take.
    vi.useFakeTimers({ toFake: ['Date'] });
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, async (_, n) => {
        const { message, headers } = call(name, 'modern', { arguments: { n } });
        const sent = { ...headers, ...WHOLE };
        const response = await isolates[n % 2]?.post(message, {
          headers: sent,
          token: person.token,
        });
        return response?.json<RpcAnswer>();
      }),
    );
    const passed = answers.filter(answer => answer && reasonOf(answer) === undefined);
    expect(passed).toHaveLength(100);
    expect(server.of('tools/call')).toHaveLength(100);
    await Promise.all(isolates.map(isolate => isolate.settle()));
    const rows = await rowsOf(portico, person);
    const count = (outcome: string) => rows.filter(row => row.outcome === outcome).length;
    expect([rows.length, count('done'), count('denied')]).toEqual([1_000, 100, 900]);
  });

  it('[ACC-6] applies to all servers together, and to each', async () => {
    const portico = createPortico({ PORTICO_RATE_LIMIT: '5', PORTICO_SERVER_RATE_LIMIT: '3' });
    serve({ first: new FakeServer({ era: 'modern' }), second: new FakeServer() });
    await registerConnected(portico, 'first');
    await registerConnected(portico, 'second');
    const person = await createPerson(portico);
    const passes = async (name: string) => {
      const { message, headers } = call(name, 'modern');
      const answer = await portico.post(message, { headers, token: person.token });
      return reasonOf(await answer.json()) === undefined;
    };
    const at = async (name: string, times: number) => {
      let passed = 0;
      for (let n = 0; n < times; n += 1) passed += Number(await passes(name));
      return passed;
    };
    expect([await at('first', 4), await at('second', 4)]).toEqual([3, 2]);
    // Another principal has buckets of its own.
    const other = await createPerson(portico);
    const { message, headers } = call('first', 'modern');
    const answer = await portico.post(message, { headers, token: other.token });
    expect(reasonOf(await answer.json())).toBeUndefined();
  });

  it('[ACC-6] holds when its object loses its memory, and without the audit', async () => {
    const { name } = await connect('modern');
    const portico = createPortico({ PORTICO_RATE_LIMIT: '2', PORTICO_AUDIT_CALLS: 'off' });
    const person = await createPerson(portico);
    const passed: boolean[] = [];
    for (let n = 0; n < 4; n += 1) {
      const { message, headers } = call(name, 'modern');
      const answer = await portico.post(message, { headers, token: person.token });
      passed.push(reasonOf(await answer.json()) === undefined);
      await portico.settle();
      await evictDurableObject(logOf(person));
    }
    expect(passed).toEqual([true, true, false, false]);
    expect(await heldCalls(person)).toEqual([]);
  });

  it('[ACC-6] counts calls that are refused for another reason, and allows a burst beside the rate', async () => {
    const { name } = await connect('modern');
    const portico = createPortico({ PORTICO_RATE_LIMIT: '1', PORTICO_RATE_BURST: '3' });
    const { token } = await createPerson(portico);
    const reasons: unknown[] = [];
    for (const server of ['nobody', name, 'nobody', 'nobody']) {
      const { message, headers } = call(server, 'modern');
      const answer = await (await portico.post(message, { headers, token })).json<RpcAnswer>();
      reasons.push(answer.error?.code ?? reasonOf(answer));
    }
    expect(reasons).toEqual([-32602, undefined, -32602, 'rate_limited']);
  });

  it.each(ERAS)('[ACC-6] is reported to a %s client with the time to wait', async era => {
    const { name, server } = await connect('modern');
    server.call = received => resultOf(received, { resultType: 'complete', content: [] });
    const portico = createPortico({ PORTICO_RATE_LIMIT: '1' });
    const { token } = await createPerson(portico);
    const { message, headers } = call(name, era);
    await portico.post(message, { headers, token }).then(response => response.text());
    const answer = await (await portico.post(message, { headers, token })).json<RpcAnswer>();
    const seconds = Number(answer.result?._meta?.['portico/retryAfter']);
    expect(seconds).toBeGreaterThan(30);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(answer.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(`Retry after ${seconds} s`) as unknown }],
    });
    const refused = await portico.api(
      'POST',
      '/api/v1/tools/call',
      { name: `${name}.echo` },
      { token },
    );
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(30);
    expect(await refused.json()).toMatchObject({ code: 'rate_limited', server: { name } });
  });

  it('[ACC-6] counts each call of a batch', async () => {
    const { name } = await connect('legacy');
    const portico = createPortico({ PORTICO_RATE_LIMIT: '4' });
    const { token } = await createPerson(portico);
    const session = await initialize(portico, { token }, '/mcp', '2025-03-26');
    const headers = { 'mcp-session-id': session };
    const batch = Array.from({ length: 9 }, (_, id) =>
      legacy('tools/call', { name: `${name}.echo` }, id),
    );
    const answers = await (await portico.post(batch, { headers, token })).json<RpcAnswer[]>();
    expect(answers.filter(answer => reasonOf(answer) === undefined)).toHaveLength(4);
  });
});

describe('the address rate limit', () => {
  const request = (address: string | undefined, path = '/mcp') => ({
    path,
    init: { method: 'POST', headers: address === undefined ? {} : { 'cf-connecting-ip': address } },
  });
  const asked: string[] = [];
  const addressLimit = (limit: (key: string) => boolean) => ({
    limit: async ({ key }: { key: string }) => {
      asked.push(key);
      return { success: limit(key) };
    },
  });
  const send = async (
    portico: ReturnType<typeof createPortico>,
    address?: string,
    path?: string,
  ) => {
    const { path: at, init } = request(address, path);
    return portico.fetch(at, init);
  };

  it("[ACC-6] refuses an address before it checks a credential, and trusts only the platform's address", async () => {
    const portico = createPortico({ SHIELD: addressLimit(key => key !== '203.0.113.9') });
    const refused = await send(portico, '203.0.113.9');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect(await refused.json()).toMatchObject({ code: 'rate_limited' });
    expect((await send(portico, '203.0.113.9', '/api/v1/tokens')).status).toBe(429);
    expect((await send(portico, '203.0.113.8')).status).toBe(401);
    const spoofed = { 'x-forwarded-for': '203.0.113.9' };
    expect((await portico.fetch('/mcp', { method: 'POST', headers: spoofed })).status).toBe(401);
    expect(asked).toEqual(['203.0.113.9', '203.0.113.9', '203.0.113.8']);
  });

  it('[ACC-6] counts IPv6 by its network, all of which one machine can use', async () => {
    asked.length = 0;
    const portico = createPortico({ SHIELD: addressLimit(() => true) });
    for (const address of ['2001:db8::1', '2001:db8::2']) await send(portico, address);
    expect(asked).toEqual(['2001:db8:0:0', '2001:db8:0:0']);
  });

  it('[ACC-6] lets requests pass if it is broken', async () => {
    const broken = { limit: () => Promise.reject(new Error('out of order')) };
    expect((await send(createPortico({ SHIELD: broken }), '203.0.113.9')).status).toBe(401);
  });

  it('[ACC-6] is the binding that wrangler.toml names', async () => {
    expect((await send(createPortico(), '203.0.113.77')).status).toBe(401);
  });
});
