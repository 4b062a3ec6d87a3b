/**
 * The result cache in front of a real server: one call for a hundred, no result for the wrong person, no result cached that must not be.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { createRandom, SEED } from '../../unit/seeded.ts';
import { QUIET, startGateway, TRUSTED, type Gateway } from '../support/gateway.ts';
import { runPortico } from '../support/portico-command.ts';
import { resultText, startScripted, type ScriptedUpstream } from '../support/scripted-upstream.ts';

interface Seen {
  serial: string;
  isHit: boolean;
  isError: boolean;
}

const READS = { annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } };
const TOOLS = ['get', 'shared', 'fails', 'asks', 'slow'].map(name => ({ name, ...READS }));

let data: string;
let gateway: Gateway;
let upstream: ScriptedUpstream;
let serverId: string;
let serial = 0;
/** While set, calls of `slow` wait for it. */
let held: Promise<void> | undefined;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'portico-cache-'));
  gateway = await startGateway({ env: QUIET, data });
  upstream = await startScripted(
    'modern',
    { 'tools/list': { member: 'tools', items: TOOLS } },
    async ({ id, name }) => {
      serial += 1;
      const own = serial;
      if (name === 'slow') await held;
      if (name === 'asks') {
        const inputRequests = { roots: { method: 'roots/list' } };
        const asked = { resultType: 'input_required', inputRequests, requestState: `s${own}` };
        return { body: resultText(id, JSON.stringify(asked)) };
      }
      const content = [{ type: 'text', text: `${own}` }];
      const result = { resultType: 'complete', content, isError: name === 'fails' };
      return { body: resultText(id, JSON.stringify(result)) };
    },
  );
  serverId = (await gateway.register('data', upstream.url, TRUSTED)).id;
  await allow('*', false);
  await allow('shared', true);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
  await rm(data, { recursive: true, force: true });
});

async function allow(tool: string, isPublic: boolean): Promise<void> {
  const body = { server: 'data', tool, ttl_seconds: 3_600, public: isPublic };
  const answer = await gateway.api('POST', '/api/v1/cache/rules', body);
  expect([answer.text, answer.status]).toEqual([answer.text, 201]);
}

async function call(tool: string, token: string, args: object = {}): Promise<Seen> {
  const body = { name: `data.${tool}`, arguments: args };
  const answer = await gateway.api('POST', '/api/v1/tools/call', body, token);
  expect([answer.text, answer.status]).toEqual([answer.text, 200]);
  const result = answer.json as {
    content: { text: string }[];
    isError: boolean;
    _meta?: { 'portico/cache'?: { hit: boolean } };
  };
  return {
    serial: result.content[0]?.text ?? '',
    isHit: result._meta?.['portico/cache']?.hit ?? false,
    isError: result.isError,
  };
}
const tokenOf = async (name: string) => (await gateway.createToken({ name })).token;

it('[LLM-5] a hundred equal calls at once are one call at the server', async () => {
  const token = await tokenOf('many');
  const before = upstream.calls();
  let open: () => void = () => {};
  held = new Promise(resolve => (open = resolve));
  const calls = Array.from({ length: 100 }, () => call('slow', token));
  await until('one call is there', 60_000, async () => upstream.calls() > before || undefined);
  open();
  held = undefined;
  const seen = await Promise.all(calls);
  expect(new Set(seen.map(one => one.serial)).size).toBe(1);
  expect(upstream.calls()).toBe(before + 1);
  expect(seen.filter(({ isHit }) => !isHit)).toHaveLength(1);
});

