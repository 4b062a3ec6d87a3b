/** The rotation that a command runs: to the end, again if edits left something behind, and no further than possible. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { Api } from '../../../cli/src/gateway/api.ts';
import { keysOf, rotateAll, type KeysApi, type Rotated } from '../../../cli/src/keys/rotate.ts';

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach(close => close()));

/** An API over records by id, with the key of each, or undefined for a record that cannot be opened. */
function fake(records: Map<string, string | undefined>, onRotate = () => {}) {
  const stale = () => [...records].filter(([, key]) => key !== 'k2');
  const api: KeysApi = {
    report: () =>
      Promise.resolve({
        active: 'k2',
        keys: [],
        remaining: stale().length,
        tokens_remaining: 0,
      }),
    rotate(limit, cursor) {
      const next = stale()
        .filter(([id]) => id > (cursor ?? ''))
        .slice(0, limit);
      for (const [id, key] of next) if (key !== undefined) records.set(id, 'k2');
      onRotate();
      return Promise.resolve({
        active: 'k2',
        total: records.size,
        rotated: next.filter(([, key]) => key !== undefined).length,
        remaining: stale().length,
        unreadable: next.filter(([, key]) => key === undefined).length,
        next: next.at(-1)?.[0] ?? null,
      });
    },
  };
  return api;
}

const recordsOf = (count: number) =>
  new Map<string, string | undefined>(
    Array.from({ length: count }, (_, i) => [String(i).padStart(3, '0'), 'k1']),
  );

it('[SEC-1] goes from the first record to the last and reports its progress', async () => {
  const seen: Rotated[] = [];
  const result = await rotateAll(fake(recordsOf(120)), 50, progress => seen.push(progress));
  expect(seen.map(({ remaining }) => remaining)).toEqual([70, 20, 0]);
  expect(result).toMatchObject({ unreadable: 0, report: { remaining: 0 } });
});

it('[SEC-1] starts again if a concurrent edit left a record behind', async () => {
  const records = recordsOf(100);
  let requests = 0;
  const api = fake(records, () => {
    requests += 1;
    if (requests === 1) records.set('000', 'k1');
  });
  expect(await rotateAll(api, 50, () => {})).toMatchObject({ report: { remaining: 0 } });
});

it('[SEC-1] ends if a record cannot be opened', async () => {
  const records = recordsOf(10).set('004', undefined).set('007', undefined);
  const result = await rotateAll(fake(records), 3, () => {});
  expect(result).toMatchObject({ unreadable: 2, report: { remaining: 2 } });
});

/** A gateway with these answers, one after the other. */
async function serve(...answers: [status: number, body: object][]) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    const [status, body] = answers[Math.min(seen.length, answers.length) - 1] ?? [500, {}];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

it('[SEC-1] retries at a busy gateway', async () => {
  const { origin, seen } = await serve([503, { detail: 'busy' }], [200, { remaining: 0 }]);
  expect(await keysOf(new Api(new URL(origin), 'token')).report()).toEqual({ remaining: 0 });
  expect(seen).toEqual(Array.from({ length: 2 }, () => 'GET /api/v1/keys Bearer token'));
});

it('[SEC-2] reports why a gateway refuses, once, without the token', async () => {
  const { origin, seen } = await serve([
    403,
    { detail: 'This needs a token with the scope admin' },
  ]);
  const refusal = keysOf(new Api(new URL(origin), 'token-4711')).report();
  await expect(refusal).rejects.toThrow('This needs a token');
  await expect(refusal).rejects.not.toThrow('4711');
  expect(seen).toHaveLength(1);
});
