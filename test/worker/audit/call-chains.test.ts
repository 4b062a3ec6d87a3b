/** Chains of calls in the database show every change, also a complete rewrite; and old rows are pruned. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import {
  chain,
  GENESIS,
  type ChainedEvent,
  type ChainHead,
} from '../../../src/audit/audit-schema.ts';
import { insertMissing, listChain } from '../../../src/audit/audit-store.ts';
import {
  beginningOf,
  createPerson,
  endOf,
  logOf,
  rowsOf,
  startedOf,
  type Person,
} from '../support/call-rows.ts';
import { createPortico, SERVERS } from '../support/portico.ts';

const portico = createPortico();
const DAY_MS = 86_400_000;

describe('a verification of the chain of calls', () => {
  let person: Person;
  let rows: ChainedEvent[];
  const verify = async (query = '') => {
    const path = `/api/v1/audit/verify?shard=${encodeURIComponent(person.shard)}${query}`;
    return (await portico.api('GET', path)).json<Record<string, unknown>>();
  };
  const sql = (text: string, ...values: unknown[]) =>
    env.DB.prepare(text)
      .bind(...values)
      .run();

  beforeAll(async () => {
    person = await createPerson(portico);
    const ids = Array.from({ length: 12 }, () => crypto.randomUUID());
    for (const id of ids)
      await logOf(person).begin(beginningOf(person, id, { refused: endOf(id) }));
    rows = await rowsOf(portico, person);
  });

  /** Replaces all rows by forged ones. */
  async function rewrite(change: (row: ChainedEvent) => Partial<ChainedEvent>) {
    let head: ChainHead = GENESIS;
    const forged: ChainedEvent[] = [];
    for (const row of rows) {
      const next = await chain(person.shard, head, { ...row, ...change(row) });
      forged.push(next);
      head = next;
    }
    await sql('DELETE FROM audit_events WHERE shard = ?', person.shard);
    await env.DB.batch([insertMissing(env.DB, forged)]);
  }

  it('[SEC-6] finds it intact, and shows its name', async () => {
    expect(rows).toHaveLength(12);
    expect(await verify()).toMatchObject({ is_intact: true, rows: 12, pruned_to: 0 });
    const { shards } = await (
      await portico.api('GET', '/api/v1/audit/shards')
    ).json<{
      shards: { shard: string; head: ChainHead }[];
    }>();
    const { seq, hash } = rows.at(-1) ?? GENESIS;
    expect(shards).toContainEqual({ shard: person.shard, head: { seq, hash }, pruned_to: 0 });
  });

  it.each<[string, number, () => Promise<unknown>]>([
    [
      'an edited row',
      5,
      () => sql("UPDATE audit_events SET subject = 'x' WHERE shard = ? AND seq = 5", person.shard),
    ],
    [
      'a deleted row',
      5,
      () => sql('DELETE FROM audit_events WHERE shard = ? AND seq = 5', person.shard),
    ],
    [
      'a deleted end',
      11,
      async () => {
        await sql('DELETE FROM audit_events WHERE shard = ? AND seq > 10', person.shard);
        await sql(
          'UPDATE audit_heads SET seq = 10, hash = ? WHERE shard = ?',
          rows[9]?.hash,
          person.shard,
        );
      },
    ],
    [
      'a deleted beginning that is told to be old',
      1,
      async () => {
        await sql('DELETE FROM audit_events WHERE shard = ? AND seq < 4', person.shard);
        await sql(
          'UPDATE audit_heads SET pruned_seq = 3, pruned_hash = ? WHERE shard = ?',
          rows[2]?.hash,
          person.shard,
        );
      },
    ],
    [
      'a chain rewritten whole',
      12,
      () => rewrite(({ seq }) => (seq === 3 ? { subject: 'a.other' } : {})),
    ],
    [
      'a row more than there were',
      13,
      async () => {
        const event = { ...(rows[0] as ChainedEvent), id: crypto.randomUUID() };
        await env.DB.batch([
          insertMissing(env.DB, [await chain(person.shard, rows[11] as ChainedEvent, event)]),
        ]);
      },
    ],
    [
      'no row at all',
      1,
      async () => {
        await sql('DELETE FROM audit_events WHERE shard = ?', person.shard);
        await sql('DELETE FROM audit_heads WHERE shard = ?', person.shard);
      },
    ],
  ])('[SEC-6] shows %s', async (_, firstBroken, change) => {
    try {
      await change();
      expect(await verify()).toMatchObject({ is_intact: false, first_broken_seq: firstBroken });
    } finally {
      await sql('DELETE FROM audit_events WHERE shard = ?', person.shard);
      await sql('DELETE FROM audit_heads WHERE shard = ?', person.shard);
      await env.DB.batch([insertMissing(env.DB, rows)]);
    }
    expect(await verify()).toMatchObject({ is_intact: true, rows: 12 });
  });
});

