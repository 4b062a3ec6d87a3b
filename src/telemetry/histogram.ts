/** A histogram of durations, in Prometheus' form. */
import type { Exemplar, Labels, Sample } from './exposition.ts';

/** Upper bounds of the buckets, in seconds; one more bucket follows the last. */
const BOUNDS_S = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
] as const;

export class Histogram {
  readonly #counts = Array.from({ length: BOUNDS_S.length + 1 }, () => 0);
  readonly #exemplars: (Exemplar | undefined)[] = [];
  #sum = 0;

  /** @param seconds duration @param traceId of its trace, where that is kept @param at milliseconds since the epoch */
  add(seconds: number, traceId: string | undefined, at: number): void {
    const found = BOUNDS_S.findIndex(bound => seconds <= bound);
    const bucket = found < 0 ? BOUNDS_S.length : found;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += seconds;
    if (traceId !== undefined) this.#exemplars[bucket] = { traceId, value: seconds, at };
  }

  /** Returns its samples, with cumulative buckets. */
  samples(labels: Labels): Sample[] {
    let count = 0;
    const buckets = this.#counts.map((inBucket, at): Sample => {
      count += inBucket;
      const le = String(BOUNDS_S[at] ?? '+Inf');
      const exemplar = this.#exemplars[at];
      return { suffix: '_bucket', labels: { ...labels, le }, value: count, exemplar };
    });
    return [
      ...buckets,
      { suffix: '_sum', labels, value: this.#sum },
      { suffix: '_count', labels, value: count },
    ];
  }
}
