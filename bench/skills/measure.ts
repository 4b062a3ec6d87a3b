/**
 * How good a classifier is: how often the right skill is first or among the first three, and how far its confidence is from its accuracy.
 */

/** A classifier's prediction for one tool. */
export interface Said {
  /** For each skill; higher fits better, 0 means not predicted. */
  scores: ArrayLike<number>;
  /** Confidence in the first; undefined where the classifier has none. */
  confidence?: number;
  /** The best fitting first. */
  labels: readonly number[];
}

export interface Figures {
  tools: number;
  /** How often the first label is predicted first, or among the first three. */
  firstAtOne: number;
  firstAtThree: number;
  /** How often any label is predicted first, or among the first three. */
  anyAtOne: number;
  anyAtThree: number;
  /** How many tools get any class. */
  classified: number;
  /** The share of tools for which the most frequent class is predicted first. */
  commonest: number;
  /** Expected calibration error over ten bins, for the first label. */
  ece: number | undefined;
  /** How many tools have a primary skill, and how often that is the first label. */
  primaries: number | undefined;
  rightPrimaries: number | undefined;
}

const BINS = 10;

/** Indexes in order of their scores. */
export function ranked(scores: ArrayLike<number>): number[] {
  return Array.from(scores, (score, i) => [score, i] as const)
    .toSorted(([a], [b]) => b - a)
    .map(([, i]) => i);
}

export function measure(said: readonly Said[]): Figures {
  const judged = said.map(({ scores, labels, confidence }) => {
    const order = ranked(scores)
      .slice(0, 3)
      .filter(place => (scores[place] ?? 0) > 0);
    const [first = -1] = order;
    const [label = -2] = labels;
    return {
      first,
      isTheFirst: first === label,
      hasTheFirst: order.includes(label),
      isFirst: labels.includes(first),
      isAmong: order.some(place => labels.includes(place)),
      confidence,
    };
  });
  type Judged = (typeof judged)[number];
  const share = (is: (one: Judged) => boolean, of: readonly Judged[] = judged) =>
    of.filter(one => is(one)).length / of.length;
  const sure = judged.filter(({ confidence }) => (confidence ?? 0) >= 0.5);
  const hasConfidence = judged.every(({ confidence }) => confidence !== undefined);
  const classes = [...new Set(judged.map(({ first }) => first))].filter(first => first >= 0);
  return {
    tools: said.length,
    firstAtOne: share(({ isTheFirst }) => isTheFirst),
    firstAtThree: share(({ hasTheFirst }) => hasTheFirst),
    anyAtOne: share(({ isFirst }) => isFirst),
    anyAtThree: share(({ isAmong }) => isAmong),
    classified: share(({ first }) => first >= 0),
    commonest: Math.max(...classes.map(one => share(({ first }) => first === one))),
    ece: hasConfidence ? toError(judged) : undefined,
    primaries: hasConfidence ? sure.length / judged.length : undefined,
    rightPrimaries: hasConfidence ? share(({ isTheFirst }) => isTheFirst, sure) : undefined,
  };
}

function toError(
  judged: readonly { isTheFirst: boolean; confidence: number | undefined }[],
): number {
  let error = 0;
  for (let bin = 0; bin < BINS; bin += 1) {
    const inBin = judged.filter(
      ({ confidence = 0 }) => Math.min(Math.floor(confidence * BINS), BINS - 1) === bin,
    );
    if (inBin.length === 0) continue;
    const right = inBin.filter(({ isTheFirst }) => isTheFirst).length / inBin.length;
    const sure = inBin.reduce((sum, { confidence = 0 }) => sum + confidence, 0) / inBin.length;
    error += (inBin.length / judged.length) * Math.abs(right - sure);
  }
  return error;
}
