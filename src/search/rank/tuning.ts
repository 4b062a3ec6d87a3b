/**
 * The numbers of the ranking, found by `bench/retrieval` on one half of its requests (docs/decisions/0016-search-without-a-model.md). An argument of
 * the functions that use them, so that the benchmark can try others.
 */

/** How much a field counts, and how much its length is held against it (0 to 1). */
export interface FieldTuning {
  weight: number;
  lengthPenalty: number;
}

export interface Tuning {
  /** Of a tool, in the order of the segment's fields. */
  fields: readonly FieldTuning[];
  serverName: FieldTuning;
  serverDescription: FieldTuning;
  /** How much the commonest word of English counts; the rarest counts 1. */
  everydayWeight: number;
  /** BM25's k1: how soon more of the same word gains nothing. */
  saturation: number;
  /** How much a neighbour of a word counts in its place, times its similarity. */
  neighbourWeight: number;
  /** How much the vector of a server's name counts beside the tool's, which counts 1. */
  serverVectorWeight: number;
  /** How much the words count, and the vectors. */
  lexicalWeight: number;
  semanticWeight: number;
  /** How much a model's vectors count, where there are some; and what of that for a query in another language. */
  modelWeight: number;
  modelForeign: number;
  /**
   * Parts of a query. Chatter goes from queries longer than `talk`: parts whose evidence, less `chatter` where it is all talk, is so far `behind` the best. Tasks of shorter ones
   * take `turns`, each a `step` lower.
   */
  clauses: {
    talk: number;
    chatter: number;
    behind: number;
    turns: number;
    step: number;
  };
  /** What a query rules out: from which share of the best number a tool is meant, and what that costs in log-odds. */
  excluded: { from: number; weight: number };
}

export const TUNING: Tuning = {
  fields: [
    { weight: 1.2, lengthPenalty: 0.3 },
    { weight: 1.3, lengthPenalty: 0.5 },
    { weight: 0.8, lengthPenalty: 0.5 },
    { weight: 0.3, lengthPenalty: 0.5 },
    { weight: 0.3, lengthPenalty: 0.5 },
  ],
  serverName: { weight: 1, lengthPenalty: 0.5 },
  serverDescription: { weight: 0.5, lengthPenalty: 0.75 },
  everydayWeight: 0.6,
  saturation: 1.8,
  neighbourWeight: 0.8,
  serverVectorWeight: 0.5,
  lexicalWeight: 0.6,
  semanticWeight: 1,
  modelWeight: 1,
  modelForeign: 0.5,
  clauses: { talk: 160, chatter: 9, behind: 3, turns: 5, step: 0.3 },
  excluded: { from: 0.7, weight: 3 },
};
