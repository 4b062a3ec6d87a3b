/** Sessions that requests wait for: one request reads each, together with others that are waited for. */
import { Lru } from '../../shared/util/lru.ts';

/** Most sessions that are read at once. */
const AT_ONCE = 50;
const MAX_UNDER_WAY = 10_000;

export class WantedSessions {
  readonly #wanted = new Set<string>();
  /** Sessions being read, with the time when that began. */
  readonly #underWay = new Lru<string, number>(MAX_UNDER_WAY);
  readonly #longestMs: number;

  /** @param longestMs a read that takes longer counts as cut off, in milliseconds */
  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** Notes that a request waits for a session; undefined is none. @returns whether it is being read */
  want(id: string | undefined): boolean {
    if (id === undefined) return false;
    const since = this.#underWay.get(id);
    if (since !== undefined && Date.now() < since + this.#longestMs) return true;
    this.#wanted.add(id);
    return false;
  }

  /** Returns the sessions to read now: one, and others that are waited for. */
  take(id: string): string[] {
    const ids = [...new Set([id, ...this.#wanted])].slice(0, AT_ONCE);
    for (const taken of ids) {
      this.#wanted.delete(taken);
      this.#underWay.set(taken, Date.now());
    }
    return ids;
  }

  /** These sessions were read, or could not be. */
  leave(ids: readonly string[]): void {
    for (const id of ids) this.#underWay.delete(id);
  }
}
