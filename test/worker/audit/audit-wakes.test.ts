/** The object of a principal's calls: its alarms, its retries, its batched writes, and the tokens it counts. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AuditLog } from '../../../src/objects/audit-log-object.ts';
import {
  beginningOf,
  createPerson,
  endOf,
  heldCalls,
  logOf,
  type Person,
} from '../support/call-rows.ts';
import { createPortico } from '../support/portico.ts';

const DAY_MS = 86_400_000;
const portico = createPortico();
let person: Person;

// A day ahead, so that no alarm fires by itself before the test reads it.
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY_MS });
  person = await createPerson(portico);
});
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);
const sql = (text: string) => env.DB.prepare(text).run();
const alarm = () => runDurableObjectAlarm(logOf(person));

/** Milliseconds until the object wakes. */
const wakes = () =>
  runInDurableObject(logOf(person), async (_log, { storage }) => {
    return Number(await storage.getAlarm()) - Date.now();
  });
const prunesAt = (name = person.shard) =>
  runInDurableObject(env.AUDIT_LOG.getByName(name), (_log, { storage }) => {
    const [row] = storage.sql.exec("SELECT value FROM facts WHERE name = 'prune_at'").toArray();
    return Number(row?.['value']);
  });
const begin = (more: Parameters<typeof beginningOf>[2] = {}, id: string = crypto.randomUUID()) =>
  logOf(person).begin(beginningOf(person, id, more));
const refused = { outcome: 'denied', code: 'forbidden', detail: {} } as const;

/** Runs work while the database accepts no rows. */
async function withoutRows(work: () => Promise<void>) {
  await sql('ALTER TABLE audit_events RENAME TO away');
  try {
    await work();
  } finally {
    await sql('ALTER TABLE away RENAME TO audit_events');
  }
}

describe('an object of calls wakes', () => {
  it('[SEC-6] for the earliest of its reasons: a second after an end, 35 seconds after a beginning', async () => {
    const id = crypto.randomUUID();
    await begin({}, id);
    expect(await wakes()).toBe(35_000);
    pass(10_000);
    await begin();
    expect(await wakes()).toBe(25_000);
    await logOf(person).end([endOf(id)]);
    expect(await wakes()).toBe(1_000);
    pass(400);
    await begin({ refused });
    expect(await wakes()).toBe(600);
    await alarm();
    // One call has been open for 400 milliseconds.
    expect(await wakes()).toBe(34_600);
    await begin({ refused });
    expect(await wakes()).toBe(1_000);
  });

  it('[SEC-6] soon for a call beyond the limit', async () => {
    const limits = [{ name: '', perMinute: 6, burst: 1 }];
    await begin({ limits });
    expect(await wakes()).toBe(35_000);
    await begin({ limits });
    expect(await wakes()).toBe(1_000);
  });

  it('[SEC-6] again if its alarm is more than two seconds late, and so was lost', async () => {
    const ids = Array.from({ length: 3 }, () => crypto.randomUUID());
    for (const id of ids) await begin({}, id);
    await logOf(person).end([endOf(ids[0] ?? '')]);
    pass(3_000);
    await logOf(person).end([endOf(ids[1] ?? '')]);
    expect(await wakes()).toBe(-2_000);
    pass(1);
    await logOf(person).end([endOf(ids[2] ?? '')]);
    expect(await wakes()).toBe(1_000);
  });

  it('[SEC-6] after growing pauses if the database accepts nothing, and loses nothing', async () => {
    await begin({ refused });
    await withoutRows(async () => {
      for (const ms of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
        await alarm();
        expect(await wakes()).toBe(ms);
      }
      expect(await heldCalls(person)).toHaveLength(1);
    });
    await alarm();
    expect(await heldCalls(person)).toEqual([]);
    await begin({ refused });
    await withoutRows(async () => {
      await alarm();
      expect(await wakes()).toBe(2_000);
    });
  });

  it('[SEC-6] to prune old rows when it is told to, once, and a day later', async () => {
    // An object like that of the administrative changes, which none has woken.
    const admin = env.AUDIT_LOG.getByName('fresh');
    await admin.wake();
    const first = Date.now();
    expect(await prunesAt('fresh')).toBe(first);
    pass(5_000);
    await admin.wake();
    expect(await prunesAt('fresh')).toBe(first);
    await runDurableObjectAlarm(admin);
    expect(await prunesAt('fresh')).toBe(Date.now() + DAY_MS);
    pass(5_000);
    await admin.wake();
    expect(await prunesAt('fresh')).toBe(Date.now() - 5_000 + DAY_MS);
  });

  it('[SEC-6] again after its alarm was lost, once it is asked to settle, and has written all to the database', async () => {
    await begin();
    await begin({ refused });
    await runInDurableObject(logOf(person), (_log, { storage }) => storage.deleteAlarm());
    pass(35_000);
    await logOf(person).settle();
    expect(await heldCalls(person)).toEqual([]);
    expect(await wakes()).toBe(DAY_MS - 35_000);
    await begin();
    await withoutRows(async () => {
      await logOf(person).end([endOf(String((await heldCalls(person))[0]?.['id']))]);
      const settling = runInDurableObject(logOf(person), (log: AuditLog) =>
        log.settle().then(
          () => 'settled',
          () => 'failed',
        ),
      );
      expect(await settling).toBe('failed');
    });
  });

  it('[SEC-6] for another reason without pruning old rows', async () => {
    await begin({ refused });
    const at = await prunesAt();
    expect(at).toBe(Date.now() + DAY_MS);
    pass(1_000);
    await alarm();
    expect(await prunesAt()).toBe(at);
    pass(DAY_MS - 1_000);
    await withoutRows(async () => {
      await alarm();
      // A pruning that failed is retried soon.
      expect(await prunesAt()).toBe(Date.now() + 5_000);
    });
  });
});

