/**
 * The ranking of a query: words (`lexical.ts`) and vectors (`semantic.ts`), a model's too where there are some, fused (`fusion.ts`), for what is asked for (`query-odds.ts`), tools that are called by name first (`names.ts`), over the tools that take part and nothing else. Pure;
 * the same query over the same tools gives the same answer, in whatever order the catalogs come.
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

/** One tool that was found. */
export interface Ranked {
  /** Index of the `Searched` it is in. */
  searched: number;
  /** Its place there. */
  tool: number;
  /** 0 to 1, comparable across queries. */
  score: number;
}

/** What use says of a tool that was found, in log-odds: it orders what is nearly equal. */
export type Lift = (searched: number, tool: number) => number;

/** What lifts a tool that is called by its name before all others; and what its score is at least, in log-odds. */
const NAMED = 1_000;
const NAMED_ODDS = 3;

/**
 * The best tools for a query, best first; equals by their server's name, then their own, in code units.
 * @param limit how many at most
 * @param modelVector what the model of the tools' vectors made of the query; absent where it is not asked
 * @param lift changes the order of what is found, never what is found; absent where nothing was learned
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

/** The same, of tools that are laid out. */
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
