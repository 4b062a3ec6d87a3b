/**
 * What calls reveal about their server: the outcome of each call, a small additive histogram of latencies, and the tally that an isolate
 * collects between two reports to the server's monitor. Only what the server did to a call counts against it: not what the caller requested
 * or how, and not what the gateway refused. The tally changes numbers in place, since it runs for every call; everything else is pure.
 */
import type { ErrorCode } from '../../shared/errors/table.ts';

/** Upper bounds of the buckets, in milliseconds; one more bucket holds longer latencies. */
export const BOUNDS_MS: readonly number[] = [
  5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000,
];

/** Counts by bucket. */
export type Histogram = readonly number[];

export const NO_LATENCIES: Histogram = Array.from({ length: BOUNDS_MS.length + 1 }, () => 0);

/** Index of a latency's bucket. */
export function bucketOf(latencyMs: number): number {
  const at = BOUNDS_MS.findIndex(bound => latencyMs <= bound);
  return at === -1 ? BOUNDS_MS.length : at;
}

export function addHistograms(a: Histogram, b: Histogram): Histogram {
  return a.map((count, i) => count + (b[i] ?? 0));
}

/**
 * Estimates the latency below which a share of the calls lies, in milliseconds, by linear interpolation within its bucket. Returns the
 * highest bound for the last bucket, and null if there are no calls.
 */
export function quantile(histogram: Histogram, share: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = share * total;
  let below = 0;
  for (const [i, count] of histogram.entries()) {
    const upper = BOUNDS_MS[i];
    if (upper === undefined) break;
    if (count > 0 && below + count >= rank) {
      const lower = BOUNDS_MS[i - 1] ?? 0;
      return lower + ((upper - lower) * Math.max(0, rank - below)) / count;
    }
    below += count;
  }
  return BOUNDS_MS.at(-1) ?? null;
}

/**
 * `good`: a JSON-RPC response, also an error. `answered`: the server responded with a refusal. `failed`: the server's fault. `none`: says
 * nothing about the server.
 */
export type Outcome = 'good' | 'answered' | 'failed' | 'none';

const OUTCOMES: Partial<Record<ErrorCode, Outcome>> = {
  upstream_unreachable: 'failed',
  upstream_timeout: 'failed',
  upstream_truncated: 'failed',
  upstream_no_response: 'failed',
  upstream_session: 'failed',
  upstream_5xx: 'failed',
  upstream_redirect: 'failed',
  upstream_bad_content_type: 'failed',
  upstream_bad_json: 'failed',
  upstream_bad_message: 'failed',
  upstream_auth: 'answered',
  upstream_scope: 'answered',
  upstream_rate_limited: 'answered',
  upstream_4xx: 'answered',
  upstream_too_large: 'answered',
};

/** @param code of the error that a call ended with; undefined if it got a response */
export function outcomeOf(code: ErrorCode | undefined): Outcome {
  return code === undefined ? 'good' : (OUTCOMES[code] ?? 'none');
}

/** Calls of one or several slots. */
export interface CallSums {
  calls: number;
  /** Number of calls that failed through the server's fault. */
  errors: number;
  /** Total time of all calls that got a response, in milliseconds. */
  totalMs: number;
  latencies: Histogram;
  /** Failures by error code. */
  reasons: Readonly<Record<string, number>>;
}

export interface CallReport extends CallSums {
  /** The server's generation when the calls were made. */
  generation: number;
  /** Time of the last good message; null if there was none. */
  lastGoodAt: number | null;
  /** Failed calls since the last one that did not fail. */
  failuresInRow: number;
  /** Every call failed, so the failures in a row continue those of the previous report. */
  isRowWhole: boolean;
}

/** Counts the calls of one server until they are reported. */
export class CallTally {
  readonly generation: number;
  readonly #latencies: number[] = [...NO_LATENCIES];
  readonly #reasons: Record<string, number> = {};
  #calls = 0;
  #errors = 0;
  #totalMs = 0;
  #lastGoodAt: number | null = null;
  #failuresInRow = 0;
  #isRowWhole = true;

  constructor(generation: number) {
    this.generation = generation;
  }

  /** @param code of the error that a call ended with; undefined if it got a response */
  add(code: ErrorCode | undefined, latencyMs: number, now: number): Outcome {
    const outcome = outcomeOf(code);
    if (outcome === 'none') return outcome;
    this.#calls += 1;
    if (outcome === 'failed') {
      const reason = code ?? '';
      this.#errors += 1;
      this.#failuresInRow += 1;
      this.#reasons[reason] = (this.#reasons[reason] ?? 0) + 1;
      return outcome;
    }
    const bucket = bucketOf(latencyMs);
    this.#latencies[bucket] = (this.#latencies[bucket] ?? 0) + 1;
    this.#totalMs += latencyMs;
    this.#failuresInRow = 0;
    this.#isRowWhole = false;
    if (outcome === 'good') this.#lastGoodAt = now;
    return outcome;
  }

  toReport(): CallReport {
    return {
      generation: this.generation,
      calls: this.#calls,
      errors: this.#errors,
      totalMs: this.#totalMs,
      latencies: this.#latencies,
      reasons: this.#reasons,
      lastGoodAt: this.#lastGoodAt,
      failuresInRow: this.#failuresInRow,
      isRowWhole: this.#isRowWhole,
    };
  }
}
