/** The object of a principal's calls: one end for each, whatever is lost on the way. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CallExport } from '../../../src/audit/calls/call-export.ts';
import { CallStore } from '../../../src/audit/calls/call-store.ts';
import { KeptChains } from '../../../src/audit/kept-chain-store.ts';
import {
  beginningOf,
  createPerson,
  endOf,
  heldCalls,
  logOf,
  rowsOf,
  startedOf,
  type Person,
} from '../support/call-rows.ts';
import { withValueLimit } from '../support/database.ts';
import { resultOf } from '../support/fake-server.ts';
import { call, connect, ERAS, portico } from '../support/live-calls.ts';
import { createPortico, type RpcAnswer } from '../support/portico.ts';

/** Ends the object suddenly; its storage stays. */
const abort = (person: Person) =>
  runInDurableObject(logOf(person), (_log, state) => state.abort('Instance disposed')).catch(
    () => undefined,
  );

/** Lets the leases of all open calls expire. */
const runOut = (person: Person) =>
  runInDurableObject(logOf(person), (_log, { storage }) => {
    storage.sql.exec('UPDATE calls SET lease_until = 0 WHERE outcome IS NULL');
  });

/** Records calls before they are sent. */
const recording = createPortico({ PORTICO_AUDIT_CALLS: 'before' });

