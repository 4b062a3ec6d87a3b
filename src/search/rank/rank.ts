/**
 * Ranks the tools that take part, and only those, for a query: words (`lexical.ts`) and vectors (`semantic.ts`), with a model's where
 * available, are fused (`fusion.ts`) for each thing asked for (`query-odds.ts`); tools called by name come first (`names.ts`). Pure; the
 * same query over the same tools gives the same result, whatever order the catalogs arrive in.
 */
import { toScore } from './calibration.ts';
import type { Embedding } from '../text/embedding.ts';
import { toBest, withAdded } from './best.ts';
import { layOut } from '../index/held-layouts.ts';
import type { Parts, Searched } from '../index/part.ts';
import { MAX_QUERY_CHARS } from '../text/query.ts';
import { toNamed } from './names.ts';
import { TUNING, type Tuning } from './tuning.ts';
import { toQueryOdds } from './query-odds.ts';

export type { Searched } from '../index/part.ts';

/** One found tool. */
export interface Ranked {
  /** Index of its `Searched`. */
  searched: number;
  /** Its index there. */
  tool: number;
  /** 0 to 1, comparable across queries. */
  score: number;
}

/** What learned uses add to a found tool, in log-odds: it reorders nearly equal results. */
export type Lift = (searched: number, tool: number) => number;

/** Added to a tool that is called by name, to put it before all others; and the least its score then is. Both in log-odds. */
const NAMED = 1_000;
const NAMED_ODDS = 3;

/**
 * Returns the best tools for a query, best first; ties by server name, then tool name, in code units.
 * @param limit how many at most
 * @param modelVector the query's vector by the model that made the tools' vectors; absent where it is not used
 * @param lift changes the order of the results, never which tools are found; absent where nothing was learned
 */
export function rank(
  query: string,
  searched: readonly Searched[],
  embedding: Embedding,
  limit: number,
  tuning: Tuning = TUNING,
  modelVector?: Float32Array,
  lift?: Lift,
): Ranked[] {
  const all = layOut(searched, embedding);
  return rankParts(query, all, embedding, limit, tuning, modelVector, lift);
}

/** Does the same for tools that are already laid out. */
export function rankParts(
  query: string,
  all: Parts,
  embedding: Embedding,
  limit: number,
  tuning: Tuning,
  modelVector?: Float32Array,
  lift?: Lift,
): Ranked[] {
  const read = query.slice(0, MAX_QUERY_CHARS);
  const odds = toQueryOdds(read, all, embedding, tuning, modelVector);
  const named = toNamed(read, all);
  for (const place of named) odds[place] = (odds[place] ?? 0) + NAMED;
  const best = toBest(odds, all, limit);
  const ordered = lift ? withAdded(best, ({ part, tool }) => lift(part.searched, tool)) : best;
  return ordered.map(({ part, tool, value }) => {
    const isNamed = named.has(part.offset + tool);
    const own = isNamed ? Math.max(value - NAMED, NAMED_ODDS) : value;
    return { searched: part.searched, tool, score: toScore(own) };
  });
}
