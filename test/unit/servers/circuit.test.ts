/** The circuit breaker: when it opens, when it is tried, and that its rules hold for any order of events. */
import { describe, expect, it } from 'vitest';
import {
  CLOSED,
  circuitStateOf,
  decideCircuit,
  isSoon,
  retryDelayMs,
  wantTrial,
  type Circuit,
} from '../../../src/servers/health/circuit.ts';
import { createRandom, SEED } from '../seeded.ts';

const at = (now: number, random = 0.999_999_9) => ({ limit: 5, now, random });
const calls = (failures: number) => ({ failures, isTrial: false });
const goodAt = (lastGoodAt: number | null) => ({ failures: 0, isTrial: false, lastGoodAt });
const trial = (failures: 0 | 1) => ({ failures, isTrial: true });
const opened = decideCircuit(CLOSED, calls(5), at(1_000));

describe('a closed circuit', () => {
  it('[UP-5] opens at the fifth failure in a row, of calls and checks together', () => {
    let circuit = decideCircuit(CLOSED, calls(3), at(0));
    circuit = decideCircuit(circuit, trial(1), at(0));
    expect(circuit).toEqual({ ...CLOSED, failures: 4 });
    circuit = decideCircuit(circuit, calls(1), at(70));
    expect(circuit).toEqual({ failures: 5, openedAt: 70, wantedAt: 70, retryAt: 870 });
  });

  it('[UP-5] resets its count when the server answers', () => {
    const circuit = decideCircuit(decideCircuit(CLOSED, calls(4), at(0)), calls(0), at(0));
    expect(circuit).toEqual(CLOSED);
  });
});

describe('an open circuit', () => {
  it('[UP-5] is half-open from its retry time on', () => {
    expect(opened.retryAt).toBe(1_800);
    expect(circuitStateOf(opened.retryAt, 1_799)).toBe('open');
    expect(circuitStateOf(opened.retryAt, 1_800)).toBe('half_open');
    expect(circuitStateOf(CLOSED.retryAt, 2_000)).toBe('closed');
  });

  it('[UP-5] does not count a failed call as a trial', () => {
    expect(decideCircuit(opened, calls(9), at(9_000))).toBe(opened);
  });

  it('[UP-5] closes with a call that was answered since it opened, and not with an earlier one', () => {
    expect(decideCircuit(opened, goodAt(1_001), at(1_002))).toEqual(CLOSED);
    for (const before of [goodAt(1_000), goodAt(400), goodAt(null), calls(0)])
      expect(decideCircuit(opened, before, at(9_000))).toBe(opened);
  });

  it('[UP-5] closes with a good trial; after a bad one it is retried within a second for a minute and a half, then more rarely', () => {
    expect(decideCircuit(opened, trial(0), at(1_800))).toEqual(CLOSED);
    expect(decideCircuit(opened, trial(1), at(1_500))).toBe(opened);
    const waitAfter = (ms: number) => {
      const now = opened.openedAt + ms;
      return (decideCircuit(opened, trial(1), at(now)).retryAt ?? Number.NaN) - now;
    };
    const minute = 60_000;
    const waits = [1_000, minute, 2 * minute, 10 * minute, 120 * minute, 1e12].map(waitAfter);
    expect(waits).toEqual([800, 800, 1_000, 5_000, minute, 5 * minute]);
  });

  it('[UP-5] is tried soon, and at its first pace again, when a call wants the server', () => {
    const hour = 3_600_000;
    const rare = decideCircuit(opened, trial(1), at(hour));
    expect(rare.retryAt).toBeGreaterThan(hour + 29_000);
    const wanted = wantTrial(rare, hour + 5, 0.999_999_9);
    expect(wanted).toEqual({ ...rare, wantedAt: hour + 5, retryAt: hour + 805 });
    expect(wantTrial(wanted, hour + 100, 0.999_999_9).retryAt).toBe(hour + 805);
    expect(decideCircuit(wanted, trial(1), at(hour + 805)).retryAt).toBe(hour + 1_605);
    expect(wantTrial(CLOSED, hour, 0)).toBe(CLOSED);
    expect([isSoon(2_000, 1_000), isSoon(0, 1_000), isSoon(2_001, 1_000)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('[UP-5] waits at least half of its interval', () => {
    expect([retryDelayMs(0, 0), retryDelayMs(600_000, 0), retryDelayMs(1e12, 0)]).toEqual([
      400, 2_500, 150_000,
    ]);
  });
});

/** The rule that an event broke for a circuit; undefined if none. */
function breachOf(
  before: Circuit,
  after: Circuit,
  {
    failures,
    isTrial,
    now,
    lastGoodAt,
    inRow,
    limit,
  }: ReturnType<typeof calls> & {
    lastGoodAt: number;
    now: number;
    inRow: number;
    limit: number;
  },
): string | undefined {
  const wait = after.retryAt === null ? 400 : after.retryAt - now;
  if (after !== before && (wait < 400 || wait > 300_000)) return `waits ${wait} ms`;
  if (before.retryAt === null) {
    return (after.retryAt !== null) === inRow >= limit
      ? undefined
      : `${inRow} failures of ${limit}`;
  }
  if (after === before) return undefined;
  if (!isTrial) {
    const isLate = failures === 0 && lastGoodAt > before.openedAt;
    return isLate && after.retryAt === null ? undefined : 'a call changed it';
  }
  if (after.retryAt === null) return failures === 0 ? undefined : 'closed by a failure';
  return failures > 0 && now >= before.retryAt ? undefined : 'opened again before its time';
}

it(`[UP-5] for any events, opens only by failures in a row and closes only by a good message (seed ${SEED})`, () => {
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
        lastGoodAt: now - random.below(6_000),
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
