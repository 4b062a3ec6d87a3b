/**
 * Tests the classifiers on servers they were not trained on: five folds by server, each scored by a model trained on the other four and on
 * the examples of the taxonomy. The offsets and the calibration of a fold come from the other folds.
 */
import type { Features } from '../../src/search/skills/features.ts';
import { hasEvidence, nearness } from '../../src/search/skills/embedded-classifier.ts';
import { toSkillVector } from '../../src/search/skills/skill-vectors.ts';
import { toLikelihood, toLogShares, type Calibration } from '../../src/search/skills/weights.ts';
import { trainBaseline } from './baseline.ts';
import { toOffsets, toShares } from './bounds.ts';
import { toExamples } from './examples.ts';
import { toFolds } from './labels.ts';
import type { Said } from './measure.ts';
import { VIEWS, type Material, type Prepared, type View } from './prepare.ts';
import { calibrate, scoreOf, train } from './train.ts';

export const FOLDS = 5;

/** Predictions of each classifier, by its name and view. */
export type Trials = Record<string, Record<View, Said[]>>;

/** A sample, scored by a model that was not trained on its server. */
export interface Tried extends Prepared {
  fold: number;
  scores: Float32Array;
  /** Its nearness to the vector of each skill. */
  near: readonly number[];
}

/** Scores all samples. @param seed of the folds */
export function tryFolds(material: Material, prepared: readonly Prepared[], seed: number): Tried[] {
  const { taxonomy, embedding } = material;
  const folds = foldsOf(prepared, seed);
  const vectors = taxonomy.map(skill => toSkillVector(skill, [], embedding));
  const examples = toExamples(material);
  const nearnessOf = (features: Features) => vectors.map(vector => nearness(features, vector));
  const tried: Tried[] = [];
  for (let fold = 0; fold < FOLDS; fold += 1) {
    const training = prepared.filter((_, i) => folds[i] !== fold);
    const made = train([...training, ...examples], taxonomy.length, embedding.dimensions);
    for (const sample of prepared.filter((_, i) => folds[i] === fold)) {
      const scores = scoreOf(made, sample.features, taxonomy.length);
      tried.push({ ...sample, fold, scores, near: nearnessOf(sample.features) });
    }
  }
  return tried;
}

/** How scores are processed before they are shown: offsets by class, and conversion to confidences. */
export interface Course {
  shares: readonly number[];
  offsets: Record<View, Float32Array>;
  trained: Record<View, Calibration>;
  nearness: Record<View, Calibration>;
}

/** @param tried samples to derive it from, all of servers that were not trained on */
export function toCourse(tried: readonly Tried[], count: number): Course {
  const shares = toShares(
    tried.map(({ labels }) => labels),
    count,
  );
  const offsetsOf = (view: View) =>
    toOffsets(
      tried.filter(sample => sample.view === view).map(({ scores }) => scores),
      shares,
    );
  const offsets = { whole: offsetsOf('whole'), short: offsetsOf('short') };
  return {
    shares,
    offsets,
    trained: calibrateBoth(tried, ({ scores, view }) => toLogShares(scores, offsets[view])),
    nearness: calibrateBoth(tried, ({ near }) => near),
  };
}

/** Tests every classifier on everything. @param seed of the folds */
export function tryAll(material: Material, prepared: readonly Prepared[], seed: number): Trials {
  const count = material.taxonomy.length;
  const tried = tryFolds(material, prepared, seed);
  const empty = (): Record<View, Said[]> => ({ whole: [], short: [] });
  const trials = { 'TF-IDF': empty(), 'zero-shot': empty(), trained: empty() };
  for (let fold = 0; fold < FOLDS; fold += 1) {
    const others = tried.filter(sample => sample.fold !== fold);
    const { shares, offsets, trained, nearness: near } = toCourse(others, count);
    const wholes = others.filter(({ view }) => view === 'whole');
    const baseline = trainBaseline(
      wholes.map(toTool),
      wholes.map(({ labels }) => labels),
      count,
    );
    for (const sample of tried.filter(one => one.fold === fold)) {
      const { labels, view } = sample;
      const scores = toLogShares(sample.scores, offsets[view]);
      trials.trained[view].push(toSaid(scores, trained[view], labels, shares));
      trials['zero-shot'][view].push(toSaid(sample.near, near[view], labels));
      trials['TF-IDF'][view].push({ scores: baseline(toTool(sample)), labels });
    }
  }
  return trials;
}

const toTool = ({ labelled, view }: Prepared) => ({
  tool: labelled.tool,
  server: labelled.server[view],
});

function foldsOf(prepared: readonly Prepared[], seed: number): number[] {
  const samples = prepared.map(({ labelled }) => labelled);
  return toFolds(samples, FOLDS, seed);
}

/** Calibrates how likely a skill is the first label for a score, for each view of the server. */
function calibrateBoth(
  tried: readonly Tried[],
  scoresOf: (sample: Tried) => ArrayLike<number>,
): Record<View, Calibration> {
  const [whole, short] = VIEWS.map(view =>
    calibrate(
      tried
        .filter(sample => sample.view === view)
        .flatMap(sample =>
          Array.from(scoresOf(sample), (score, k) => [score, sample.labels[0] === k] as const),
        ),
    ),
  );
  if (!whole || !short) throw new Error('there is nothing to calibrate with');
  return { whole, short };
}

/** The classifier's prediction: nothing for a skill without evidence. */
function toSaid(
  scores: ArrayLike<number>,
  calibration: Calibration,
  labels: readonly number[],
  shares: readonly number[] = [],
): Said {
  const said = Array.from(scores, (score, k) => {
    const confidence = toLikelihood(calibration, score);
    return hasEvidence(confidence, shares[k]) ? confidence : 0;
  });
  return { scores: said, confidence: Math.max(...said), labels };
}
