/**
 * Turns fused values, which are meaningful within one query only, into scores of 0 to 1 that can be compared across queries: an estimate of
 * how likely the tool is the one asked for. The best tool is judged by evidence that does not depend on the other tools: how much of the
 * query's words it contains, and how near its vector is. The others follow by their distance from the best. The order does not change.
 * Pure.
 *
 * The numbers are a logistic regression over one half of the requests of `bench/retrieval`, the same requests among few tools and without
 * the right ones, and nonsense. Results: docs/decisions/0016-search-without-a-model.md.
 */

/** Evidence for the best tool of a query. */
export interface Evidence {
  /** Its fused value. */
  fused: number;
  /** Its cosine, including its server's share. */
  cosine: number;
  /** Its lexical score as a share of the highest possible one, 0 to 1. */
  coverage: number;
}

const BASE = -3.6;
const COSINE = { weight: 1.4, most: 0.8 };
const COVERAGE = { weight: 7.4, most: 0.7 };
/** What one standard deviation behind the best costs: more where the best is likely right. */
const BEHIND = { base: 0.4, coverage: 2.1 };

/** Returns the log-odds that the best tool is the one asked for. */
export function toEvidenceOdds({ coverage, cosine }: Evidence): number {
  return (
    BASE +
    COSINE.weight * Math.min(Math.max(cosine, 0), COSINE.most) +
    COVERAGE.weight * toCoverage(coverage)
  );
}

/** Returns the same for any tool. @param fused its fused value, at most that of the best */
export function toOdds(fused: number, best: Evidence): number {
  const steepness = BEHIND.base + BEHIND.coverage * toCoverage(best.coverage);
  return toEvidenceOdds(best) - steepness * (best.fused - fused);
}

/** Converts log-odds to a score of 0 to 1. */
export const toScore = (odds: number): number => 1 / (1 + Math.exp(-odds));

const toCoverage = (coverage: number): number =>
  Math.min(Math.sqrt(Math.max(coverage, 0)), COVERAGE.most);
