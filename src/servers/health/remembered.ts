/** What a monitor remembers of its server's health, and when that is worth a write. Pure. */
import { CLOSED, type Circuit } from './circuit.ts';
import type { CheckWay, FindingKind } from './finding.ts';
import type { MissedLists } from './lists.ts';

/** What was found is written again after this time, though it says the same as before, in milliseconds. */
export const REPEAT_MS = 900_000;
/** Up to here failures in a row are written one by one. */
const MAX_COUNTED = 10;

/** As it is stored, under one key. */
export interface Remembered {
  /** The server's generation all of this is about. */
  generation: number;
  checkedAt: number | null;
  kind: FindingKind | null;
  /** Absent where it was stored before there was one. */
  way?: CheckWay;
  reason: string | null;
  responseTimeMs: number | null;
  /** Failed checks in a row. */
  failures: number;
  /** Time of the last good message, whoever exchanged it. */
  lastGoodAt: number | null;
  /** What the last look left out. */
  warning: string | null;
  /** Lists that the last look could not read; absent as null, where it was stored before there were any. */
  missedLists?: MissedLists | null;
  circuit: Circuit;
  /** When anything happened at the server last: it was found otherwise, offered something else, or failed a call. */
  eventAt?: number;
  /** Calls and failed ones since the server was registered. */
  callsTotal: number;
  errorsTotal: number;
}

/** What is remembered when the server is reached otherwise. */
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

/** Counts that only grow further say nothing new. */
export const isSameCount = (a: number, b: number): boolean =>
  Math.min(a, MAX_COUNTED) === Math.min(b, MAX_COUNTED);

/** Whether what is remembered says the same, but for when and how fast. */
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
