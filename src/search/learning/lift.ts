/**
 * What use says of a tool for a query: of whose searches with its words the tool was called, and how long ago. Pure.
 *
 * Invariants: somebody's own use lifts for that principal alone; of the others' the two latest count nothing, so that three must agree and no
 * two can move anything; a lift is bounded, whatever was called.
 */

/** Who called a tool after a query with a word, and on which day last (UTC, counted since the epoch). */
export interface Use {
  principalId: string;
  day: number;
}

/** A use counts half as much after so many days. */
const HALF_LIFE_DAYS = 14;
/** Uses of others that count nothing: the latest. */
const LEFT_OUT = 2;
/** The most that use adds, in log-odds: a score moves by a quarter of it at most. */
export const MAX_LIFT = 0.5;

/** How much speaks for a tool at one word, 0 to 1. @param uses one of each principal */
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

/** What is added to a tool, in log-odds: nothing where less than most words of the query speak for it. @param supports one for each word of the query */
export function toLift(supports: readonly number[]): number {
  const spoken = supports.filter(support => support > 0).length;
  if (2 * spoken <= supports.length) return 0;
  return (MAX_LIFT * supports.reduce((total, one) => total + one, 0)) / supports.length;
}
