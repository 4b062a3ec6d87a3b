/** One shard of the cache: its bounds, what survives lost memory, and lost callers. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import type { ResultCache } from '../../../src/objects/result-cache-object.ts';
import { EntryStore } from '../../../src/gateway/cache/entry-store.ts';

let made = 0;
/** A new object for each test. */
const createShard = () => env.RESULT_CACHE.getByName(`test-${(made += 1)}`);
type Shard = ReturnType<typeof createShard>;
const WAIT_MS = 30_000;
const TTL_MS = 600_000;
const put = (shard: Shard, key: string, id: string, more: object = {}) => {
  const madeAt = Date.now();
  return shard.put(key, id, { sealed: `sealed ${key}`, madeAt, ...more }, madeAt + TTL_MS);
};
const take = (shard: Shard, key: string, id: string) =>
  shard.take(key, id, Date.now() - TTL_MS, WAIT_MS);
const inStore = <T>(
  shard: Shard,
  run: (store: EntryStore, sql: SqlStorage) => T,
  maxBytes = 1_000,
) =>
  runInDurableObject(shard, (_object: ResultCache, { storage }) =>
    run(new EntryStore(storage.sql, maxBytes), storage.sql),
  );

describe('a shard', () => {
  it('[LLM-5] lets the first call lead, gives the others its result, and keeps it across an eviction', async () => {
    const shard = createShard();
    expect(await take(shard, 'k', 'a')).toEqual({ kind: 'lead', mustClaim: false });
    const waiting = [take(shard, 'k', 'b'), take(shard, 'k', 'c')];
    await put(shard, 'k', 'a');
    for (const taken of await Promise.all(waiting)) {
      expect(taken).toMatchObject({ kind: 'entry', entry: { sealed: 'sealed k' } });
    }
    await evictDurableObject(shard);
    expect(await take(shard, 'k', 'd')).toMatchObject({ kind: 'entry' });
    expect(await take(shard, 'other', 'd')).toMatchObject({ kind: 'lead' });
  });

  it('[LLM-5] that lost its memory lets another call lead, and accepts the result of either', async () => {
    const shard = createShard();
    await take(shard, 'k', 'a');
    await evictDurableObject(shard);
    expect(await take(shard, 'k', 'b')).toMatchObject({ kind: 'lead' });
    const waiting = take(shard, 'k', 'c');
    await put(shard, 'k', 'a');
    expect(await take(shard, 'k', 'd')).toMatchObject({ kind: 'entry' });
    await put(shard, 'k', 'b');
    expect(await waiting).toMatchObject({ kind: 'entry' });
  });

  it('[LLM-5] passes the lead on if it is given up, and lets all go if there is no result', async () => {
    const shard = createShard();
    await take(shard, 'k', 'a');
    const next = take(shard, 'k', 'b');
    const last = take(shard, 'k', 'c');
    await shard.leave('k', 'a');
    expect(await next).toEqual({ kind: 'lead', mustClaim: true });
    await shard.renew('k', 'b');
    await shard.release('k', 'b');
    expect(await last).toEqual({ kind: 'alone' });
    expect(await take(shard, 'k', 'd')).toMatchObject({ kind: 'lead' });
  });

  it('[LLM-5] replaces a lost leader while others wait', async () => {
    const shard = createShard();
    await take(shard, 'k', 'lost');
    expect(await take(shard, 'k', 'b')).toEqual({ kind: 'lead', mustClaim: true });
  });

  it('[LLM-5] returns no result that is older than wanted, or has expired', async () => {
    const shard = createShard();
    const now = Date.now();
    await put(shard, 'k', 'a', { madeAt: now - 5_000 });
    expect(await shard.take('k', 'b', now - 4_000, WAIT_MS)).toMatchObject({ kind: 'lead' });
    await shard.leave('k', 'b');
    expect(await shard.take('k', 'b', now - 9_000, WAIT_MS)).toMatchObject({ kind: 'entry' });
    await shard.put('gone', 'a', { sealed: 's', madeAt: 0 }, Date.now());
    expect(await take(shard, 'gone', 'b')).toMatchObject({ kind: 'lead' });
  });

  it('[LLM-5] deletes expired results by its alarm', async () => {
    const shard = createShard();
    await put(shard, 'old', 'a');
    await put(shard, 'new', 'a');
    const rows = () =>
      inStore(shard, (_store, sql) => sql.exec('SELECT key FROM entries ORDER BY key').toArray());
    await inStore(shard, (_store, sql) => {
      sql.exec(`UPDATE entries SET expires_at = 1 WHERE key = 'old'`);
    });
    expect(await rows()).toHaveLength(2);
    expect(await runDurableObjectAlarm(shard)).toBe(true);
    expect(await rows()).toEqual([{ key: 'new' }]);
    const next = await runInDurableObject(shard, (_object, { storage }) => storage.getAlarm());
    expect(next).toBeGreaterThan(Date.now());
  });
});

describe('its store', () => {
  const entry = (chars: number) => ({ sealed: 'x'.repeat(chars), madeAt: 1 });

  it('[LLM-5] stays within its bytes, and drops the least recently used', async () => {
    await inStore(
      createShard(),
      (store, sql) => {
        for (let at = 0; at < 60; at += 1) {
          store.put(`k${String(at).padStart(2, '0')}`, entry(872), 1e15, at * 20_000);
          // The first is used all the time.
          expect(store.find('k00', at * 20_000 + 10_000)).toBeDefined();
          expect(store.bytes).toBeLessThanOrEqual(20_000);
        }
        const keys = sql.exec<{ key: string }>('SELECT key FROM entries ORDER BY key').toArray();
        expect(keys[0]?.key).toBe('k00');
        expect(keys.at(-1)?.key).toBe('k59');
        expect(keys.length).toBeGreaterThan(2);
        expect(store.find('k01', 0)).toBeUndefined();
        const held = sql.exec('SELECT sum(bytes) AS bytes FROM entries').one()['bytes'];
        expect(store.bytes).toBe(held);
      },
      20_000,
    );
  });

  it('[LLM-5] refuses an entry larger than its bound, and recounts what it finds', async () => {
    const shard = createShard();
    await inStore(shard, store => {
      expect(store.put('k', entry(1_000), 1e15, 1)).toBe(false);
      expect(store.put('k', entry(500), 1e15, 1)).toBe(true);
      expect(store.put('k', entry(400), 1e15, 1)).toBe(true);
      expect(store.bytes).toBe(528);
    });
    await inStore(shard, store => {
      expect(store.bytes).toBe(528);
      store.sweep(2e15);
      expect([store.bytes, store.nextExpiry()]).toEqual([0, undefined]);
    });
  });
});
