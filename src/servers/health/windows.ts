/** Calls of the last minutes: slots of ten seconds, and what a number of them add up to. Pure. */
import { addHistograms, NO_LATENCIES, quantile, type CallSums } from './call-report.ts';

export const SLOT_MS = 10_000;
/** Slots that are kept, as the longest window needs them. */
export const KEPT_MS = 3_600_000;
/** What errors are judged by. */
export const JUDGED_MS = 300_000;
/** With fewer calls in it nothing is judged. */
const MIN_CALLS = 10;

export const NO_CALLS: CallSums = {
  calls: 0,
  errors: 0,
  totalMs: 0,
  latencies: NO_LATENCIES,
  reasons: {},
};

export function addSums(a: CallSums, b: CallSums): CallSums {
  const reasons: Record<string, number> = { ...a.reasons };
  for (const [code, count] of Object.entries(b.reasons)) {
    reasons[code] = (reasons[code] ?? 0) + count;
  }
  return {
    calls: a.calls + b.calls,
    errors: a.errors + b.errors,
    totalMs: a.totalMs + b.totalMs,
    latencies: addHistograms(a.latencies, b.latencies),
    reasons,
  };
}

/** The slot a time belongs to. */
export const slotOf = (at: number) => Math.floor(at / SLOT_MS);

/** Share of failed calls; null where there were none. */
export function errorRateOf({ calls, errors }: CallSums): number | null {
  return calls === 0 ? null : errors / calls;
}

/** Mean time of an answer, in milliseconds; null where there was none. */
export function averageMsOf({ totalMs, latencies }: CallSums): number | null {
  const answered = latencies.reduce((sum, count) => sum + count, 0);
  return answered === 0 ? null : totalMs / answered;
}

/** Whether more calls fail than may. */
export function isElevated(sums: CallSums, degradedErrorRate: number): boolean {
  return sums.calls >= MIN_CALLS && sums.errors / sums.calls >= degradedErrorRate;
}

/** The code most failures have. */
export function mainReason({ reasons }: CallSums): string | null {
  return Object.entries(reasons).toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

/** A window as the API shows it. */
export function toWindowView(sums: CallSums) {
  const round = (value: number | null) => (value === null ? null : Math.round(value * 100) / 100);
  return {
    calls: sums.calls,
    errors: sums.errors,
    error_rate: errorRateOf(sums),
    average_ms: round(averageMsOf(sums)),
    p50_ms: round(quantile(sums.latencies, 0.5)),
    p95_ms: round(quantile(sums.latencies, 0.95)),
    reasons: { ...sums.reasons },
  };
}
