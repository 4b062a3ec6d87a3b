/**
 * Recent searches, in an isolate's memory: a principal who calls a tool that a search found has used it for the words of that search.
 * Bounded in principals, searches per principal, tools per search, and time.
 */
import { Lru } from '../../shared/util/lru.ts';

/** A call within this time after a search is attributed to it, in milliseconds. */
export const RECENT_MS = 300_000;
const MAX_PRINCIPALS = 500;
/** Per principal, the latest. */
const MAX_SEARCHES = 8;
/** Per search, the best. */
const MAX_TOOLS = 10;

interface Search {
  at: number;
  words: readonly string[];
  /** Best first. */
  tools: readonly string[];
  /** Tools called since. */
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
   * Attributes a call to the search that ranked the tool best, or to the later of two that ranked it equally; once per search.
   * @returns the words of that search; undefined where no search found the tool
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
