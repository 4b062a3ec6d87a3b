/** The chain of chunks: sealed by its object, and broken by any change in the database. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AdminAudit } from '../../../src/audit/admin-audit.ts';
import { CallChain } from '../../../src/audit/chunks/call-chain.ts';
import { toCallChunk } from '../../../src/audit/chunks/call-chunk.ts';
import { createPortico } from '../support/portico.ts';
import { insertOld, toCall } from '../support/chunks.ts';

const { DB } = env;
const chain = () => env.CALL_CHAIN.getByName('all');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Recent enough that no row of a test is pruned. */
const START = Date.now() - 2 * HOUR_MS;
const portico = createPortico();

interface Verified {
  rows: number;
  is_intact: boolean;
  first_broken_seq?: number;
  next_from?: number;
  head: { seq: number; hash: string };
  pruned_to: number;
}

async function verify(query = ''): Promise<Verified> {
  const response = await portico.api('GET', `/api/v1/audit/verify?shard=calls${query}`);
  expect(response.status).toBe(200);
  return response.json();
}

/** Writes chunks of one call each, a minute apart. */
async function writeChunks(count: number, from = START) {
  for (let n = 0; n < count; n += 1) {
    await insertOld(from + n * 60_000, [toCall(from + n * 60_000 - 5, { subject: `git.${n}` })]);
  }
}
const idsOf = async (): Promise<string[]> => {
  const { results } = await DB.prepare('SELECT id FROM call_chunks ORDER BY id').all();
  return results.map(({ id }) => String(id));
};
const alarmIn = () =>
  runInDurableObject(chain(), async (_chain, { storage }) => {
    return ((await storage.getAlarm()) ?? Number.NaN) - Date.now();
  });

beforeEach(async () => {
  await DB.batch([DB.prepare('DELETE FROM call_chunks'), DB.prepare('DELETE FROM call_seals')]);
  await DB.prepare(`DELETE FROM audit_heads WHERE shard = 'calls'`).run();
  await runInDurableObject(chain(), async (_chain, { storage }) => {
    storage.sql.exec('DELETE FROM seals');
    await storage.deleteAlarm();
  });
});

