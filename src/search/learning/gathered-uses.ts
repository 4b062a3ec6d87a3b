/**
 * Uses on their way from an isolate to the database: gathered for a while after the first, then written in one batch. No call waits for it. What
 * was written today is not written again; what cannot be written, or is lost with the isolate, was not learned.
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
  /** The keyed digest of a word. */
  digest(word: string): Promise<string>;
  gatherMs: number;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

/** Words that somebody used a tool for. */
interface Gathered {
  principalId: string;
  tool: UsedTool;
  words: readonly string[];
  day: number;
}

/** Most that waits; what comes beyond is not learned. */
const MAX_GATHERED = 200;
const MAX_WRITTEN = 10_000;
/** Who set out to write and is so late was cut off, in milliseconds. */
const CUT_OFF_MS = 5_000;

export class GatheredUses {
  readonly #ports: GatheredUsesPorts;
  #gathered: Gathered[] = [];
  /** The day on which a use was written last. */
  readonly #written = new Lru<string, number>(MAX_WRITTEN);
  #dueAt = Number.NEGATIVE_INFINITY;

  constructor(ports: GatheredUsesPorts) {
    this.#ports = ports;
  }

  add(principalId: string, tool: UsedTool, words: readonly string[], waitUntil: WaitUntil): void {
    const { now, gatherMs } = this.#ports;
    const day = dayOf(now());
    const fresh = words.filter(word => this.#written.get(toKey(principalId, tool, word)) !== day);
    if (fresh.length === 0 || this.#gathered.length >= MAX_GATHERED) return;
    this.#gathered.push({ principalId, tool, words: fresh, day });
    if (now() < this.#dueAt + CUT_OFF_MS) return;
    this.#dueAt = now() + gatherMs;
    waitUntil(this.#writeLater());
  }

  async #writeLater(): Promise<void> {
    const { wait, write, gatherMs, now } = this.#ports;
    await wait(gatherMs);
    this.#dueAt = Number.NEGATIVE_INFINITY;
    const gathered = this.#gathered.splice(0);
    try {
      const uses = await Promise.all(gathered.map(one => this.#toUses(one)));
      await write(uses.flat(), dayOf(now()));
    } catch {
      return;
    }
    for (const { principalId, tool, words, day } of gathered) {
      for (const word of words) this.#written.set(toKey(principalId, tool, word), day);
    }
  }

  async #toUses({ principalId, tool, words, day }: Gathered): Promise<NewUse[]> {
    const [id, fingerprint, digests] = await Promise.all([
      approvalId(tool.server.id, 'tool', tool.item.key),
      fingerprintOf(fromRawMembers(tool.item.raw)),
      Promise.all(words.map(word => this.#ports.digest(word))),
    ]);
    return digests.map(word => ({ approvalId: id, fingerprint, word, principalId, day }));
  }
}

/** The hash of the catalog is in it: a definition that changed is learned anew. */
const toKey = (principalId: string, { server, item }: UsedTool, word: string): string =>
  [principalId, server.id, server.catalogHash, item.key, word].join(' ');
