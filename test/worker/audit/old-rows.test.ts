/** Which rows of the audit are old, to the millisecond, how many are deleted at once, and the row that records it. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AuditLog } from '../../../src/objects/audit-log-object.ts';
import { AuditService } from '../../../src/audit/audit-service.ts';
import { listChain } from '../../../src/audit/audit-store.ts';
import {
  beginningOf,
  createPerson,
  endOf,
  logOf,
  rowsOf,
  startedOf,
  type Person,
} from '../support/call-rows.ts';
import { createPortico } from '../support/portico.ts';

const DAY_MS = 86_400_000;
const portico = createPortico();
let person: Person;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * DAY_MS });
  person = await createPerson(portico);
});
afterEach(() => void vi.useRealTimers());

/** Stores calls of these ages, in milliseconds, in the database. */
async function callsFrom(...agesMs: number[]) {
  for (const age of agesMs) {
    const id = crypto.randomUUID();
    const call = startedOf(id, Date.now() - age);
    await logOf(person).begin(beginningOf(person, id, { call, refused: endOf(id) }));
  }
  await rowsOf(portico, person);
}

/** Prunes old rows. @returns when pruning is next due, in milliseconds from now */
const prune = async () => {
  await runInDurableObject(logOf(person), async (_log, { storage }) => {
    const due = String(Date.now());
    storage.sql.exec("INSERT OR REPLACE INTO facts VALUES ('prune_at', ?)", due);
    await storage.setAlarm(Date.now() + DAY_MS);
  });
  await runDurableObjectAlarm(logOf(person));
  return runInDurableObject(logOf(person), (_log, { storage }) => {
    const [row] = storage.sql.exec("SELECT value FROM facts WHERE name = 'prune_at'").toArray();
    return Number(row?.['value']) - Date.now();
  });
};
const left = async () => (await listChain(env.DB, person.shard, 1, 100)).map(({ seq }) => seq);
const verify = async () => {
  const path = `/api/v1/audit/verify?shard=${encodeURIComponent(person.shard)}`;
  return (await portico.api('GET', path)).json();
};
/** The details of pruning rows, the last one first. */
const adminAudit = async () => {
  const found = await portico.api('GET', '/api/v1/audit?action=audit.prune&limit=500');
  const { events } = await found.json<{ events: { subject: string; detail: object }[] }>();
  return events.filter(({ subject }) => subject === person.shard).map(({ detail }) => detail);
};

it('[SEC-6] a row is kept for 365 days, and deleted a millisecond later', async () => {
  await callsFrom(365 * DAY_MS + 1, 365 * DAY_MS, 0);
  expect(await prune()).toBe(DAY_MS);
  expect(await left()).toEqual([2, 3]);
  expect(await adminAudit()).toMatchObject([
    { rows: 1, up_to: 1, before: new Date(Date.now() - 365 * DAY_MS).toISOString() },
  ]);
  expect(await prune()).toBe(DAY_MS);
  expect([await left(), (await adminAudit()).length]).toEqual([[2, 3], 1]);
});

it('[SEC-6] an old row is kept after one that is not old, in the order of the chain', async () => {
  await callsFrom(0);
  await callsFrom(400 * DAY_MS);
  expect(await prune()).toBe(DAY_MS);
  expect(await left()).toEqual([1, 2]);
});

it('[SEC-6] a chain whose rows were all old is intact', async () => {
  await callsFrom(400 * DAY_MS, 400 * DAY_MS);
  expect(await prune()).toBe(DAY_MS);
  expect(await left()).toEqual([]);
  expect(await verify()).toMatchObject({ is_intact: true, rows: 0, pruned_to: 2 });
  await callsFrom(0);
  expect(await left()).toEqual([3]);
  expect(await verify()).toMatchObject({ is_intact: true, rows: 1, pruned_to: 2 });
});

it('[SEC-6] a chain is intact to a check during which its rows are deleted', async () => {
  await callsFrom(400 * DAY_MS, 400 * DAY_MS, 0);
  let isPruned = false;
  const keptBefore = async (shard: string) => {
    const kept = await logOf(person).keep(shard);
    if (!isPruned) await prune();
    isPruned = true;
    return kept;
  };
  const nobody = () => Promise.reject(new Error('not asked'));
  const service = new AuditService(env.DB, keptBefore, nobody);
  const administrator = { principalId: 'a', tokenId: 'a', scopes: new Set(['admin'] as const) };
  const found = await service.verify(administrator, person.shard, 1, 100);
  expect(found).toMatchObject({ rows: 1, isIntact: true, pruned: { seq: 2 } });
});

it('[SEC-6] nothing is old with unlimited retention', async () => {
  await callsFrom(400 * DAY_MS);
  const next = await runInDurableObject(logOf(person), async (_log, state) => {
    const forEver = { PORTICO_AUDIT_DAYS: '0' };
    const log = new AuditLog(state, { ...env, ...forEver });
    state.storage.sql.exec("INSERT OR REPLACE INTO facts VALUES ('prune_at', '0')");
    await log.alarm();
    const [row] = state.storage.sql
      .exec("SELECT value FROM facts WHERE name = 'prune_at'")
      .toArray();
    return Number(row?.['value']) - Date.now();
  });
  expect([await left(), next]).toEqual([[1], DAY_MS]);
});

it('[SEC-6] many old rows are deleted a thousand at a time, twenty thousand per run, and the rest soon', async () => {
  await callsFrom(0);
  await env.DB.prepare('DELETE FROM audit_events WHERE shard = ?').bind(person.shard).run();
  const insert = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20500)
    INSERT INTO audit_events SELECT ?, i, ? || i, 1000, 'p', 't', 'a', 's', 'done', NULL, '{}', '', 'h' FROM n`;
  await env.DB.prepare(insert).bind(person.shard, `${person.principalId}-`).run();
  expect(await prune()).toBe(5_000);
  expect((await left())[0]).toBe(20_001);
  const first = await adminAudit();
  expect(first).toHaveLength(20);
  expect(first.every(detail => 'rows' in detail && detail.rows === 1_000)).toBe(true);
  expect(await prune()).toBe(DAY_MS);
  expect(await left()).toEqual([]);
  expect(await adminAudit()).toHaveLength(21);
  expect(await adminAudit()).toContainEqual(expect.objectContaining({ rows: 500, up_to: 20_500 }));
});
