/**
 * Tells which parts may contain a term, so that a query skips the others: 10,000 tools of a thousand servers share few words. It may name
 * too many parts but never too few: the caller looks the term up in each, and a part that is not in the map is always named, so results are
 * equal to the last bit with and without it. It holds hashes and numbers of what this isolate searched, and depends on no caller. Bounded:
 * when it would exceed its limit, it starts empty again. A cached layout (`held-layouts.ts`) keeps the map that it was made with until it is
 * evicted, so there may be as many maps as layouts, and one more.
 */
/** One term of one segment or server record is one entry, of some eight bytes. */
const MAX_ENTRIES = 1_000_000;

/** The terms of one part. */
interface Termed {
  segment: { readonly termHashes: Uint32Array };
  server: { readonly terms: Uint32Array };
}

/** Returns the indexes of the parts that may contain a term; each once. */
export type Having = (term: number) => readonly number[];

export class TermMap {
  readonly #maxEntries: number;
  /** Numbers of segments and server records, by term. */
  #byTerm = new Map<number, number[]>();
  #numbers = new WeakMap<object, number>();
  #count = 0;
  #entries = 0;

  constructor(maxEntries = MAX_ENTRIES) {
    this.#maxEntries = maxEntries;
  }

  /** Adds what is missing of these parts to the map and returns the lookup for them. */
  of(parts: readonly Termed[]): Having {
    if (this.#entries + this.#missing(parts) > this.#maxEntries) this.#clear();
    const places: number[][] = [];
    const unknown: number[] = [];
    parts.forEach(({ segment, server }, place) => {
      const own = this.#numberOf(segment, segment.termHashes);
      const shared = this.#numberOf(server, server.terms);
      if (own === undefined || shared === undefined) return void unknown.push(place);
      (places[own] ??= []).push(place);
      (places[shared] ??= []).push(place);
    });
    // After the map starts empty again, its numbers mean other owners.
    const byTerm = this.#byTerm;
    return term => {
      const numbers = byTerm.get(term);
      if (!numbers) return unknown;
      const found = new Set(unknown);
      for (const number of numbers) {
        for (const place of places[number] ?? []) found.add(place);
      }
      return [...found];
    };
  }

  #missing(parts: readonly Termed[]): number {
    let entries = 0;
    for (const { segment, server } of parts) {
      if (!this.#numbers.has(segment)) entries += segment.termHashes.length;
      if (!this.#numbers.has(server)) entries += server.terms.length;
    }
    return entries;
  }

  /** Returns the number of the owner of these terms, adding it to the map; undefined where there is no room. */
  #numberOf(owner: object, terms: Uint32Array): number | undefined {
    const known = this.#numbers.get(owner);
    if (known !== undefined) return known;
    if (this.#entries + terms.length > this.#maxEntries) return undefined;
    const number = this.#count;
    for (const term of terms) {
      const owners = this.#byTerm.get(term);
      if (owners) owners.push(number);
      else this.#byTerm.set(term, [number]);
    }
    this.#numbers.set(owner, number);
    this.#count += 1;
    this.#entries += terms.length;
    return number;
  }

  #clear(): void {
    this.#byTerm = new Map();
    this.#numbers = new WeakMap();
    this.#count = 0;
    this.#entries = 0;
  }
}
