/** What a monitor remembers about its server's health, and which changes justify a write. Pure. */
import { CLOSED, type Circuit } from './circuit.ts';
import type { CheckWay, FindingKind } from './finding.ts';
import type { MissedLists } from './lists.ts';

/** An unchanged result is written again after this time, in milliseconds. */
export const REPEAT_MS = 900_000;
/** A count of failures in a row is written one by one up to this number. */
const MAX_COUNTED = 10;

/** The stored form, under one key. */
export interface Remembered {
  /** Generation of the server to which all of this belongs. */
  generation: number;
  checkedAt: number | null;
  kind: FindingKind | null;
  /** Absent in values stored by older versions. */
  way?: CheckWay;
  reason: string | null;
  responseTimeMs: number | null;
  /** Failed checks in a row. */
  failures: number;
  /** Time of the last good message, whether a call or the monitor exchanged it. */
  lastGoodAt: number | null;
  /** What the last discovery left out. */
  warning: string | null;
  /** Lists that the last discovery could not read; absent in values stored by older versions, which means null. */
  missedLists?: MissedLists | null;
  circuit: Circuit;
  /** When anything last happened at the server: a different finding, a different catalog, or a failed call. */
  eventAt?: number;
  /** Calls and failed calls since the server was registered. */
  callsTotal: number;
  errorsTotal: number;
}

/** The initial value after the connection to the server changed. */
export const begun = (generation: number, before?: Remembered): Remembered => ({
  generation,
  checkedAt: null,
  kind: null,
  reason: null,
  responseTimeMs: null,
  failures: 0,
  lastGoodAt: null,
  warning: null,
  missedLists: null,
  circuit: CLOSED,
  callsTotal: before?.callsTotal ?? 0,
  errorsTotal: before?.errorsTotal ?? 0,
});

const isSameCircuit = (a: Circuit, b: Circuit) =>
  a.failures === b.failures && a.retryAt === b.retryAt && a.openedAt === b.openedAt;

/** Whether two counts say the same: beyond `MAX_COUNTED` they do. */
export const isSameCount = (a: number, b: number): boolean =>
  Math.min(a, MAX_COUNTED) === Math.min(b, MAX_COUNTED);

/** Whether two values say the same, apart from times and latency. */
export function isAlike(a: Remembered, b: Remembered): boolean {
  const [missed, others] = [a.missedLists ?? null, b.missedLists ?? null];
  return (
    a.generation === b.generation &&
    a.kind === b.kind &&
    a.way === b.way &&
    a.reason === b.reason &&
    a.warning === b.warning &&
    a.eventAt === b.eventAt &&
    isSameCount(a.failures, b.failures) &&
    missed?.detail === others?.detail &&
    isSameCount(missed?.times ?? 0, others?.times ?? 0) &&
    isSameCircuit(a.circuit, b.circuit)
  );
}
