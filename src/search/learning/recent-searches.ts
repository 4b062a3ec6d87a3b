/**
 * What was searched lately, in an isolate's memory: who called which of the tools that were found has used them for the words of the search. Bounded in
 * principals, searches of each, tools of each search, and time.
 */
import { Lru } from '../../shared/util/lru.ts';

/** A call this long after a search has to do with it, in milliseconds. */
export const RECENT_MS = 300_000;
const MAX_PRINCIPALS = 500;
/** Of one principal, the latest. */
const MAX_SEARCHES = 8;
/** Of one search, the best. */
const MAX_TOOLS = 10;

interface Search {
  at: number;
  words: readonly string[];
  /** Best first. */
  tools: readonly string[];
  /** Those that were called since. */
  called: Set<string>;
}

export class RecentSearches {
  readonly #byPrincipal = new Lru<string, Search[]>(MAX_PRINCIPALS);

  /** @param tools ids, best first */
  add(principalId: string, words: readonly string[], tools: readonly string[], at: number): void {
    if (words.length === 0 || tools.length === 0) return;
    const before = this.#recent(principalId, at).slice(1 - MAX_SEARCHES);
    const search = { at, words, tools: tools.slice(0, MAX_TOOLS), called: new Set<string>() };
    this.#byPrincipal.set(principalId, [...before, search]);
  }

  /**
   * A tool was called. Of the searches that found it, it belongs to the one that has it in the best place, and to the later of two; to each search
   * once.
   * @returns the words of that search; undefined where no search found it
   */
  take(principalId: string, tool: string, at: number): readonly string[] | undefined {
    let best: Search | undefined;
    let bestPlace = MAX_TOOLS;
    for (const search of this.#recent(principalId, at).toReversed()) {
      const place = search.called.has(tool) ? -1 : search.tools.indexOf(tool);
      if (place < 0 || place >= bestPlace) continue;
      [best, bestPlace] = [search, place];
    }
    best?.called.add(tool);
    return best?.words;
  }

  #recent(principalId: string, at: number): Search[] {
    const known = this.#byPrincipal.get(principalId) ?? [];
    return known.filter(search => search.at > at - RECENT_MS);
  }
}
