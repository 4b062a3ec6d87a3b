/**
 * Gathers an isolate's uses for a while after the first, then writes them to the database in one batch. No call waits for it. A use written
 * in the last hour of the same day is not written again; one that cannot be written, or is lost with the isolate, is not learned.
 */
import { approvalId, fingerprintOf } from '../../servers/approvals/definition.ts';
import type { UsedTool } from '../../gateway/steps/note-use.ts';
import { fromRawMembers } from '../../shared/json/json-spans.ts';
import { Lru } from '../../shared/util/lru.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import { dayOf } from '../../shared/util/utc-day.ts';
import type { NewUse } from './uses.ts';

export interface GatheredUsesPorts {
  write(uses: readonly NewUse[], today: number): Promise<void>;
  /** Returns the keyed digest of a word. */
  digest(word: string): Promise<string>;
  gatherMs: number;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

/** One call of a tool, with the words of the search that found it. */
interface Gathered {
  principalId: string;
  tool: UsedTool;
  words: readonly string[];
  at: number;
}

/** Most uses that wait to be written; more are dropped. */
const MAX_GATHERED = 200;
const MAX_WRITTEN = 10_000;
/** How long a written use counts as written, in milliseconds: another isolate may have deleted it. */
export const WRITTEN_MS = 3_600_000;
/** A write that is this late was cut off with its request, and the next use starts another, in milliseconds. */
const CUT_OFF_MS = 5_000;

export class GatheredUses {
  readonly #ports: GatheredUsesPorts;
  #gathered: Gathered[] = [];
  /** When each use that was written was made. */
  #written = new Lru<string, number>(MAX_WRITTEN);
  #dueAt = Number.NEGATIVE_INFINITY;

  constructor(ports: GatheredUsesPorts) {
    this.#ports = ports;
  }

  add(principalId: string, tool: UsedTool, words: readonly string[], waitUntil: WaitUntil): void {
    const { now, gatherMs } = this.#ports;
    const at = now();
    const fresh = words.filter(word => !this.#isWritten(toKey(principalId, tool, word), at));
    if (fresh.length === 0) return;
    if (this.#gathered.length < MAX_GATHERED) {
      this.#gathered.push({ principalId, tool, words: fresh, at });
    }
    // Also where there was no room: the write that would make some may have been cut off.
    if (at < this.#dueAt + CUT_OFF_MS) return;
    this.#dueAt = at + gatherMs;
    waitUntil(this.#writeLater());
  }

  /** Writes every use again, after the stored uses were deleted. */
  forget(): void {
    this.#written = new Lru(MAX_WRITTEN);
  }

  #isWritten(key: string, at: number): boolean {
    const before = this.#written.get(key);
    return before !== undefined && at < before + WRITTEN_MS && dayOf(at) === dayOf(before);
  }

  async #writeLater(): Promise<void> {
    const { wait, write, gatherMs, now } = this.#ports;
    await wait(gatherMs);
    this.#dueAt = Number.NEGATIVE_INFINITY;
    const gathered = this.#gathered.splice(0);
    // If they are deleted while they are written, they do not count as written.
    const written = this.#written;
    try {
      const uses = await Promise.all(gathered.map(one => this.#toUses(one)));
      await write(uses.flat(), dayOf(now()));
    } catch {
      return;
    }
    for (const { principalId, tool, words, at } of gathered) {
      for (const word of words) written.set(toKey(principalId, tool, word), at);
    }
  }

  async #toUses({ principalId, tool, words, at }: Gathered): Promise<NewUse[]> {
    const [id, fingerprint, digests] = await Promise.all([
      approvalId(tool.server.id, 'tool', tool.item.key),
      fingerprintOf(fromRawMembers(tool.item.raw)),
      Promise.all(words.map(word => this.#ports.digest(word))),
    ]);
    const day = dayOf(at);
    return digests.map(word => ({ approvalId: id, fingerprint, word, principalId, day }));
  }
}

/** The catalog's hash is part of the key, so a changed definition is learned anew. */
const toKey = (principalId: string, { server, item }: UsedTool, word: string): string =>
  [principalId, server.id, server.catalogHash, item.key, word].join(' ');
