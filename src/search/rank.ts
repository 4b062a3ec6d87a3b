/**
 * The ranking of a query: words (`lexical.ts`) and vectors (`semantic.ts`) fused (`fusion.ts`), over the tools that take part and nothing else. Pure;
 * the same query over the same tools gives the same answer, in whatever order the catalogs come.
 */
import type { Embedding } from './embedding.ts';
import { toFused } from './fusion.ts';
import { toLexicalScores } from './lexical.ts';
import { toParts, type Parts, type Searched } from './part.ts';
import { toCosines } from './semantic.ts';
import { hashText, toTerms } from './terms.ts';
import { TUNING, type Tuning } from './tuning.ts';

export type { Searched } from './part.ts';

/** One tool that was found. */
export interface Ranked {
  /** Index of the `Searched` it is in. */
  searched: number;
  /** Its place there. */
  tool: number;
  /** 0 to 1, comparable across queries. */
  score: number;
}

/** How much of a query is read, in UTF-16 code units. */
const MAX_QUERY_CHARS = 2_000;

/**
 * The best tools for a query, best first; equals by their server's name, then their own, in code units.
 * @param limit how many at most
 */
export function rank(
  query: string,
  searched: readonly Searched[],
  embedding: Embedding,
  limit: number,
  tuning: Tuning = TUNING,
): Ranked[] {
  const all = toParts(searched);
  const lexical = toLexicalScores(toQueryTerms(query), all, tuning);
  const vector = embedding.embed(query.slice(0, MAX_QUERY_CHARS));
  const cosines = toCosines(vector, embedding.id, all);
  const fused = toFused(lexical, cosines, all, tuning);
  return toBest(fused, all, searched, limit).map(({ place, part }) => ({
    searched: part,
    tool: place - (all.parts[part]?.offset ?? 0),
    score: 1 / (1 + Math.exp(-((fused[place] ?? 0) - 5))),
  }));
}

function toQueryTerms(query: string): Map<number, number> {
  const terms = new Map<number, number>();
  for (const term of toTerms(query, MAX_QUERY_CHARS)) {
    const hash = hashText(term);
    terms.set(hash, (terms.get(hash) ?? 0) + 1);
  }
  return terms;
}

interface Candidate {
  place: number;
  part: number;
}

/** The places with the largest numbers. */
function toBest(
  values: Float64Array,
  all: Parts,
  searched: readonly Searched[],
  limit: number,
): Candidate[] {
  const nameOf = ({ place, part }: Candidate): string =>
    all.parts[part]?.segment.nameOf(place - (all.parts[part]?.offset ?? 0)) ?? '';
  const serverOf = ({ part }: Candidate): string => searched[part]?.server.name ?? '';
  const least = toLeast(values, limit);
  const candidates: Candidate[] = [];
  all.parts.forEach(({ segment, offset }, part) => {
    for (let place = offset; place < offset + segment.size; place += 1) {
      const value = values[place] ?? -Infinity;
      if (value >= least && value !== -Infinity) candidates.push({ place, part });
    }
  });
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  return candidates
    .toSorted(
      (a, b) =>
        (values[b.place] ?? 0) - (values[a.place] ?? 0) ||
        compare(serverOf(a), serverOf(b)) ||
        compare(nameOf(a), nameOf(b)),
    )
    .slice(0, limit);
}

/** The number that the last of the best has. */
function toLeast(values: Float64Array, limit: number): number {
  if (limit >= values.length) return -Infinity;
  return values.toSorted()[values.length - limit] ?? -Infinity;
}
