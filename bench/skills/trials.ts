/**
 * Trials of the classifiers on servers they were not made of: five folds by server; of each, one is tried on, the next one calibrates, the
 * others train.
 */
import type { Features } from '../../src/search/skills/features.ts';
import { nearness } from '../../src/search/skills/embedded-classifier.ts';
import { toSkillVector } from '../../src/search/skills/skill-vectors.ts';
import { toLikelihood, type Calibration } from '../../src/search/skills/weights.ts';
import { trainBaseline } from './baseline.ts';
import { toFolds } from './labels.ts';
import { ranked, type Said } from './measure.ts';
import type { Material, Prepared, View } from './prepare.ts';
import { calibrate, scoreOf, train } from './train.ts';

export const FOLDS = 5;

/** What each classifier said, by its name and what it knew. */
export type Trials = Record<string, Record<View, Said[]>>;

/** How near a tool is to the vector of each skill. */
export const nearnessOf = (features: Features, vectors: readonly Float32Array[]): number[] =>
  vectors.map(vector => nearness(features, vector));

/** Try everything on everything. @param seed of the folds */
export function tryAll(material: Material, prepared: readonly Prepared[], seed: number): Trials {
  const { taxonomy, embedding } = material;
  const count = taxonomy.length;
  const folds = toFolds(
    prepared.map(({ labelled }) => labelled),
    FOLDS,
    seed,
  );
  const vectors = taxonomy.map(skill => toSkillVector(skill, [], embedding));
  const empty = (): Record<View, Said[]> => ({ whole: [], short: [] });
  const trials: Trials = { 'TF-IDF': empty(), 'zero-shot': empty(), trained: empty() };
  for (let fold = 0; fold < FOLDS; fold += 1) {
    const partOf = (wanted: readonly number[]) =>
      prepared.filter((_, i) => wanted.includes(folds[i] ?? 0));
    const next = (fold + 1) % FOLDS;
    const rest = [0, 1, 2, 3, 4].filter(other => other !== fold && other !== next);
    const [tried, calibrating, training] = [partOf([fold]), partOf([next]), partOf(rest)];
    const made = train(training, count, embedding.dimensions);
    const score = (features: Features) => scoreOf(made, features, count);
    const near = (features: Features) => nearnessOf(features, vectors);
    const trained = calibrateAll(calibrating, score);
    const zeroShot = calibrateAll(calibrating, near);
    const wholes = training.filter(({ view }) => view === 'whole');
    const toTool = ({ labelled, view }: Prepared) => ({
      tool: labelled.tool,
      server: labelled.server[view],
    });
    const baseline = trainBaseline(
      wholes.map(toTool),
      wholes.map(({ labels }) => labels),
      count,
    );
    for (const sample of tried) {
      const { features, labels, view } = sample;
      trials['trained']?.[view].push(toSaid(score(features), trained[view], labels));
      trials['zero-shot']?.[view].push(toSaid(near(features), zeroShot[view], labels));
      trials['TF-IDF']?.[view].push({ scores: baseline(toTool(sample)), labels });
    }
  }
  return trials;
}

/** The calibration of a way to score, over all its scores, by what was known of the server. */
function calibrateAll(
  samples: readonly Prepared[],
  score: (features: Features) => ArrayLike<number>,
): Record<View, Calibration> {
  const of = (view: View) =>
    calibrate(
      samples
        .filter(sample => sample.view === view)
        .flatMap(({ features, labels }) =>
          Array.from(score(features), (value, i) => [value, labels.includes(i)] as const),
        ),
    );
  return { whole: of('whole'), short: of('short') };
}

function toSaid(
  scores: ArrayLike<number>,
  calibration: Calibration,
  labels: readonly number[],
): Said {
  const [first = 0] = ranked(scores);
  return { scores, confidence: toLikelihood(calibration, scores[first] ?? 0), labels };
}
