/** Measures of a ranking, and their means. Pure. */

export interface Measures {
  recall1: number;
  recall5: number;
  recall10: number;
  /** Binary relevance, first ten results. */
  ndcg10: number;
  /** Reciprocal rank of the first relevant result. */
  mrr: number;
}

export const MEASURES = ['recall1', 'recall5', 'recall10', 'ndcg10', 'mrr'] as const;

const toGain = (place: number): number => 1 / Math.log2(place + 2);

/** @param found ids, best first @param relevant at least one */
export function toMeasures(found: readonly string[], relevant: ReadonlySet<string>): Measures {
  const places = found.flatMap((id, place) => (relevant.has(id) ? [place] : []));
  const within = (most: number): number => places.filter(place => place < most).length;
  const gain = places.filter(place => place < 10).reduce((sum, place) => sum + toGain(place), 0);
  let ideal = 0;
  for (let place = 0; place < Math.min(relevant.size, 10); place += 1) ideal += toGain(place);
  const [first] = places;
  return {
    recall1: within(1) / relevant.size,
    recall5: within(5) / relevant.size,
    recall10: within(10) / relevant.size,
    ndcg10: gain / ideal,
    mrr: first === undefined ? 0 : 1 / (first + 1),
  };
}

/** Mean of each measure. */
export function toMeans(all: readonly Measures[]): Measures {
  const mean = (key: (typeof MEASURES)[number]): number =>
    all.reduce((sum, one) => sum + one[key], 0) / Math.max(all.length, 1);
  return {
    recall1: mean('recall1'),
    recall5: mean('recall5'),
    recall10: mean('recall10'),
    ndcg10: mean('ndcg10'),
    mrr: mean('mrr'),
  };
}

/**
 * How well scores predict that a tool is right: the distance between mean score and share of right ones over ten bins, weighted by their
 * size.
 */
export function toCalibrationError(scored: readonly { score: number; right: boolean }[]): number {
  let error = 0;
  for (let bin = 0; bin < 10; bin += 1) {
    const inside = scored.filter(({ score }) => Math.min(Math.floor(score * 10), 9) === bin);
    const difference = inside.reduce((sum, { score, right }) => sum + score - (right ? 1 : 0), 0);
    error += Math.abs(difference) / Math.max(scored.length, 1);
  }
  return error;
}

/** The value below which this share of the values lies. @param values not empty */
export function percentileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)] ?? Number.NaN;
}
