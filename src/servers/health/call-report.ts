/**
 * What an isolate saw of one server's calls since it last told the server's monitor. Counting changes numbers in place, since it
 * is done for every call.
 */
import type { ErrorCode } from '../../shared/errors/table.ts';
import { outcomeOf, type Outcome } from './call-outcome.ts';
import { bucketOf, NO_LATENCIES } from './latency.ts';
import type { CallSums } from './windows.ts';

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
