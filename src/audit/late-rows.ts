/**
 * Sees to it that rows of calls come out of their objects on one machine, whose disk may have been full: an alarm is lost then, and
 * nobody else comes to the object. Some time after calls have ended their object is asked to bring them, again and again until it has;
 * ends that it could not take go along.
 *
 * Invariants: one look at a principal at a time; a bounded number of principals and of ends, beyond which rows wait for the next call.
 */
import type { CallEnd, CallShard } from './calls/call-schema.ts';

export interface LateRowsPorts {
  shardOf(principalId: string): Pick<CallShard, 'end' | 'settle'>;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

/** Rows of one principal that may wait. */
interface Late {
  /** Ends that did not arrive. */
  ends: CallEnd[];
  /** Something ended after the last look began. */
  hasMore: boolean;
  /** When the next look is due. */
  dueAt: number;
}

/** Waits before a look, in milliseconds: doubled from the first to the last while looks fail. */
const LOOK_MS = { first: 5_000, last: 20_000 };
/** Who is so late for a look was cut off. */
const CUT_OFF_MS = 30_000;
/** Most principals, and most ends of one: as many as are one message. */
const MAX = { principals: 1_000, ends: 256 };

export class LateRows {
  readonly #ports: LateRowsPorts;
  readonly #late = new Map<string, Late>();

  constructor(ports: LateRowsPorts) {
    this.#ports = ports;
  }

  /**
   * Calls of a principal have ended. Settles when their rows are out, or at once where somebody looks already.
   * @param undelivered ends that their object did not take
   */
  async see(principalId: string, undelivered: readonly CallEnd[]): Promise<void> {
    const { wait, now } = this.#ports;
    const late = this.#of(principalId);
    if (!late) return;
    late.ends.push(...undelivered.slice(0, MAX.ends - late.ends.length));
    late.hasMore = true;
    if (now() < late.dueAt + CUT_OFF_MS) return;
    let ms = LOOK_MS.first;
    while (late.hasMore) {
      late.dueAt = now() + ms;
      await wait(ms);
      const isOut = await this.#look(principalId, late);
      ms = isOut ? LOOK_MS.first : Math.min(ms * 2, LOOK_MS.last);
    }
    this.#late.delete(principalId);
  }

  /** @returns whether everything that had ended before is in the database */
  async #look(principalId: string, late: Late): Promise<boolean> {
    const ends = late.ends.splice(0);
    late.hasMore = false;
    try {
      const shard = this.#ports.shardOf(principalId);
      if (ends.length > 0) await shard.end(ends);
      await shard.settle();
      return true;
    } catch {
      late.ends.unshift(...ends);
      late.ends.splice(MAX.ends);
      late.hasMore = true;
      return false;
    }
  }

  #of(principalId: string): Late | undefined {
    const known = this.#late.get(principalId);
    if (known || this.#late.size >= MAX.principals) return known;
    const late = { ends: [], hasMore: false, dueAt: Number.NEGATIVE_INFINITY };
    this.#late.set(principalId, late);
    return late;
  }
}
