/**
 * What an isolate has of the uses there are, read once an hour by the search that finds them due, beside what that reads anyway. Others, and one for
 * which it takes long, go on with what there is. A server whose catalog is another by now is lifted by nothing, until it is read again.
 *
 * Invariant: no promise of one request is awaited by another.
 */
import type { Server } from '../../servers/registry/server-schema.ts';
import { dayOf } from '../../shared/util/utc-day.ts';
import { toLift, toSupport, type Use } from './lift.ts';
import type { LearnedUse } from './uses.ts';
import { toLearnedWords } from './words.ts';

export interface LearnedUsesPorts {
  list(today: number): Promise<LearnedUse[]>;
  /** The keyed digest of a word. */
  digest(word: string): Promise<string>;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

/** What use adds to a tool that was found, in log-odds. */
export type LiftOf = (server: Server, tool: string) => number;

interface Held {
  /** By word, then by tool. */
  uses: ReadonlyMap<string, ReadonlyMap<string, readonly Use[]>>;
  /** Hashes of the catalogs that they are of, by server. */
  catalogs: ReadonlyMap<string, string | null>;
  readAt: number;
}

const HELD_MS = 3_600_000;
/** A search waits so long for what is due. */
const WAIT_MS = 250;
/** A read that is so late was cut off or failed; another search tries again. */
const RETRY_MS = 60_000;

export const toolId = (serverId: string, tool: string): string => `${serverId} ${tool}`;

export class LearnedUses {
  readonly #ports: LearnedUsesPorts;
  #held: Held | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;

  constructor(ports: LearnedUsesPorts) {
    this.#ports = ports;
  }

  /** What was read is deleted. */
  forget(): void {
    this.#held = undefined;
    this.#triedAt = Number.NEGATIVE_INFINITY;
  }

  /** What use says to somebody of a query; undefined where it says nothing. */
  async liftOf(principalId: string, query: string): Promise<LiftOf | undefined> {
    const words = toLearnedWords(query);
    if (words.length === 0) return undefined;
    await this.#readWhereDue();
    const held = this.#held;
    if (!held || held.uses.size === 0) return undefined;
    const digests = await Promise.all(words.map(word => this.#ports.digest(word)));
    const byWord = digests.map(digest => held.uses.get(digest));
    const today = dayOf(this.#ports.now());
    return ({ id, catalogHash }, tool) => {
      if (held.catalogs.get(id) !== catalogHash) return 0;
      const usesOf = (uses: (typeof byWord)[number]) => uses?.get(toolId(id, tool)) ?? [];
      return toLift(byWord.map(uses => toSupport(usesOf(uses), principalId, today)));
    };
  }

  async #readWhereDue(): Promise<void> {
    const { now, wait } = this.#ports;
    const at = now();
    if (this.#held && at < this.#held.readAt + HELD_MS) return;
    if (at < this.#triedAt + RETRY_MS) return;
    this.#triedAt = at;
    await Promise.race([this.#read(at), wait(WAIT_MS)]);
  }

  async #read(at: number): Promise<void> {
    try {
      this.#held = { ...toHeld(await this.#ports.list(dayOf(at))), readAt: at };
    } catch {
      // The search goes on without; another one tries again.
    }
  }
}

function toHeld(all: readonly LearnedUse[]): Omit<Held, 'readAt'> {
  const uses = new Map<string, Map<string, Use[]>>();
  const catalogs = new Map<string, string | null>();
  for (const { serverId, tool, catalogHash, word, principalId, day } of all) {
    catalogs.set(serverId, catalogHash);
    const byTool = uses.get(word) ?? new Map<string, Use[]>();
    uses.set(word, byTool);
    const id = toolId(serverId, tool);
    const known = byTool.get(id);
    if (known) known.push({ principalId, day });
    else byTool.set(id, [{ principalId, day }]);
  }
  return { uses, catalogs };
}
