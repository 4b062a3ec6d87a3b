/**
 * The ranking of a query: words (`lexical.ts`) and vectors (`semantic.ts`), a model's too where there are some, fused (`fusion.ts`), over the tools that take part and nothing else. Pure;
 * the same query over the same tools gives the same answer, in whatever order the catalogs come.
 */
import { toScore } from './calibration.ts';
import type { Embedding } from '../text/embedding.ts';
import { toFused } from './fusion.ts';
import { toCeiling, toLexicalScores } from './lexical.ts';
import { toBest } from './best.ts';
import { toParts, type Searched } from '../index/part.ts';
import { toQuery } from '../text/query.ts';
import { toCosines, toModelCosines } from './semantic.ts';
import { TUNING, type Tuning } from './tuning.ts';

export type { Searched } from '../index/part.ts';

/** One tool that was found. */
export interface Ranked {
  /** Index of the `Searched` it is in. */
  searched: number;
  /** Its place there. */
  tool: number;
  /** 0 to 1, comparable across queries. */
  score: number;
}

/**
 * The best tools for a query, best first; equals by their server's name, then their own, in code units.
 * @param limit how many at most
 * @param modelVector what the model of the tools' vectors made of the query; absent where it is not asked
 */
export function rank(
  query: string,
  searched: readonly Searched[],
  embedding: Embedding,
  limit: number,
  tuning: Tuning = TUNING,
  modelVector?: Float32Array,
): Ranked[] {
  const all = toParts(searched, embedding);
  const { terms, vector } = toQuery(query, embedding);
  const lexical = toLexicalScores(terms, all, tuning);
  const cosines = toCosines(vector, embedding.id, all, tuning);
  const modelCosines = modelVector && toModelCosines(modelVector, all);
  const fused = toFused(lexical, cosines, all, tuning, modelCosines);
  const best = toBest(fused, all, limit);
  const [first] = best;
  if (!first) return [];
  const place = first.part.offset + first.tool;
  const evidence = {
    fused: first.value,
    cosine: cosines[place] ?? 0,
    coverage: (lexical[place] ?? 0) / Math.max(toCeiling(terms, all.count), 1e-6),
  };
  return best.map(({ part, tool, value }) => ({
    searched: part.searched,
    tool,
    score: toScore(value, evidence),
  }));
}