describe('a lost alarm', () => {
  it('[SEC-6] keeps no rows from the database once another call ends', async () => {
    const person = await createPerson(portico);
    const make = async () => {
      const id = crypto.randomUUID();
      await logOf(person).begin(beginningOf(person, id));
      await logOf(person).end([endOf(id)]);
    };
    await make();
    await runInDurableObject(logOf(person), (_log, { storage }) => storage.deleteAlarm());
    // The disk stays full past the time of the alarm.
    await scheduler.wait(4_000);
    expect(await listChain(env.DB, person.shard, 1, 10)).toHaveLength(0);
    await make();
    await vi.waitFor(
      async () => expect(await listChain(env.DB, person.shard, 1, 10)).toHaveLength(2),
      { timeout: 30_000 },
    );
  });

  it('[SEC-6] keeps none once its object is asked, which sets an alarm for open calls again', async () => {
    const person = await createPerson(portico);
    const [ended, open] = [crypto.randomUUID(), crypto.randomUUID()];
    for (const id of [ended, open]) await logOf(person).begin(beginningOf(person, id));
    await logOf(person).end([endOf(ended)]);
    const alarmOf = () =>
      runInDurableObject(logOf(person), (_log, { storage }) => storage.getAlarm());
    await runInDurableObject(logOf(person), (_log, { storage }) => storage.deleteAlarm());
    await scheduler.wait(4_000);
    await logOf(person).settle();
    expect(await listChain(env.DB, person.shard, 1, 10)).toMatchObject([{ id: ended }]);
    expect(await alarmOf()).toBeGreaterThan(Date.now());
  });
});

describe('old rows', () => {
  const prunedBy = async (name: string) => {
    await runInDurableObject(env.AUDIT_LOG.getByName(name), async (_log, { storage }) => {
      storage.sql.exec("INSERT OR REPLACE INTO facts VALUES ('prune_at', '0')");
      await storage.setAlarm(Date.now() + DAY_MS);
    });
    await runDurableObjectAlarm(env.AUDIT_LOG.getByName(name));
  };
  const adminAudit = async () => {
    const found = await portico.api('GET', '/api/v1/audit?action=audit.prune&limit=500');
    return (await found.json<{ events: { subject: string; detail: object }[] }>()).events;
  };

  it('[SEC-6] of calls are deleted after their retention, with a row that says so, and the rest is verified', async () => {
    const person = await createPerson(portico);
    const now = Date.now();
    for (const at of [now - 400 * DAY_MS, now - 366 * DAY_MS, now - 364 * DAY_MS, now]) {
      const id = crypto.randomUUID();
      const old = { call: startedOf(id, at), refused: endOf(id) };
      await logOf(person).begin(beginningOf(person, id, old));
    }
    const rows = await rowsOf(portico, person);
    expect(rows).toHaveLength(4);
    await prunedBy(person.shard);
    expect((await listChain(env.DB, person.shard, 1, 10)).map(({ seq }) => seq)).toEqual([3, 4]);
    const { hash } = rows[1] ?? GENESIS;
    expect(await adminAudit()).toMatchObject([
      { subject: person.shard, detail: { rows: 2, up_to: 2, hash } },
    ]);
    const path = `/api/v1/audit/verify?shard=${encodeURIComponent(person.shard)}`;
    const found = await (await portico.api('GET', path)).json();
    expect(found).toMatchObject({ is_intact: true, rows: 2, pruned_to: 2 });
    await prunedBy(person.shard);
    expect(await adminAudit()).toHaveLength(1);
  });

  it('[SEC-6] of administrative changes are deleted too, and their chain stays intact', async () => {
    await portico.api('DELETE', `${SERVERS}/nowhere`);
    const old = Date.now() - 400 * DAY_MS;
    const rows = await listChain(env.DB, 'admin', 1, 10_000);
    // The chain as if its first rows had been written long ago.
    let head: ChainHead = GENESIS;
    const aged: ChainedEvent[] = [];
    for (const row of rows) {
      const next = await chain('admin', head, row.seq <= 3 ? { ...row, at: old } : row);
      aged.push(next);
      head = next;
    }
    await env.DB.batch([
      env.DB.prepare("DELETE FROM audit_events WHERE shard = 'admin'"),
      insertMissing(env.DB, aged),
    ]);
    await prunedBy('admin');
    const verified = await (await portico.api('GET', '/api/v1/audit/verify')).json();
    expect(verified).toMatchObject({ is_intact: true, rows: rows.length - 3 + 1, pruned_to: 3 });
  });
});
