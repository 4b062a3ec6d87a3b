/**
 * Sends the ends of calls from an isolate to their principals' objects. No call waits for that: an end is sent along with the next call
 * that begins, or soon after together with the others gathered so far. If an end is lost with its isolate, the lease of its call runs out
 * and the call ends as `unknown`. On one machine sending goes on until the row is in the database.
 */
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { CallEnd, CallShard } from '../../audit/calls/call-schema.ts';
import { LateRows } from '../../audit/late-rows.ts';

export interface CallEndsPorts {
  shardOf(principalId: string): Pick<CallShard, 'end' | 'settle'>;
  wait(ms: number): Promise<unknown>;
  now(): number;
  /** Whether the objects run on one machine, where a full disk loses their alarms; see `late-rows.ts`. */
  isOneMachine?: boolean;
}

/** Ends of one principal that wait to be sent. */
interface Waiting {
  ends: { end: CallEnd; since: number }[];
  /** When sending was last scheduled. */
  scheduledAt: number;
}

/** How long ends are gathered, in milliseconds; a call that begins meanwhile takes them along. */
const GATHER_MS = 20;
/** Waits before ends that may not have arrived are sent again, in milliseconds. */
const RETRY_MS = [250, 1_000, 4_000, 10_000];
/** Most ends in one message. */
const MAX_TAKEN = 256;

export class CallEnds {
  readonly #ports: CallEndsPorts;
  readonly #late: LateRows | undefined;
  readonly #waiting = new Map<string, Waiting>();

  constructor(ports: CallEndsPorts) {
    this.#ports = ports;
    this.#late = ports.isOneMachine ? new LateRows(ports) : undefined;
  }

  /** Takes the ends that a call of this principal sends along. Ends of the current millisecond may still be corrected, so they stay. */
  take(principalId: string): CallEnd[] {
    const ends = this.#waiting.get(principalId)?.ends;
    if (!ends || ends.length === 0) return [];
    const now = this.#ports.now();
    const ready = ends.findIndex(({ since }) => since >= now);
    return ends.splice(0, Math.min(MAX_TAKEN, ready === -1 ? ends.length : ready)).map(toEnd);
  }

  /** Puts back ends that were taken and may not have arrived. */
  giveBack(principalId: string, ends: readonly CallEnd[]): void {
    if (ends.length === 0) return;
    this.#of(principalId).ends.unshift(...ends.map(end => ({ end, since: 0 })));
  }

  /** Sends an end to its object together with others of its time. @param waitUntil runs what outlives the response */
  bring(principalId: string, end: CallEnd, waitUntil: WaitUntil): void {
    const now = this.#ports.now();
    const waiting = this.#of(principalId);
    waiting.ends.push({ end, since: now });
    // The request that scheduled the sending may have been cut off; after twice the time it was.
    if (now - waiting.scheduledAt < 2 * GATHER_MS) return;
    waiting.scheduledAt = now;
    waitUntil(this.#sendSoon(principalId));
  }

  /** Sends an end at once, from within an event after which no work may begin. */
  async bringNow(principalId: string, end: CallEnd): Promise<void> {
    const undelivered = await this.#sendAll(principalId, [end]);
    await this.#late?.see(principalId, undelivered);
  }

  async #sendSoon(principalId: string): Promise<void> {
    await this.#ports.wait(GATHER_MS);
    const waiting = this.#of(principalId);
    const ends = waiting.ends.splice(0).map(toEnd);
    this.#waiting.delete(principalId);
    const undelivered = await this.#sendAll(principalId, ends);
    await this.#late?.see(principalId, undelivered);
  }

  /** @returns the ends that did not arrive; they are left to their leases */
  async #sendAll(principalId: string, ends: readonly CallEnd[]): Promise<CallEnd[]> {
    const undelivered: CallEnd[] = [];
    for (let from = 0; from < ends.length; from += MAX_TAKEN) {
      const batch = ends.slice(from, from + MAX_TAKEN);
      if (!(await this.#sendWithRetry(principalId, batch))) undelivered.push(...batch);
    }
    return undelivered;
  }

  /** Retries until the ends have arrived or the waits are used up. */
  async #sendWithRetry(principalId: string, ends: readonly CallEnd[]): Promise<boolean> {
    for (const ms of [0, ...RETRY_MS]) {
      if (ms > 0) await this.#ports.wait(ms);
      if (await this.#send(principalId, ends)) return true;
    }
    return false;
  }

  async #send(principalId: string, ends: readonly CallEnd[]): Promise<boolean> {
    try {
      await this.#ports.shardOf(principalId).end(ends);
      return true;
    } catch {
      return false;
    }
  }

  #of(principalId: string): Waiting {
    const known = this.#waiting.get(principalId);
    if (known) return known;
    const waiting = { ends: [], scheduledAt: Number.NEGATIVE_INFINITY };
    this.#waiting.set(principalId, waiting);
    return waiting;
  }
}

const toEnd = ({ end }: { end: CallEnd }): CallEnd => end;
