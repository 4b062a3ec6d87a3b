/**
 * An isolate's copy of the stored uses. It is read once an hour, by the search that finds it due, while that search reads its other data.
 * Other searches, and one whose read takes long, use the copy they have. A server whose catalog has changed since gets no lift until the
 * next read.
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
  /** Returns the keyed digest of a word. */
  digest(word: string): Promise<string>;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

/** Returns what learned uses add to a found tool, in log-odds. */
export type LiftOf = (server: Server, tool: string) => number;

interface Held {
  /** By word, then by tool. */
  uses: ReadonlyMap<string, ReadonlyMap<string, readonly Use[]>>;
  /** Catalog hash of each server when the uses were read. */
  catalogs: ReadonlyMap<string, string | null>;
  readAt: number;
}

const HELD_MS = 3_600_000;
/** How long a search waits for a read that is due, in milliseconds. */
const WAIT_MS = 250;
/** A read that has not ended by then was cut off or failed; a later search tries again. */
const RETRY_MS = 60_000;

export const toolId = (serverId: string, tool: string): string => `${serverId} ${tool}`;

export class LearnedUses {
  readonly #ports: LearnedUsesPorts;
  #held: Held | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;
  /** How many times the uses were forgotten. */
  #forgotten = 0;

  constructor(ports: LearnedUsesPorts) {
    this.#ports = ports;
  }

  /** Drops the copy, after the stored uses were deleted. */
  forget(): void {
    this.#forgotten += 1;
    this.#held = undefined;
    this.#triedAt = Number.NEGATIVE_INFINITY;
  }

  /** Returns the lift of tools for a principal's query; undefined where nothing was learned. */
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
    const forgotten = this.#forgotten;
    try {
      const held = { ...toHeld(await this.#ports.list(dayOf(at))), readAt: at };
      // A read that began before the uses were deleted may still have them.
      if (this.#forgotten === forgotten) this.#held = held;
    } catch {
      // The search goes on without uses; a later one tries again.
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
