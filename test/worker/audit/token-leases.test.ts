/**
 * Leases of tokens at the real object: drawn once per request, returned once, from the same bucket as calls that are recorded before they
 * are sent.
 */
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LeasedLimits } from '../../../src/gateway/call-log/leased-limits.ts';
import { HOLD_MS } from '../../../src/audit/limits/token-lease.ts';
import { beginningOf, createPerson, logOf, type Person } from '../support/call-rows.ts';
import { createPortico } from '../support/portico.ts';

const portico = createPortico();
const limits = [{ name: '', perMinute: 100, burst: 100 }];
let person: Person;

beforeEach(async () => {
  person = await createPerson(portico);
  // Nothing is refilled meanwhile, however long it takes.
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);
const lease = (id: string, waiting: number, ahead = 0) =>
  logOf(person).lease(person.principalId, { id, limits, waiting, ahead });
const tokens = () =>
  runInDurableObject(logOf(person), (_log, { storage }) => {
    const [row] = storage.sql.exec('SELECT tokens FROM buckets').toArray();
    return row?.['tokens'];
  });

describe('a lease', () => {
  it('[ACC-6] is drawn once for a repeated request, and returned once', async () => {
    const first = await lease('a', 4, 50);
    expect(first).toEqual({ passed: 4, spare: 12, lastsMs: HOLD_MS });
    pass(1_000);
    expect(await lease('a', 4, 50)).toEqual({ passed: 4, spare: 12, lastsMs: HOLD_MS - 1_000 });
    expect(await tokens()).toBe(84);
    await logOf(person).giveBack('a', 10);
    await logOf(person).giveBack('a', 10);
    await logOf(person).giveBack('unknown', 10);
    expect(await tokens()).toBe(94);
  });

  it('[ACC-6] returns no more than it had, and nothing once its step is over', async () => {
    await lease('a', 1, 5);
    await logOf(person).giveBack('a', 1_000);
    expect(await tokens()).toBe(99);
    pass(59_000);
    expect(await lease('b', 1, 5)).toMatchObject({ spare: 5, lastsMs: 1_000 });
    pass(1_000);
    await lease('c', 1);
    await logOf(person).giveBack('b', 5);
    expect(await tokens()).toBe(99);
  });

  it('[ACC-6] uses the bucket of recorded calls, also when the object loses its memory', async () => {
    expect(await lease('a', 90)).toMatchObject({ passed: 90 });
    await evictDurableObject(logOf(person));
    const begin = () => logOf(person).begin(beginningOf(person, crypto.randomUUID(), { limits }));
    for (let n = 0; n < 10; n += 1) expect(await begin()).toEqual({});
    expect(await begin()).toEqual({ retryAfterMs: 60_000 });
    expect(await lease('b', 3, 5)).toMatchObject({ passed: 0, spare: 0, retryAfterMs: 60_000 });
  });

  it('[ACC-6] [EDGE-3] of eight isolates lets exactly 100 of 1,000 calls at once pass', async () => {
    const ports = {
      shardOf: () => logOf(person),
      wait: (ms: number) => scheduler.wait(ms),
      now: () => Date.now(),
    };
    const isolates = Array.from({ length: 8 }, () => new LeasedLimits(ports));
    const came = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) =>
        isolates[n % 8]?.take(person.principalId, limits, () => {}),
      ),
    );
    expect(came.filter(each => each === undefined)).toHaveLength(100);
    expect(new Set(came)).toEqual(new Set([undefined, 60_000]));
  });
});