describe('the object of calls', () => {
  it('[SEC-6] accepts one end for each call, the first', async () => {
    const person = await createPerson(portico);
    const log = logOf(person);
    const [a, b, c] = Array.from({ length: 3 }, () => crypto.randomUUID()) as [
      string,
      string,
      string,
    ];
    await log.begin(beginningOf(person, a));
    await log.begin(beginningOf(person, a));
    await log.begin(beginningOf(person, b, { ended: [endOf(a), endOf(a, 'failed')] }));
    await log.end([endOf(a, 'cancelled'), endOf('nobody')]);
    const refused = { outcome: 'denied', code: 'forbidden', detail: {} } as const;
    await log.begin(beginningOf(person, c, { refused }));
    await log.end([endOf(c), endOf(b, 'failed')]);
    const rows = await rowsOf(portico, person);
    const outcomes = new Map(rows.map(row => [row.id, row.outcome]));
    expect(outcomes).toEqual(
      new Map([
        [a, 'done'],
        [b, 'failed'],
        [c, 'denied'],
      ]),
    );
    expect(rows).toHaveLength(3);
    expect(await heldCalls(person)).toEqual([]);
  });

  it('[ACC-6] [SEC-6] refuses a repeated refusal again, and spends no second token for a repeated call', async () => {
    const person = await createPerson(portico);
    const limits = [{ name: '', perMinute: 1, burst: 1 }];
    const asked = async (id: string) =>
      'retryAfterMs' in (await logOf(person).begin(beginningOf(person, id, { limits })));
    const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
    const answers = [first, first, second, second];
    const refused: boolean[] = [];
    for (const id of answers) refused.push(await asked(id));
    expect(refused).toEqual([false, false, true, true]);
  });

  it('[SEC-6] closes a call whose lease expired, and later messages do not change that', async () => {
    const person = await createPerson(portico);
    const [left, alive] = [crypto.randomUUID(), crypto.randomUUID()];
    await logOf(person).begin(beginningOf(person, left));
    await runOut(person);
    await logOf(person).begin(beginningOf(person, alive));
    await logOf(person).renew(left);
    await runOut(person);
    await logOf(person).renew(alive);
    await runInDurableObject(logOf(person), (_log, { storage }) => {
      storage.sql.exec('UPDATE calls SET lease_until = 0 WHERE id = ?', left);
    });
    await runDurableObjectAlarm(logOf(person));
    await logOf(person).end([endOf(left)]);
    await logOf(person).renew(left);
    expect(await rowsOf(portico, person)).toMatchObject([
      { id: left, outcome: 'unknown', code: null },
    ]);
    expect(await heldCalls(person)).toMatchObject([{ id: alive, outcome: null }]);
  });

  it('[SEC-6] sets its alarm so that no row waits for long', async () => {
    const person = await createPerson(portico);
    // A day ahead, so that no alarm fires by itself before the test reads it.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    const alarmIn = () =>
      runInDurableObject(logOf(person), async (_log, { storage }) => {
        return ((await storage.getAlarm()) ?? Number.NaN) - Date.now();
      });
    const id = crypto.randomUUID();
    await logOf(person).begin(beginningOf(person, id));
    expect(await alarmIn()).toBeLessThanOrEqual(35_000);
    await evictDurableObject(logOf(person));
    await logOf(person).end([endOf(id)]);
    expect(await alarmIn()).toBeLessThanOrEqual(1_000);
    await abort(person);
    await logOf(person).begin(beginningOf(person, crypto.randomUUID()));
    expect(await alarmIn()).toBeLessThanOrEqual(1_000);
  });

  it('[SEC-6] repeats an export that was not confirmed, and loses nothing in between', async () => {
    const person = await createPerson(portico);
    const ids = Array.from({ length: 450 }, () => crypto.randomUUID());
    for (const id of ids) await logOf(person).begin(beginningOf(person, id));
    await logOf(person).end(ids.map(id => endOf(id)));
    const rows = await rowsOf(portico, person);
    expect(rows.map(({ seq }) => seq)).toEqual(ids.map((_, i) => i + 1));
    // As if the object had ended after the database got the rows, and before the confirmation.
    const last = rows.slice(-2);
    await runInDurableObject(logOf(person), (_log, { storage }) => {
      for (const { id, at, tokenId, action, subject, seq, previousHash, hash } of last) {
        storage.sql.exec(
          `INSERT INTO calls VALUES (?, ?, ?, ?, ?, '{"door":"modern"}', NULL, 'done', NULL, '{"duration_ms":1}', ?, ?, ?)`,
          id,
          at,
          tokenId,
          action,
          subject,
          seq,
          previousHash,
          hash,
        );
      }
    });
    await abort(person);
    const next = crypto.randomUUID();
    await logOf(person).begin(beginningOf(person, next, { refused: endOf(next) }));
    const again = await rowsOf(portico, person);
    expect(again.slice(0, -1)).toEqual(rows);
    expect(again.at(-1)).toMatchObject({ id: next, seq: 451 });
  });

  it('[SEC-6] exports calls that take more room in a write than they do here', async () => {
    const person = await createPerson(portico);
    // Each of these characters takes seven as JSON within JSON, and the database accepts 2 MB in one value.
    const given = Array<string>(6).fill('\u0001'.repeat(500));
    const detail = JSON.stringify({ door: 'modern', arguments: { given } });
    const ids = Array.from({ length: 200 }, () => crypto.randomUUID());
    for (const id of ids) {
      await logOf(person).begin(beginningOf(person, id, { call: { ...startedOf(id), detail } }));
    }
    await logOf(person).end(ids.map(id => endOf(id)));
    await runInDurableObject(logOf(person), async (_log, { storage: { sql } }) => {
      const parts = { calls: new CallStore(sql), chains: new KeptChains(sql) };
      await new CallExport({ db: withValueLimit(env.DB), ...parts }).run();
    });
    const rows = await rowsOf(portico, person);
    expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(rows[0]?.detail).toMatchObject({ arguments: { given } });
    expect(await heldCalls(person)).toEqual([]);
  });

  it.each(ERAS)(
    '[SEC-6] has the row of a call of a %s client before it is sent, and its end after the answer',
    async era => {
      const person = await createPerson(portico);
      const { name, server, id } = await connect(era, false, recording);
      let held: Record<string, unknown>[] = [];
      server.call = async received => {
        held = await heldCalls(person);
        return resultOf(received, { content: [] });
      };
      const { message, headers } = call(name, era, { arguments: { city: 'Graz' } });
      await recording.post(message, { headers, token: person.token });
      const [row, ...others] = await rowsOf(recording, person);
      expect(others).toEqual([]);
      const open = held.find(each => each['outcome'] === null);
      expect(open).toMatchObject({ action: 'tool.call', subject: `${name}.echo`, outcome: null });
      expect(row).toMatchObject({
        id: open?.['id'],
        principalId: person.principalId,
        action: 'tool.call',
        subject: `${name}.echo`,
        outcome: 'done',
        code: null,
        detail: {
          door: era,
          server: id,
          arguments: { city: 'Graz' },
          is_error: false,
          result_chars: expect.any(Number) as unknown,
          duration_ms: expect.any(Number) as unknown,
        },
      });
    },
  );

  it.each(ERAS)('[SEC-6] may be lost while a call of a %s client is running', async era => {
    for (const lose of [abort, (person: Person) => evictDurableObject(logOf(person))]) {
      const { name, server } = await connect(era, false, recording);
      const person = await createPerson(portico);
      server.call = async received => {
        await lose(person);
        return resultOf(received, { resultType: 'complete', content: [] });
      };
      const { message, headers } = call(name, era);
      const answer = await recording.post(message, { headers, token: person.token });
      expect((await answer.json<RpcAnswer>()).result).toMatchObject({ content: [] });
      expect(await rowsOf(recording, person)).toMatchObject([{ outcome: 'done' }]);
      expect(server.of('tools/call')).toHaveLength(1);
    }
  });
});
