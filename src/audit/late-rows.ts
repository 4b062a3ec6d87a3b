/**
 * Makes sure, on one machine, that rows of calls leave their objects. When a disk was full, an object's alarm is lost, and nothing else
 * wakes the object. So some time after calls have ended, their object is asked to export their rows, repeatedly until it has done so. Ends
 * that the object did not accept are sent along.
 *
 * Invariants: one attempt for a principal at a time; principals and ends are bounded, and rows beyond that wait for the next call.
 */
import type { CallEnd, CallShard } from './calls/call-schema.ts';

export interface LateRowsPorts {
  shardOf(principalId: string): Pick<CallShard, 'end' | 'settle'>;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

/** Rows of one principal that may still be in its object. */
interface Late {
  /** Ends that the object did not accept. */
  ends: CallEnd[];
  /** A call ended after the last attempt began. */
  hasMore: boolean;
  /** When the next attempt is due. */
  dueAt: number;
}

/** Delays before an attempt, in milliseconds: doubled from `first` up to `last` while attempts fail. */
const DELAY_MS = { first: 5_000, last: 20_000 };
/** An attempt that is this late was cut off, in milliseconds. */
const CUT_OFF_MS = 30_000;
/** Most principals, and most ends of one principal: as many as fit in one message. */
const MAX = { principals: 1_000, ends: 256 };

export class LateRows {
  readonly #ports: LateRowsPorts;
  readonly #late = new Map<string, Late>();

  constructor(ports: LateRowsPorts) {
    this.#ports = ports;
  }

  /**
   * Calls of a principal have ended. Settles when their rows are exported, or at once if an earlier call of `see` is still at work.
   * @param undelivered ends that their object did not accept
   */
  async see(principalId: string, undelivered: readonly CallEnd[]): Promise<void> {
    const { wait, now } = this.#ports;
    const late = this.#of(principalId);
    if (!late) return;
    late.ends.push(...undelivered.slice(0, MAX.ends - late.ends.length));
    late.hasMore = true;
    if (now() < late.dueAt + CUT_OFF_MS) return;
    let ms = DELAY_MS.first;
    while (late.hasMore) {
      late.dueAt = now() + ms;
      await wait(ms);
      const isOut = await this.#attempt(principalId, late);
      ms = isOut ? DELAY_MS.first : Math.min(ms * 2, DELAY_MS.last);
    }
    this.#late.delete(principalId);
  }

  /** @returns whether every call that had ended before is in the database */
  async #attempt(principalId: string, late: Late): Promise<boolean> {
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