describe('the chain of calls', () => {
  it('[SEC-6] is intact, seal by seal, also in parts', async () => {
    expect(await verify()).toMatchObject({ rows: 0, is_intact: true, head: { seq: 0 } });
    for (const [count, from] of [
      [3, START],
      [2, START + 10 * 60_000],
      [4, START + 20 * 60_000],
    ] as const) {
      await writeChunks(count, from);
      await chain().keep();
    }
    const whole = await verify();
    expect(whole).toMatchObject({ rows: 9, is_intact: true, head: { seq: 9 }, pruned_to: 0 });
    expect(whole.next_from).toBeUndefined();
    const first = await verify('&limit=1');
    expect(first).toMatchObject({ rows: 3, is_intact: true, next_from: 4 });
    const second = await verify('&from=4&limit=2');
    expect(second).toMatchObject({ rows: 2, is_intact: true, next_from: 6 });
    expect(await verify('&from=6')).toMatchObject({ rows: 4, is_intact: true });
    const behind = await portico.api('GET', '/api/v1/audit/verify?shard=calls&from=11');
    expect(behind.status).toBe(422);
    const { shards } = await (
      await portico.api('GET', '/api/v1/audit/shards')
    ).json<{ shards: { shard: string; head: { seq: number }; pruned_to: number }[] }>();
    expect(shards.filter(({ shard }) => shard === 'calls')).toEqual([
      { shard: 'calls', head: whole.head, pruned_to: 0 },
    ]);
  });

  it('[SEC-6] stays intact if several seal it at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      await writeChunks(1, START + round * 10 * 60_000);
      const first = chain().keep();
      await writeChunks(1, START + round * 10 * 60_000 + 60_000);
      await Promise.all([first, chain().keep(), chain().addUp()]);
    }
    expect(await verify()).toMatchObject({ rows: 10, is_intact: true, head: { seq: 10 } });
  });

  it('[SEC-6] verifies chunks that are not yet sealed on their own', async () => {
    await writeChunks(2, Date.now() - 70_000);
    expect(await verify()).toMatchObject({ rows: 2, is_intact: true, head: { seq: 1 } });
    const [, young = ''] = await idsOf();
    await DB.prepare('UPDATE call_chunks SET calls = 5 WHERE id = ?').bind(young).run();
    expect(await verify()).toMatchObject({ is_intact: false, first_broken_seq: 2 });
  });

  it.each<[string, number, (ids: string[]) => Promise<unknown>]>([
    ['an edited body', 2, ids => change(`body = 'AAAA' WHERE id = '${ids[1]}'`)],
    ['an edited time', 3, ids => change(`to_at = to_at + 1 WHERE id = '${ids[2]}'`)],
    ['edited keys', 1, ids => change(`keys = '{}' WHERE id = '${ids[0]}'`)],
    ['another id', 4, ids => change(`id = substr(id, 1, 35) || 'x' WHERE id = '${ids[3]}'`)],
    ['a deleted chunk', 4, ids => remove(`call_chunks WHERE id = '${ids[4]}'`)],
    ['the last chunk deleted', 4, ids => remove(`call_chunks WHERE id = '${ids[5]}'`)],
    ['all chunks deleted', 1, () => remove('call_chunks')],
    ['the first seal deleted', 1, () => remove('call_seals WHERE seq = 3')],
    ['all deleted', 1, async () => (await remove('call_chunks'), await remove('call_seals'))],
    ['an edited seal', 1, () => changeSeal(`hash = 'f' WHERE seq = 3`)],
    ['a chunk in between', 1, async () => insertOld(START + 30_000, [toCall(START)])],
    ['two chunks swapped', 2, ([, a = '', b = '']) => swap(a, b)],
    ['the bodies of two chunks swapped', 3, ([, , a = '', b = '']) => swapBodies(a, b)],
    ['a chunk that says it holds something else', 1, ids => rewrite(ids[1] ?? '')],
  ])('[SEC-6] shows %s', async (_, seq, tamper) => {
    await writeChunks(3);
    await chain().keep();
    await writeChunks(3, START + 10 * 60_000);
    await chain().keep();
    expect(await verify()).toMatchObject({ rows: 6, is_intact: true });
    await tamper(await idsOf());
    // For a chunk that matches its hash, or is gone, only its seal is known to be wrong.
    expect(await verify()).toMatchObject({ is_intact: false, first_broken_seq: seq });
  });

  it('[SEC-6] shows that it was rewritten as a whole', async () => {
    await writeChunks(3);
    await chain().keep();
    await rewrite((await idsOf())[1] ?? '');
    await DB.prepare('DELETE FROM call_seals').run();
    // Like an attacker who controls the database, but not the object.
    const other = env.CALL_CHAIN.getByName('forger');
    await runInDurableObject(other, (_chain, { storage }) => storage.sql.exec('DELETE FROM seals'));
    await other.keep();
    expect(await verify()).toMatchObject({ is_intact: false });
  });

  it('[SEC-6] is sealed some minutes after chunks arrived, once for all of them', async () => {
    // Ahead, so that no alarm fires by itself.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY_MS });
    onTestFinished(() => void vi.useRealTimers());
    await writeChunks(5);
    for (let n = 0; n < 5; n += 1) await chain().wake();
    expect(await alarmIn()).toBeLessThanOrEqual(300_000);
    expect(await alarmIn()).toBeGreaterThan(290_000);
    await runDurableObjectAlarm(chain());
    const { results } = await DB.prepare('SELECT seq FROM call_seals').all();
    expect(results).toEqual([{ seq: 5 }]);
    // The latest chunk may have been too young.
    expect(await alarmIn()).toBeLessThanOrEqual(300_000);
    await runDurableObjectAlarm(chain());
    expect(await alarmIn()).toBeGreaterThan(300_000);
  });

  it('[SEC-6] is verified from where chunks were pruned because of their age', async () => {
    const old = Date.now() - 400 * DAY_MS;
    await writeChunks(3, old);
    await chain().keep();
    await writeChunks(2, old + DAY_MS);
    await chain().keep();
    await writeChunks(2);
    await chain().keep();
    await runDurableObjectAlarm(chain());
    await chain().wake();
    await runDurableObjectAlarm(chain());
    expect(await idsOf()).toHaveLength(2);
    expect(await verify()).toMatchObject({ rows: 2, is_intact: true, pruned_to: 5 });
    const { events } = await (
      await portico.api('GET', '/api/v1/audit?action=audit.prune&subject=calls')
    ).json<{ events: { principal: string; detail: object }[] }>();
    expect(events[0]).toMatchObject({
      principal: 'portico-retention',
      detail: { chunks: 5, up_to: 5 },
    });
    // More than the object decided to delete.
    await remove('call_chunks');
    expect(await verify()).toMatchObject({ is_intact: false, first_broken_seq: 6 });
  });

  it('[SEC-6] loses its old chunks the next time if they could not be deleted', async () => {
    const old = Date.now() - 400 * DAY_MS;
    await writeChunks(3, old);
    await chain().keep();
    let isFailing = true;
    const db = new Proxy(DB, {
      get(target, name) {
        if (name !== 'prepare') return Reflect.get(target, name).bind(target) as unknown;
        return (sql: string) =>
          target.prepare(isFailing && sql.includes('DELETE FROM call_chunks') ? 'fail' : sql);
      },
    });
    await runInDurableObject(chain(), async (_chain, { storage: { sql } }) => {
      const sealed = new CallChain({ db, sql, adminAudit: new AdminAudit(db) });
      await expect(sealed.prune(old + DAY_MS)).rejects.toThrow('syntax error');
      isFailing = false;
      expect(await sealed.prune(old + DAY_MS)).toBe(false);
    });
    expect(await idsOf()).toEqual([]);
    expect(await verify()).toMatchObject({ rows: 0, is_intact: true, pruned_to: 3 });
  });
});

