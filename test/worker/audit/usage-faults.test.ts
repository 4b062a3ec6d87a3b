/** Usage equals the rows of calls, even if adding them up is cut off, repeated or run twice at once. */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { beforeEach, expect, it } from 'vitest';
import { AdminAudit } from '../../../src/audit/admin-audit.ts';
import {
  chain,
  GENESIS,
  type AuditEvent,
  type ChainedEvent,
} from '../../../src/audit/audit-schema.ts';
import { insertMissing } from '../../../src/audit/audit-store.ts';
import { CallChain } from '../../../src/audit/chunks/call-chain.ts';
import { readCalls } from '../../../src/audit/chunks/read-calls.ts';
import { toTimeId } from '../../../src/shared/util/time-id.ts';
import { toCells } from '../../../src/audit/usage/usage-cells.ts';
import { addMissing } from '../../../src/audit/usage/usage-store.ts';
import { createRandom, SEED } from '../../unit/seeded.ts';
import { addUpAll, insertOld, toCall } from '../support/chunks.ts';

const { DB } = env;
const DAY_MS = 86_400_000;
const START = Math.floor(Date.now() / DAY_MS) * DAY_MS - 2 * DAY_MS - 900_000;
const random = createRandom();

beforeEach(async () => {
  for (const table of ['call_chunks', 'call_seals', 'usage', 'usage_open']) {
    await DB.prepare(`DELETE FROM ${table}`).run();
  }
  await DB.prepare(`UPDATE usage_progress SET chunk_id = ''`).run();
});

/** A database whose writes are lost, or carried out without an acknowledgement. */
const faulty = new Proxy(DB, {
  get(target, name) {
    if (name !== 'batch') return Reflect.get(target, name).bind(target) as unknown;
    return async (statements: D1PreparedStatement[]) => {
      if (random.chance(0.25)) throw new Error('lost');
      const results = await target.batch(statements);
      if (random.chance(0.25)) throw new Error('made, not heard of');
      return results;
    };
  },
});

function drawCall(at: number): AuditEvent {
  return toCall(at, {
    principalId: random.pick(['ada', 'bob']),
    tokenId: random.pick(['t1', 't2']),
    action: random.pick(['tool.call', 'tool.call', 'prompt.get']),
    subject: random.pick(['git.push', 'git.pull', 'git.log']),
    outcome: random.pick(['done', 'done', 'failed', 'denied', 'cancelled']),
    detail: {
      server: random.pick(['s1', 's2']),
      is_error: random.chance(0.2),
      duration_ms: random.below(40_000),
      argument_chars: random.below(500),
      result_chars: random.below(9_000),
    },
  });
}

/** The sums of the table, and what the rows add up to. */
async function compared() {
  const { results } = await DB.prepare(
    `SELECT * FROM usage WHERE calls <> 0 ORDER BY day, principal_id, token_id, action, server_id, tool`,
  ).all();
  const { calls: rows } = await readCalls(DB, {}, 'oldest', 100_000);
  const wanted = toCells(rows).map(({ sums, maxMs, ...key }) => ({
    day: key.day,
    principal_id: key.principalId,
    token_id: key.tokenId,
    action: key.action,
    server_id: key.serverId,
    tool: key.tool,
    server: key.server,
    ...sums,
    max_ms: maxMs,
  }));
  const keyOf = (row: Record<string, unknown>) =>
    JSON.stringify([
      row['day'],
      row['principal_id'],
      row['token_id'],
      row['action'],
      row['server_id'],
      row['tool'],
    ]);
  const sorted = (all: Record<string, unknown>[]) =>
    all.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return { kept: sorted(results), wanted: sorted(wanted), calls: rows.length };
}

