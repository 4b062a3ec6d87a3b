/** Calls in time windows: slots of ten seconds, and their sums. Pure. */
import { addHistograms, NO_LATENCIES, quantile, type CallSums } from './call-report.ts';

export const SLOT_MS = 10_000;
/** How long slots are kept: as long as the longest window. */
export const KEPT_MS = 3_600_000;
/** The window over which the error rate is judged. */
export const JUDGED_MS = 300_000;
/** With fewer calls in the window, the error rate is not judged. */
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

/** The slot to which a time belongs. */
export const slotOf = (at: number) => Math.floor(at / SLOT_MS);

/** Share of failed calls; null if there were no calls. */
export function errorRateOf({ calls, errors }: CallSums): number | null {
  return calls === 0 ? null : errors / calls;
}

/** Mean response time, in milliseconds; null if there was no response. */
export function averageMsOf({ totalMs, latencies }: CallSums): number | null {
  const answered = latencies.reduce((sum, count) => sum + count, 0);
  return answered === 0 ? null : totalMs / answered;
}

/** Whether too many calls fail. */
export function isElevated(sums: CallSums, degradedErrorRate: number): boolean {
  return sums.calls >= MIN_CALLS && sums.errors / sums.calls >= degradedErrorRate;
}

/** The most frequent error code. */
export function mainReason({ reasons }: CallSums): string | null {
  return Object.entries(reasons).toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

/** Converts a window to its API form. */
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
