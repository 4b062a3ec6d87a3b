/** Single flight: which call leads, which wait, and that none waits for ever. Uses fake time. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Taken } from '../../../src/gateway/cache/cache-port.ts';
import {
  CLAIM_MS,
  SingleFlight,
  LEASE_MS,
  MAX_IN_FLIGHT,
  MAX_WAITERS,
} from '../../../src/gateway/cache/single-flight.ts';
import { createRandom, SEED } from '../seeded.ts';

const WAIT_MS = 30_000;
const ENTRY = { sealed: 'sealed', madeAt: 0 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const create = () =>
  new SingleFlight({
    now: () => Date.now(),
    after: (ms, run) => setTimeout(run, ms),
    cancel: timer => clearTimeout(timer as ReturnType<typeof setTimeout>),
  });

/** Joins, and notes the outcome. */
function createStand() {
  const flights = create();
  const told = new Map<string, Taken>();
  const join = (id: string, waitMs = WAIT_MS) => {
    void Promise.resolve(flights.join('k', id, waitMs)).then(taken => told.set(id, taken));
  };
  /** Lets everything happen that is due. */
  const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
  const kindOf = (id: string) => told.get(id)?.kind;
  return { flights, told, join, settle, kindOf };
}

it('[LLM-5] the first leads, the others get its result', async () => {
  const { flights, told, join, settle } = createStand();
  for (const id of ['a', 'b', 'c']) join(id);
  await settle();
  expect([...told]).toEqual([['a', { kind: 'lead', mustClaim: false }]]);
  flights.land('k', 'a', ENTRY);
  await settle();
  expect(told.get('b')).toEqual({ kind: 'entry', entry: ENTRY });
  expect(told.get('c')).toEqual({ kind: 'entry', entry: ENTRY });
  join('d');
  await settle();
  expect(told.get('d')).toEqual({ kind: 'lead', mustClaim: false });
  expect(vi.getTimerCount()).toBe(0);
});

it('[LLM-5] a result that cannot be shared lets all waiting calls go', async () => {
  const { flights, join, settle, kindOf } = createStand();
  for (const id of ['a', 'b', 'c']) join(id);
  flights.land('k', 'a', undefined);
  await settle();
  expect(['a', 'b', 'c'].map(kindOf)).toEqual(['lead', 'alone', 'alone']);
});

it('[LLM-5] when the leader leaves the next leads, and a waiting call that leaves has no effect', async () => {
  const { flights, told, join, settle, kindOf } = createStand();
  for (const id of ['a', 'b', 'c', 'd']) join(id);
  flights.leave('k', 'c');
  flights.leave('k', 'a');
  await settle();
  expect(['b', 'c', 'd'].map(kindOf)).toEqual(['lead', 'alone', undefined]);
  expect(told.get('b')).toEqual({ kind: 'lead', mustClaim: true });
  // Messages of a former leader have no effect.
  flights.land('k', 'a', undefined);
  flights.renew('k', 'a');
  await settle();
  expect(kindOf('d')).toBeUndefined();
  flights.land('k', 'b', ENTRY);
  await settle();
  expect(kindOf('d')).toBe('entry');
});

it('[LLM-5] a leader that stops renewing is replaced, a live one is not', async () => {
  const { flights, join, settle, kindOf } = createStand();
  join('a');
  join('b', 10 * LEASE_MS);
  join('c', 10 * LEASE_MS);
  for (let at = 0; at < 5; at += 1) {
    await settle(LEASE_MS - 1);
    flights.renew('k', 'a');
  }
  expect(kindOf('b')).toBeUndefined();
  await settle(LEASE_MS);
  expect(kindOf('b')).toBe('lead');
  // It left while it waited, so it does not claim its turn.
  await settle(CLAIM_MS);
  expect(kindOf('c')).toBe('lead');
});

it('[LLM-5] a flight with a lost leader and no waiting call starts again', async () => {
  const { join, settle, kindOf } = createStand();
  join('a');
  await settle(LEASE_MS);
  join('b');
  await settle();
  expect(kindOf('b')).toBe('lead');
});

it('[LLM-5] a call waits for a bounded time, and a bounded number wait', async () => {
  const { flights, join, settle, kindOf } = createStand();
  join('a');
  for (let at = 0; at < MAX_WAITERS; at += 1) join(`w${at}`, 500);
  join('late');
  await settle();
  expect(kindOf('late')).toBe('alone');
  await settle(500);
  expect(kindOf('w0')).toBe('alone');
  expect(kindOf(`w${MAX_WAITERS - 1}`)).toBe('alone');
  flights.land('k', 'a', ENTRY);
  expect(vi.getTimerCount()).toBe(0);
});

it('[LLM-5] flights with lost leaders do not take room for ever', async () => {
  const { flights, settle } = createStand();
  for (let at = 0; at < MAX_IN_FLIGHT; at += 1) void flights.join(`key ${at}`, 'a', WAIT_MS);
  expect(flights.join('one more', 'a', WAIT_MS)).toEqual({ kind: 'alone' });
  flights.renew('key 0', 'a');
  await settle(LEASE_MS - 1);
  flights.renew('key 0', 'a');
  await settle(1);
  expect(flights.join('one more', 'a', WAIT_MS)).toMatchObject({ kind: 'lead' });
  expect(flights.join('key 0', 'b', WAIT_MS)).toBeInstanceOf(Promise);
});

it(`[LLM-5] for any order of events one call leads at a time and every call is answered (seed ${SEED})`, async () => {
  const random = createRandom();
  for (let round = 0; round < 200; round += 1) {
    const { flights, told, join, settle, kindOf } = createStand();
    const ids = Array.from({ length: 1 + random.below(12) }, (_, at) => `${round}-${at}`);
    const gone = new Set<string>();
    for (const id of ids) {
      join(id);
      if (random.chance(0.3)) await settle(random.below(CLAIM_MS));
      const leading = ids.filter(each => kindOf(each) === 'lead' && !gone.has(each));
      if (random.chance(0.3)) flights.leave('k', random.pick(ids));
      const leader = leading.at(-1);
      if (leader !== undefined && random.chance(0.3)) {
        flights.land('k', leader, random.chance(0.5) ? ENTRY : undefined);
        gone.add(leader);
      }
    }
    await settle(WAIT_MS + ids.length * LEASE_MS);
    expect([...told.keys()].toSorted()).toEqual(ids.toSorted());
    expect(vi.getTimerCount()).toBe(0);
  }
});
