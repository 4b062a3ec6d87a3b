/**
 * Looks for better parameters of the ranking, one after the other, on the half of the requests for tuning. Prints each step with its effect
 * on the other half. Writes nothing: the reader decides.
 */
import type { Embedding } from '../../src/search/text/embedding.ts';
import { TUNING, type Tuning } from '../../src/search/rank/tuning.ts';
import { isTuned, type Corpus } from './corpus.ts';
import { toMeans, toMeasures } from './measures.ts';
import { createAnswerer } from './quality.ts';

const FACTORS = [0.5, 0.7, 1.4, 2];
const LEAST_GAIN = 0.0015;
/** Recall counts less than nDCG, since both say much the same. */
const RECALL_WEIGHT = 0.3;

/** Every parameter of a tuning with other values: a label, and the changed tuning. */
function listChanges(tuning: Tuning): { label: string; changed: Tuning }[] {
  const changes: { label: string; changed: Tuning }[] = [];
  const visit = (value: unknown, path: readonly (string | number)[]): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) visit(inner, [...path, key]);
      return;
    }
    for (const factor of FACTORS) {
      const next = Number(value) * factor;
      if (path.at(-1) === 'lengthPenalty' && next > 1) continue;
      const changed = structuredClone(tuning);
      let holder = changed as unknown as Record<string | number, unknown>;
      for (const key of path.slice(0, -1)) holder = holder[key] as typeof holder;
      holder[path.at(-1) ?? ''] = next;
      changes.push({ label: `${path.join('.')} ${next.toFixed(3)}`, changed });
    }
  };
  visit(tuning, []);
  return changes.filter(({ label }) => !label.startsWith('semanticWeight'));
}

/** Two rounds over all parameters. @param say called with each step */
export function tune(
  corpora: readonly Corpus[],
  embedding: Embedding,
  say: (line: string) => void,
): void {
  const answerers = corpora.map(corpus => ({ corpus, answer: createAnswerer(corpus, embedding) }));
  const measure = (tuning: Tuning, tuned: boolean) =>
    answerers.map(({ corpus, answer }) =>
      toMeans(
        corpus.requests
          .filter(({ query }) => isTuned(query) === tuned)
          .map(({ query, relevant }) =>
            toMeasures(
              answer(query, tuning).map(({ id }) => id),
              relevant,
            ),
          ),
      ),
    );
  const toGoal = (all: ReturnType<typeof measure>): number =>
    all.reduce((sum, { ndcg10, recall5 }) => sum + ndcg10 + RECALL_WEIGHT * recall5, 0);
  const show = (all: ReturnType<typeof measure>): string =>
    all.map(({ ndcg10, recall5 }) => `${ndcg10.toFixed(4)}/${recall5.toFixed(4)}`).join(' ');
  let best = TUNING;
  let goal = toGoal(measure(best, true));
  say(`start ${show(measure(best, true))}, other half ${show(measure(best, false))}`);
  for (let round = 0; round < 2; round += 1) {
    for (const { label } of listChanges(TUNING)) {
      const changed = listChanges(best).find(one => one.label === label)?.changed;
      if (!changed) continue;
      const found = toGoal(measure(changed, true));
      if (found < goal + LEAST_GAIN) continue;
      [best, goal] = [changed, found];
      say(`${label}: ${show(measure(best, true))}, other half ${show(measure(best, false))}`);
    }
  }
  say(JSON.stringify(best, null, 2));
}
