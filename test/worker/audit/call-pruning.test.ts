/** When the object of a principal's calls prunes old rows, and when it wakes for other reasons. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { beginningOf, createPerson, endOf, logOf, type Person } from '../support/call-rows.ts';
import { createPortico } from '../support/portico.ts';

const DAY_MS = 86_400_000;
const portico = createPortico();

// A day ahead, so that no alarm fires by itself before the test reads it.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY_MS }));
afterEach(() => void vi.useRealTimers());

/** When the object wakes and when it prunes old rows, in milliseconds from now. */
const timesOf = (person: Person) =>
  runInDurableObject(logOf(person), async (_log, { storage }) => {
    const [row] = storage.sql.exec("SELECT value FROM facts WHERE name = 'prune_at'").toArray();
    const alarm = await storage.getAlarm();
    return { wakes: Number(alarm) - Date.now(), prunes: Number(row?.['value']) - Date.now() };
  });

it('[SEC-6] old rows are pruned a day after the first call, and each day from then on', async () => {
  const person = await createPerson(portico);
  const id = crypto.randomUUID();
  await logOf(person).begin(beginningOf(person, id, { refused: endOf(id) }));
  expect((await timesOf(person)).prunes).toBe(DAY_MS);
  vi.setSystemTime(Date.now() + 5_000);
  await logOf(person).begin(beginningOf(person, crypto.randomUUID()));
  expect((await timesOf(person)).prunes).toBe(DAY_MS - 5_000);
  vi.setSystemTime(Date.now() + DAY_MS - 5_000);
  await runDurableObjectAlarm(logOf(person));
  // The earlier call was forgotten meanwhile, and nothing else is open.
  expect(await timesOf(person)).toEqual({ wakes: DAY_MS, prunes: DAY_MS });
});

it('[SEC-6] an object wakes for a call without an end, and soon for one that has ended', async () => {
  const person = await createPerson(portico);
  const [open, over] = [crypto.randomUUID(), crypto.randomUUID()];
  await logOf(person).begin(beginningOf(person, open));
  expect((await timesOf(person)).wakes).toBe(35_000);
  await logOf(person).end([endOf(crypto.randomUUID())]);
  expect((await timesOf(person)).wakes).toBe(35_000);
  await logOf(person).begin(beginningOf(person, over, { ended: [endOf(open)] }));
  expect((await timesOf(person)).wakes).toBeLessThanOrEqual(1_000);
});

it('[ACC-6] [SEC-6] a call beyond the limit gets the time to wait, and has its row', async () => {
  const person = await createPerson(portico);
  const limits = [{ name: '', perMinute: 6, burst: 1 }];
  const begin = () => logOf(person).begin(beginningOf(person, crypto.randomUUID(), { limits }));
  expect(await begin()).toEqual({});
  expect(await begin()).toEqual({ retryAfterMs: 10_000 });
  vi.setSystemTime(Date.now() + 4_000);
  expect(await begin()).toEqual({ retryAfterMs: 6_000 });
  const outcomes = await runInDurableObject(logOf(person), (_log, { storage }) => [
    ...storage.sql.exec('SELECT outcome, code FROM calls').raw(),
  ]);
  expect(outcomes.toSorted()).toEqual([
    [null, null],
    ['denied', 'rate_limited'],
    ['denied', 'rate_limited'],
  ]);
});