const change = (set: string) => DB.prepare(`UPDATE call_chunks SET ${set}`).run();
const changeSeal = (set: string) => DB.prepare(`UPDATE call_seals SET ${set}`).run();
const remove = (from: string) => DB.prepare(`DELETE FROM ${from}`).run();

/** Swaps two chunks. */
const swap = (one: string, other: string) =>
  DB.batch([
    DB.prepare(`UPDATE call_chunks SET id = 'x' WHERE id = ?`).bind(one),
    DB.prepare('UPDATE call_chunks SET id = ? WHERE id = ?').bind(one, other),
    DB.prepare(`UPDATE call_chunks SET id = ? WHERE id = 'x'`).bind(other),
  ]);
const swapBodies = (one: string, other: string) =>
  DB.prepare(
    `UPDATE call_chunks SET (body, hash) = (SELECT body, hash FROM call_chunks AS others
       WHERE others.id = CASE call_chunks.id WHEN ?1 THEN ?2 ELSE ?1 END) WHERE id IN (?1, ?2)`,
  )
    .bind(one, other)
    .run();

/** Replaces a chunk by another with a correct hash. */
async function rewrite(id: string) {
  const forged = await toCallChunk(id, [toCall(START, { subject: 'git.nothing' })]);
  await DB.prepare(
    'UPDATE call_chunks SET body = ?, hash = ?, keys = ?, from_at = ?, to_at = ? WHERE id = ?',
  )
    .bind(forged.body, forged.hash, forged.keys, START, START, id)
    .run();
}
