/**
 * Ranks a query that may ask for several things or, where it is long, for one thing amid chatter. It is ranked as a whole and part by part.
 * Of a long query, parts with little evidence are ignored. Of a short one, the best tools of each task take turns ahead of what the whole
 * query finds. Tools that match what the query rules out are lowered. Pure.
 */
import type { Parts } from '../index/part.ts';
import type { Embedding } from '../text/embedding.ts';
import { toChattiness } from '../text/chatter.ts';
import { toClauses } from '../text/clauses.ts';
import { toTasks } from '../text/tasks.ts';
import { toQuery } from '../text/query.ts';
import { toBest } from './best.ts';
import { toEvidenceOdds, toOdds, type Evidence } from './calibration.ts';
import { toFused } from './fusion.ts';
import { isTermHeld, toCeiling, toLexicalScores } from './lexical.ts';
import { toCosines, toModelCosines } from './semantic.ts';
import type { Tuning } from './tuning.ts';

/** How many parts are ranked one by one. */
const MAX_READ_PARTS = 4;

/** The ranking of one text. */
export interface Reading {
  fused: Float64Array;
  evidence: Evidence;
  /** Log-odds that its best tool is right. */
  odds: number;
}

/** The ranking of one part of a query. */
interface ClauseReading extends Reading {
  text: string;
}

/** The model's vector of a query, and the share of the query that is ranked, 0 to 1. */
interface Model {
  vector: Float32Array;
  share: number;
}

/** Ranks one text. @returns undefined where there is no tool */
function toReading(
  text: string,
  all: Parts,
  embedding: Embedding,
  tuning: Tuning,
  model?: Model,
): Reading | undefined {
  const { terms, vector, isForeign } = toQuery(text, embedding, term =>
    isTermHeld(term, all, tuning),
  );
  const lexical = toLexicalScores(terms, all, tuning);
  const cosines = toCosines(vector, embedding.id, all, tuning);
  const modelCosines = model && toModelCosines(model.vector, all);
  const language = isForeign ? tuning.modelForeign : 1;
  const modelWeight = tuning.modelWeight * (model?.share ?? 0) * language;
  const fused = toFused(lexical, cosines, all, { ...tuning, modelWeight }, modelCosines);
  const [first] = toBest(fused, all, 1);
  if (!first) return undefined;
  const place = first.part.offset + first.tool;
  const evidence = {
    fused: first.value,
    cosine: cosines[place] ?? 0,
    coverage: (lexical[place] ?? 0) / Math.max(toCeiling(terms, all.count), 1e-6),
  };
  return { fused, evidence, odds: toEvidenceOdds(evidence) };
}

/** Returns the log-odds of all places; -Infinity where the tool takes no part. */
export function toQueryOdds(
  query: string,
  all: Parts,
  embedding: Embedding,
  tuning: Tuning,
  modelVector?: Float32Array,
): Float64Array {
  const { whole, parts, excluded } = toClauses(query);
  const read = (text: string) => toReading(text, all, embedding, tuning);
  const isTalk = query.length > tuning.clauses.talk;
  const readings = toClauseReadings(isTalk ? leastTalking(parts) : toTasks(whole), read);
  const kept = isTalk ? withoutChatter(readings, tuning) : readings;
  const isAll = !isTalk || kept.length === parts.length;
  const task = isAll ? whole : kept.map(({ text }) => text).join('. ');
  const share = Math.min(task.length / whole.length, 1);
  const model = modelVector && { vector: modelVector, share };
  const main = toReading(task, all, embedding, tuning, model);
  const odds = new Float64Array(all.places).fill(-Infinity);
  if (!main) return odds;
  for (const place of all.taking) odds[place] = toOdds(main.fused[place] ?? 0, main.evidence);
  if (!isTalk) letTakeTurns(odds, main, kept, all, tuning);
  for (const text of excluded) {
    const ruledOut = read(text);
    if (ruledOut) lower(odds, ruledOut, all, tuning);
  }
  return odds;
}

/** Gives each task an equal claim to the first places, whatever its evidence. */
function letTakeTurns(
  odds: Float64Array,
  main: Reading,
  clauses: readonly ClauseReading[],
  all: Parts,
  { clauses: { turns, step } }: Tuning,
): void {
  const most = Math.max(main.odds, ...clauses.map(one => one.odds));
  for (const { fused } of clauses) {
    toBest(fused, all, turns).forEach(({ part, tool }, turn) => {
      const place = part.offset + tool;
      odds[place] = Math.max(odds[place] ?? 0, most - step * turn);
    });
  }
}

/** Lowers the tools that match what is ruled out nearly as well as the best match does. */
function lower(
  odds: Float64Array,
  { fused, evidence }: Reading,
  all: Parts,
  { excluded: { from, weight } }: Tuning,
): void {
  for (const place of all.taking) {
    const share = (fused[place] ?? 0) / Math.max(evidence.fused, 1e-6);
    const over = Math.max(share - from, 0) / (1 - from);
    if (over > 0) odds[place] = (odds[place] ?? 0) - weight * over;
  }
}

/** Returns the few least chatty parts, in their order; ranking each costs as much as a query. */
function leastTalking(parts: readonly string[]): string[] {
  return parts
    .map((text, at) => ({ text, at, talk: toChattiness(text) }))
    .toSorted((a, b) => a.talk - b.talk || a.at - b.at)
    .slice(0, MAX_READ_PARTS)
    .toSorted((a, b) => a.at - b.at)
    .map(({ text }) => text);
}

function toClauseReadings(
  parts: readonly string[],
  read: (text: string) => Reading | undefined,
): ClauseReading[] {
  return parts.flatMap(text => {
    const reading = read(text);
    return reading ? [{ ...reading, text }] : [];
  });
}

/** Returns the parts that ask for something: those whose evidence, less a penalty for talk, is near the best. */
function withoutChatter(
  clauses: readonly ClauseReading[],
  { clauses: { behind, chatter } }: Tuning,
): ClauseReading[] {
  const adjusted = clauses.map(({ odds, text }) => odds - chatter * toChattiness(text));
  const most = Math.max(...adjusted);
  return clauses.filter((_, i) => (adjusted[i] ?? 0) >= most - behind);
}
