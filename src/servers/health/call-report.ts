/**
 * What calls say of their server: what the end of one means, latencies as a small histogram of counts that add up, and what an isolate
 * saw since it last told the server's monitor. Only what the server did to a call counts against it: not what the caller asked for or
 * how, and not what was refused here. Counting changes numbers in place, since it is done for every call; all else is pure.
 */
import type { ErrorCode } from '../../shared/errors/table.ts';

/** Upper bounds of the buckets, in milliseconds; one more bucket holds what is longer. */
export const BOUNDS_MS: readonly number[] = [
  5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000,
];

/** Counts by bucket. */
export type Histogram = readonly number[];

export const NO_LATENCIES: Histogram = Array.from({ length: BOUNDS_MS.length + 1 }, () => 0);

/** The bucket of a latency. */
export function bucketOf(latencyMs: number): number {
  const at = BOUNDS_MS.findIndex(bound => latencyMs <= bound);
  return at === -1 ? BOUNDS_MS.length : at;
}

export function addHistograms(a: Histogram, b: Histogram): Histogram {
  return a.map((count, i) => count + (b[i] ?? 0));
}

/**
 * The latency below which a share of them lies, in milliseconds, straight through its bucket; the highest bound for what is
 * longer; null where there are none.
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
 * `good`: a JSON-RPC response, an error too. `answered`: the server is there and refused. `failed`: its fault. `none`: says
 * nothing of the server.
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

/** @param code of the error a call ended with; undefined where it was answered */
export function outcomeOf(code: ErrorCode | undefined): Outcome {
  return code === undefined ? 'good' : (OUTCOMES[code] ?? 'none');
}

/** Calls of one slot, or several. */
export interface CallSums {
  calls: number;
  /** Of these, those the server failed. */
  errors: number;
  /** Time of all answered calls together, in milliseconds. */
  totalMs: number;
  latencies: Histogram;
  /** Failures by error code. */
  reasons: Readonly<Record<string, number>>;
}

export interface CallReport extends CallSums {
  /** The server's when the calls were made. */
  generation: number;
  /** Time of the last good message; null where there was none. */
  lastGoodAt: number | null;
  /** Calls that failed since the last one that did not. */
  failuresInRow: number;
  /** Nothing but failures: the row goes on from what was told before. */
  isRowWhole: boolean;
}

/** Calls of one server, counted until they are told. */
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

  /** @param code of the error a call ended with; undefined where it was answered */
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
