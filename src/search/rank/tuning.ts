/**
 * The parameters of the ranking, fitted by `bench/retrieval` on one half of its requests (docs/decisions/0016-search-without-a-model.md).
 * Functions take them as an argument, so that the benchmark can try others.
 */

/** A field's weight, and how strongly its length is penalised (0 to 1). */
export interface FieldTuning {
  weight: number;
  lengthPenalty: number;
}

export interface Tuning {
  /** Fields of a tool, in the order of the segment's fields. */
  fields: readonly FieldTuning[];
  serverName: FieldTuning;
  serverDescription: FieldTuning;
  /** Weight of the commonest English word; the rarest weighs 1. */
  everydayWeight: number;
  /** BM25's k1: how soon repeating a word gains nothing. */
  saturation: number;
  /** Weight of a neighbour in place of the word itself, times its similarity. */
  neighbourWeight: number;
  /** Weight of the vector of a server's name; the tool's own weighs 1. */
  serverVectorWeight: number;
  /** Weights of words and of vectors. */
  lexicalWeight: number;
  semanticWeight: number;
  /** Weight of a model's vectors, where available, and its factor for a query in another language. */
  modelWeight: number;
  modelForeign: number;
  /**
   * Parts of a query. A query longer than `talk` loses its chatter: parts whose log-odds, less up to `chatter` for being talk, are more
   * than `behind` below the best. Of a shorter query, the best `turns` tools of each task come first, each a `step` below the one before.
   */
  clauses: {
    talk: number;
    chatter: number;
    behind: number;
    turns: number;
    step: number;
  };
  /** What a query rules out: from which share of the best match a tool is penalised, and the largest penalty in log-odds. */
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
