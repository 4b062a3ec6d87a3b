/** The circuit breaker: when it opens, what it is tried with, and that no order of events brings it anywhere else. */
import { describe, expect, it } from 'vitest';
import {
  CLOSED,
  circuitStateOf,
  decideCircuit,
  retryDelayMs,
  type Circuit,
} from '../../../src/health/circuit.ts';
import { createRandom, SEED } from '../seeded.ts';

const at = (now: number, random = 0.999_999_9) => ({ limit: 5, now, random });
const calls = (failures: number) => ({ failures, isTrial: false });
const trial = (failures: 0 | 1) => ({ failures, isTrial: true });
const opened = decideCircuit(CLOSED, calls(5), at(1_000));

describe('a closed circuit', () => {
  it('[UP-5] opens at the fifth failure in a row, of calls and checks together', () => {
    let circuit = decideCircuit(CLOSED, calls(3), at(0));
    circuit = decideCircuit(circuit, trial(1), at(0));
    expect(circuit).toEqual({ failures: 4, opens: 0, retryAt: null });
    circuit = decideCircuit(circuit, calls(1), at(0));
    expect(circuit).toEqual({ failures: 5, opens: 1, retryAt: 1_000 });
  });

  it('[UP-5] begins to count anew when the server is heard', () => {
    const circuit = decideCircuit(decideCircuit(CLOSED, calls(4), at(0)), calls(0), at(0));
    expect(circuit).toEqual(CLOSED);
  });
});

describe('an open circuit', () => {
  it('[UP-5] is half-open at its time', () => {
    expect(opened.retryAt).toBe(2_000);
    expect(circuitStateOf(opened.retryAt, 1_999)).toBe('open');
    expect(circuitStateOf(opened.retryAt, 2_000)).toBe('half_open');
    expect(circuitStateOf(CLOSED.retryAt, 2_000)).toBe('closed');
  });

  it('[UP-5] takes no call for a trial, good or bad', () => {
    expect(decideCircuit(opened, calls(0), at(9_000))).toBe(opened);
    expect(decideCircuit(opened, calls(9), at(9_000))).toBe(opened);
  });

  it('[UP-5] closes with a good trial and opens for twice as long with a bad one, up to a minute', () => {
    expect(decideCircuit(opened, trial(0), at(2_000))).toEqual(CLOSED);
    expect(decideCircuit(opened, trial(1), at(1_500))).toBe(opened);
    let circuit = opened;
    const waits: number[] = [];
    for (let i = 0; i < 8; i += 1) {
      const now = circuit.retryAt ?? Number.NaN;
      circuit = decideCircuit(circuit, trial(1), at(now));
      waits.push((circuit.retryAt ?? Number.NaN) - now);
    }
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(decideCircuit(circuit, trial(0), at(0))).toEqual(CLOSED);
  });

  it('[UP-5] waits at least half of its time', () => {
    expect([retryDelayMs(1, 0), retryDelayMs(3, 0), retryDelayMs(1e9, 0)]).toEqual([
      500, 2_000, 30_000,
    ]);
  });
});

/** What an event did to a circuit that it may not do; nothing where all is well. */
function breachOf(
  before: Circuit,
  after: Circuit,
  {
    failures,
    isTrial,
    now,
    inRow,
    limit,
  }: ReturnType<typeof calls> & {
    now: number;
    inRow: number;
    limit: number;
  },
): string | undefined {
  const wait = after.retryAt === null ? 1_000 : after.retryAt - now;
  if (after !== before && (wait < 500 || wait > 60_000)) return `waits ${wait} ms`;
  if (before.retryAt === null) {
    return (after.retryAt !== null) === inRow >= limit
      ? undefined
      : `${inRow} failures of ${limit}`;
  }
  if (after === before) return undefined;
  if (!isTrial) return 'a call changed it';
  if (after.retryAt === null) return failures === 0 ? undefined : 'closed by a failure';
  return failures > 0 && now >= before.retryAt ? undefined : 'opened again before its time';
}

it(`[UP-5] whatever happens, opens only by failures in a row and closes only by a good trial (seed ${SEED})`, () => {
  const random = createRandom();
  const breaches: string[] = [];
  let openings = 0;
  let closings = 0;
  for (let round = 0; round < 500; round += 1) {
    const limit = 1 + random.below(8);
    let circuit: Circuit = CLOSED;
    let now = 0;
    let inRow = 0;
    for (let step = 0; step < 100; step += 1) {
      now += random.below(3_000);
      const event = {
        failures: random.chance(0.4) ? 0 : 1 + random.below(3),
        isTrial: random.chance(0.5),
      };
      const before = circuit;
      circuit = decideCircuit(before, event, { limit, now, random: random.next() });
      inRow = before.retryAt !== null || event.failures === 0 ? 0 : inRow + event.failures;
      const breach = breachOf(before, circuit, { ...event, now, inRow, limit });
      if (breach !== undefined) breaches.push(breach);
      if (before.retryAt === null && circuit.retryAt !== null) openings += 1;
      if (before.retryAt !== null && circuit.retryAt === null) closings += 1;
    }
  }
  expect(breaches).toEqual([]);
  expect(Math.min(openings, closings)).toBeGreaterThan(500);
});