it(`[OPS-7] counts each row once through faults (seed ${SEED})`, async () => {
  let at = START;
  let pending: AuditEvent[] = [];
  let made = 0;
  for (let chunk = 0; chunk < 60; chunk += 1) {
    at += 30_000;
    const calls = Array.from({ length: 1 + random.below(12) }, () =>
      drawCall(at - random.below(20_000)),
    );
    made += calls.length;
    // Some are stored when they are sent, and with their end here, later, or never; or their end is stored first.
    const durable = calls.filter(() => random.chance(0.4));
    const opened = durable.map(call => ({
      ...call,
      outcome: 'unknown' as const,
      detail: { server: call.detail['server'], argument_chars: call.detail['argument_chars'] },
    }));
    const late = [...opened, ...calls].filter(() => random.chance(0.3));
    const now = [...opened, ...calls].filter(event => !late.includes(event));
    const due = pending.filter(() => random.chance(0.6));
    pending = [...pending.filter(event => !due.includes(event)), ...late];
    if (now.length + due.length > 0) await insertOld(at, [...due, ...now]);
    if (!random.chance(0.4)) continue;
    // Two at once, each of which may be cut off.
    await Promise.allSettled([addUpAll(faulty), addUpAll(faulty)]);
  }
  if (pending.length > 0) await insertOld(at + 30_000, pending);
  await addUpAll();
  const { kept, wanted, calls } = await compared();
  expect(calls).toBe(made);
  expect(kept).toEqual(wanted);
  const { results } = await DB.prepare(`SELECT sum(calls) AS calls FROM usage`).all();
  expect(results).toEqual([{ calls: made }]);
});

it("[OPS-7] counts rows of a principal's object once, in whatever parts they arrive", async () => {
  const rows: ChainedEvent[] = [];
  let head = GENESIS;
  for (let n = 0; n < 30; n += 1) {
    const row = await chain('calls:usage', head, drawCall(START + n * 1_000));
    rows.push(row);
    head = row;
  }
  for (const [from, to] of [
    [0, 10],
    [0, 10],
    [5, 20],
    [19, 30],
  ] as const) {
    const part = rows.slice(from, to);
    await DB.batch([addMissing(DB, part), insertMissing(DB, part)]);
  }
  const wanted = toCells(rows).reduce(
    (all, { sums }) => ({ ...all, calls: all.calls + sums.calls, ms: all.ms + sums.ms }),
    { calls: 0, ms: 0 },
  );
  const columns = ['calls', 'ms'].map(name => `sum(${name}) AS ${name}`).join(', ');
  expect(await DB.prepare(`SELECT ${columns} FROM usage`).first()).toEqual(wanted);
});

it('[OPS-7] adds up one part if the request waits no longer, and none twice for two requests', async () => {
  const CHUNKS = 250;
  const MAX_CHUNKS = 100;
  for (let n = 0; n < CHUNKS; n += 1) await insertOld(START + n * 1_000, [drawCall(START)]);
  let writes = 0;
  const counted = new Proxy(DB, {
    get(target, name) {
      const found = Reflect.get(target, name) as (...given: unknown[]) => unknown;
      return (...given: unknown[]) => {
        writes += Number(name === 'batch');
        return found.apply(target, given);
      };
    },
  });
  const calls = async () => {
    const row = await DB.prepare('SELECT sum(calls) AS calls FROM usage').first();
    return row?.['calls'];
  };
  await runInDurableObject(env.CALL_CHAIN.getByName('parts'), async (_object, { storage }) => {
    const adminAudit = new AdminAudit(DB);
    const chainOfAll = new CallChain({ db: counted, sql: storage.sql, adminAudit });
    await chainOfAll.seal();
    expect(await chainOfAll.addUp(0)).toBe(true);
    expect([await calls(), writes]).toEqual([MAX_CHUNKS, 1]);
    expect(await Promise.all([chainOfAll.addUp(), chainOfAll.addUp()])).toEqual([false, false]);
    expect([await calls(), writes]).toEqual([CHUNKS, 3]);
  });
});

it('[OPS-7] seals one part if the request waits no longer, and else all', async () => {
  const SEALED_AT_ONCE = 2_000;
  await DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO call_chunks SELECT ? || printf('%04d', i), 1, 1, 1, '{}', 'hash', '' FROM n`,
  )
    .bind(SEALED_AT_ONCE, toTimeId(START).slice(0, -4))
    .run();
  await runInDurableObject(env.CALL_CHAIN.getByName('seals'), async (_object, { storage }) => {
    const parts = { db: DB, sql: storage.sql, adminAudit: new AdminAudit(DB) };
    const chainOfAll = new CallChain(parts);
    storage.sql.exec('DELETE FROM seals');
    expect(await chainOfAll.seal(0)).toBe(true);
    expect(chainOfAll.kept.sealed.seq).toBe(SEALED_AT_ONCE);
    expect(await chainOfAll.seal()).toBe(false);
    expect(chainOfAll.kept.sealed.seq).toBe(SEALED_AT_ONCE + 1);
  });
});