describe('concurrent calls', () => {
  /** Begins calls at once, within the object. @returns the number of rows after each, before anything is awaited */
  const beginMany = (count: number, more: object = {}) =>
    runInDurableObject(logOf(person), async (log: AuditLog, { storage }) => {
      const rows: number[] = [];
      const admitted: Promise<unknown>[] = [];
      const timers = vi.spyOn(globalThis, 'setTimeout');
      const table = storage.sql;
      for (let i = 0; i < count; i += 1) {
        admitted.push(log.begin(beginningOf(person, crypto.randomUUID(), more)));
        rows.push(Number(table.exec('SELECT count(*) AS n FROM calls').one()['n']));
      }
      const waits = timers.mock.calls.filter(([, ms]) => ms === 0).length;
      timers.mockRestore();
      expect(await Promise.all(admitted)).toEqual(rows.map(() => ({})));
      const after = Number(table.exec('SELECT count(*) AS n FROM calls').one()['n']);
      return { rows, waits, after };
    });
  const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8];

  it('[SEC-6] are written one by one, and in batches once eight are open', async () => {
    const first = await beginMany(10);
    expect(first).toEqual({ rows: [...EIGHT, 8, 8], waits: 1, after: 10 });
    const open = await heldCalls(person);
    expect(open).toHaveLength(10);
    // Seven are left, so one more is written alone.
    await logOf(person).end(open.slice(0, 3).map(({ id }) => endOf(String(id))));
    expect((await beginMany(2)).rows).toEqual([11, 11]);
  });

  it('[SEC-6] that cannot be admitted are refused alone, also within a batch', async () => {
    const broken = { limits: undefined as never };
    const tries = () =>
      runInDurableObject(logOf(person), (log: AuditLog) =>
        Promise.allSettled(
          [{}, broken, {}].map(more => log.begin(beginningOf(person, crypto.randomUUID(), more))),
        ),
      );
    const expected = ['fulfilled', 'rejected', 'fulfilled'];
    expect((await tries()).map(({ status }) => status)).toEqual(expected);
    await beginMany(8);
    expect((await tries()).map(({ status }) => status)).toEqual(expected);
  });

  it('[SEC-6] count as open until they end or are forgotten, and not if they were never sent', async () => {
    expect((await beginMany(9, { refused })).waits).toBe(0);
    const limits = [{ name: '', perMinute: 60, burst: 60 }];
    for (let i = 0; i < 9; i += 1) {
      await logOf(person).lease(person.principalId, { id: `${i}`, limits, waiting: 1, ahead: 0 });
    }
    await alarm();
    expect(await beginMany(8)).toEqual({ rows: EIGHT, waits: 0, after: 8 });
    await alarm();
    expect((await beginMany(1)).waits).toBe(1);
    pass(35_000);
    await alarm();
    expect((await beginMany(1)).waits).toBe(0);
  });
});

describe('tokens of a principal', () => {
  const buckets = () =>
    runInDurableObject(logOf(person), (_log, { storage }) => [
      ...storage.sql.exec('SELECT name FROM buckets').raw(),
    ]);

  it('[ACC-6] are taken once for a call that its Worker repeats', async () => {
    const id = crypto.randomUUID();
    const limits = [{ name: '', perMinute: 6, burst: 2 }];
    expect(await begin({ limits }, id)).toEqual({});
    expect(await begin({ limits }, id)).toEqual({});
    expect(await begin({ limits })).toEqual({});
    expect(await begin({ limits })).toEqual({ retryAfterMs: 20_000 });
  });

  it('[ACC-6] are also taken without a call, and without a row', async () => {
    const limits = [{ name: '', perMinute: 6, burst: 1 }];
    const lease = (id: string) =>
      logOf(person).lease(person.principalId, { id, limits, waiting: 1, ahead: 0 });
    expect(await lease('a')).toMatchObject({ passed: 1 });
    expect(await lease('b')).toMatchObject({ passed: 0, retryAfterMs: 10_000 });
    expect(await heldCalls(person)).toEqual([]);
  });

  it('[ACC-6] are forgotten once the bucket is full again', async () => {
    await begin({ limits: [{ name: '', perMinute: 6, burst: 1 }] });
    pass(9_999);
    await alarm();
    expect(await buckets()).toHaveLength(1);
    pass(1);
    await alarm();
    expect(await buckets()).toEqual([]);
  });
});
