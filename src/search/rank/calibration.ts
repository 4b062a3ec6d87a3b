/**
 * From fused numbers, which mean something within one query only, to scores of 0 to 1 that can be compared across queries: an estimate of
 * how likely the tool is what was asked for. How good the best tool is, is judged by what does not depend on the other tools: how much of the query's words
 * it has, and how near its vector is. The others follow by how far they are behind. The order stays as it was. Pure.
 *
 * The numbers are a logistic regression over the requests of `bench/retrieval` (one half), the same requests among few tools and without the right ones, and
 * nonsense; docs/decisions/0016-search-without-a-model.md says what came of it.
 */

/** What is known of the best tool of a query. */
export interface Evidence {
  /** Its fused number. */
  fused: number;
  /** Its cosine, its server's included. */
  cosine: number;
  /** What it has of the most that words could count, 0 to 1. */
  coverage: number;
}

const BASE = -3.6;
const COSINE = { weight: 1.4, most: 0.8 };
const COVERAGE = { weight: 7.4, most: 0.7 };
/** What one standard deviation behind the best costs: more where the best is surely right. */
const BEHIND = { base: 0.4, coverage: 2.1 };

/** How likely the best tool is what was asked for, as log-odds. */
export function toEvidenceOdds({ coverage, cosine }: Evidence): number {
  return (
    BASE +
    COSINE.weight * Math.min(Math.max(cosine, 0), COSINE.most) +
    COVERAGE.weight * toCoverage(coverage)
  );
}

/** The same of any tool. @param fused its number, at most that of the best */
export function toOdds(fused: number, best: Evidence): number {
  const steepness = BEHIND.base + BEHIND.coverage * toCoverage(best.coverage);
  return toEvidenceOdds(best) - steepness * (best.fused - fused);
}

/** Log-odds as a score, 0 to 1. */
export const toScore = (odds: number): number => 1 / (1 + Math.exp(-odds));

const toCoverage = (coverage: number): number =>
  Math.min(Math.sqrt(Math.max(coverage, 0)), COVERAGE.most);
