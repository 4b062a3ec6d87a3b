/** How good a classifier is: the right skill first, among the first three, and how far its confidence is from how often it is right. */

/** What a classifier said of one tool. */
export interface Said {
  /** For each skill; more is more fitting. */
  scores: ArrayLike<number>;
  /** Of the first; undefined where the classifier has none. */
  confidence?: number;
  labels: readonly number[];
}

export interface Figures {
  tools: number;
  atOne: number;
  atThree: number;
  /** Expected calibration error over ten bins. */
  ece: number | undefined;
  /** How many have a primary skill, and how often that is right. */
  primaries: number | undefined;
  rightPrimaries: number | undefined;
}

const BINS = 10;

/** Places in the order of their scores. */
export function ranked(scores: ArrayLike<number>): number[] {
  return Array.from(scores, (score, i) => [score, i] as const)
    .toSorted(([a], [b]) => b - a)
    .map(([, i]) => i);
}

export function measure(said: readonly Said[]): Figures {
  const judged = said.map(({ scores, labels, confidence }) => {
    const order = ranked(scores).slice(0, 3);
    const [first = -1] = order;
    return {
      isFirst: labels.includes(first),
      isAmong: order.some(place => labels.includes(place)),
      confidence,
    };
  });
  const share = (list: readonly unknown[], of: readonly unknown[]) => list.length / of.length;
  const sure = judged.filter(({ confidence }) => (confidence ?? 0) >= 0.5);
  const hasConfidence = judged.every(({ confidence }) => confidence !== undefined);
  return {
    tools: said.length,
    atOne: share(
      judged.filter(({ isFirst }) => isFirst),
      judged,
    ),
    atThree: share(
      judged.filter(({ isAmong }) => isAmong),
      judged,
    ),
    ece: hasConfidence ? toError(judged) : undefined,
    primaries: hasConfidence ? share(sure, judged) : undefined,
    rightPrimaries: hasConfidence
      ? share(
          sure.filter(({ isFirst }) => isFirst),
          sure,
        )
      : undefined,
  };
}

function toError(judged: readonly { isFirst: boolean; confidence: number | undefined }[]): number {
  let error = 0;
  for (let bin = 0; bin < BINS; bin += 1) {
    const inBin = judged.filter(
      ({ confidence = 0 }) => Math.min(Math.floor(confidence * BINS), BINS - 1) === bin,
    );
    if (inBin.length === 0) continue;
    const right = inBin.filter(({ isFirst }) => isFirst).length / inBin.length;
    const sure = inBin.reduce((sum, { confidence = 0 }) => sum + confidence, 0) / inBin.length;
    error += (inBin.length / judged.length) * Math.abs(right - sure);
  }
  return error;
}