it(`[LLM-5] no result goes to another person, unless its rule says so (seed ${SEED})`, async () => {
  const random = createRandom();
  const tokens = await Promise.all(['a', 'b', 'c', 'd'].map(tokenOf));
  /** Who saw a result, and for which arguments, by its serial number. */
  const seenBy = new Map<string, Set<string>>();
  let hits = 0;
  for (let round = 0; round < 40; round += 1) {
    await Promise.all(
      Array.from({ length: 1 + random.below(6) }, async () => {
        const tool = random.pick(['get', 'shared']);
        const person = random.below(tokens.length);
        const key = random.below(3);
        const args = random.chance(0.5) ? { key, more: [1, 2] } : { more: [1.0, 2], key };
        const { serial: number, isHit } = await call(tool, tokens[person] ?? '', args);
        hits += isHit ? 1 : 0;
        const who = tool === 'shared' ? 'everybody' : `person ${person}`;
        seenBy.set(number, (seenBy.get(number) ?? new Set()).add(`${tool} ${key} ${who}`));
      }),
    );
  }
  for (const [number, who] of seenBy) expect([number, [...who]]).toEqual([number, [[...who][0]]]);
  expect(hits).toBeGreaterThan(0);
  // Three keys for each person and three for everybody: each was called once at most.
  expect(seenBy.size).toBeLessThanOrEqual(3 * tokens.length + 3);
});

it('[LLM-5] never caches a failure or a question', async () => {
  const token = await tokenOf('unlucky');
  const before = upstream.calls();
  const failed = [await call('fails', token), await call('fails', token)];
  expect(failed.map(({ isError, isHit }) => [isError, isHit])).toEqual([
    [true, false],
    [true, false],
  ]);
  expect(failed[0]?.serial).not.toBe(failed[1]?.serial);
  for (let at = 0; at < 2; at += 1) {
    const body = { name: 'data.asks', arguments: {} };
    const { json } = await gateway.api('POST', '/api/v1/tools/call', body, token);
    expect(json['code']).toBe('upstream_needs_input');
  }
  expect(upstream.calls()).toBe(before + 4);
});

it('[LLM-5] [ACC-1] a revoked token gets no cached result', async () => {
  const { id, token } = await gateway.createToken({ name: 'leaving' });
  await call('shared', token, { key: 'revoked' });
  expect((await call('shared', token, { key: 'revoked' })).isHit).toBe(true);
  expect((await gateway.api('DELETE', `/api/v1/tokens/${id}`)).status).toBe(204);
  const body = { name: 'data.shared', arguments: { key: 'revoked' } };
  expect((await gateway.api('POST', '/api/v1/tools/call', body, token)).status).toBe(401);
});

it('[LLM-5] [CLI-4] the command line uses the cached result, or has the call made', async () => {
  const env = { PORTICO_URL: gateway.origin, PORTICO_TOKEN: await tokenOf('cli') };
  const get = async (...words: string[]) => {
    const { code, out, err } = await runPortico(['call', ...words], { env });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return Number(out);
  };
  const first = await get('data.get');
  expect(await get('data.get')).toBe(first);
  const second = await get('data.get', '--no-cache');
  expect(second).toBeGreaterThan(first);
  // Its result replaced the earlier one.
  expect(await get('data.get')).toBe(second);
  expect(await get('--no-cache', 'data.get')).toBeGreaterThan(second);
});

it('[LLM-5] an edit of the server invalidates cached results, and a restart of the gateway does not', async () => {
  const token = await tokenOf('patient');
  const first = await call('get', token);
  const path = `/api/v1/aggregator/servers/${serverId}`;
  expect((await gateway.api('PATCH', path, { description: 'edited' })).status).toBe(200);
  await gateway.waitFor(serverId, 'CONNECTED');
  const second = await call('get', token);
  expect([second.isHit, second.serial === first.serial]).toEqual([false, false]);
  // The result is cached while the response is sent, not before; after a hit it is certainly cached.
  expect((await call('get', token)).isHit).toBe(true);
  const { adminToken, port } = gateway;
  await gateway.stop();
  gateway = await startGateway({ env: QUIET, adminToken, data, port });
  await gateway.waitFor(serverId, 'CONNECTED');
  expect(await call('get', token)).toEqual({ ...second, isHit: true });
});
