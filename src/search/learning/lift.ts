/**
 * What learned uses say of a tool for a query: who called it after searches with the query's words, and how long ago. Pure.
 *
 * Invariants: a principal's own use lifts for that principal alone; the two latest of the others' uses count nothing, so three must agree
 * and no two can move anything; a lift is bounded, whatever was called.
 */

/** Who called a tool after a query with a word, and the day of the last such call (UTC days since the epoch). */
export interface Use {
  principalId: string;
  day: number;
}

/** A use counts half as much after so many days. */
const HALF_LIFE_DAYS = 14;
/** How many of the latest uses by others are ignored. */
const LEFT_OUT = 2;
/** The most that uses add, in log-odds; it moves a score by 0.125 at most. */
export const MAX_LIFT = 0.5;

/** Returns the support for a tool from one word, 0 to 1. @param uses one for each principal */
export function toSupport(uses: readonly Use[], principalId: string, today: number): number {
  const decayed = ({ day }: Use) => 2 ** (-Math.max(today - day, 0) / HALF_LIFE_DAYS);
  const own = uses.filter(use => use.principalId === principalId).map(decayed);
  const others = uses
    .filter(use => use.principalId !== principalId)
    .map(decayed)
    .toSorted((a, b) => b - a)
    .slice(LEFT_OUT);
  const sum = [...own, ...others].reduce((total, one) => total + one, 0);
  return sum / (1 + sum);
}

/**
 * Returns what is added to a tool, in log-odds: 0 unless most words of the query support it. @param supports one for each word of the query
 */
export function toLift(supports: readonly number[]): number {
  const spoken = supports.filter(support => support > 0).length;
  if (2 * spoken <= supports.length) return 0;
  return (MAX_LIFT * supports.reduce((total, one) => total + one, 0)) / supports.length;
}
