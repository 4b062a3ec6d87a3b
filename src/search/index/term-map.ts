/**
 * Which of many parts may have a term, so that a query looks into no others: 10,000 tools of a thousand servers share few words. It names
 * too many rather than too few, since whoever asks looks for the term there, and a part that it does not know is always named: so
 * answers are to the last bit what they are without it. It holds hashes and numbers of what was searched in this isolate, and
 * belongs to no caller. Bounded: beyond so many entries it begins anew.
 */
/** One term of one segment, or of one server's record, is an entry: some eight bytes. */
const MAX_ENTRIES = 1_000_000;

/** A part, as far as it is about terms. */
interface Termed {
  segment: { readonly termHashes: Uint32Array };
  server: { readonly terms: Uint32Array };
}

/** Gives the places, in the list of parts, of those that may have a term; each once. */
export type Having = (term: number) => readonly number[];

export class TermMap {
  readonly #maxEntries: number;
  /** Numbers of segments and records, by term. */
  #byTerm = new Map<number, number[]>();
  #numbers = new WeakMap<object, number>();
  #count = 0;
  #entries = 0;

  constructor(maxEntries = MAX_ENTRIES) {
    this.#maxEntries = maxEntries;
  }

  /** Learns what it does not know of these parts. */
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
    return term => {
      const numbers = this.#byTerm.get(term);
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

  /** The number of something that has these terms; undefined where there is no room for it. */
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
