/**
 * Ended calls of an isolate on their way to the database. Nothing waits for it: they are gathered, and handed over many at once, by the
 * first of them that ended or by whoever finds that there are enough. What an isolate that is cut off had gathered is lost, and no more.
 *
 * Invariants: no call is handed over twice, since a chunk keeps its id until it is there or can never come; what is held is bounded,
 * beyond which no call may leave.
 */
import type { CallChunk } from '../../audit/chunks/call-chunk.ts';
import type { AuditEvent } from '../../audit/audit-schema.ts';
import type { CallEnd, StartedCall } from '../../audit/calls/call-schema.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import { toTimeId } from '../../shared/util/time-id.ts';

export interface GatheredCallsPorts {
  /** Makes a chunk of calls (`toCallChunk`). */
  pack(id: string, events: readonly AuditEvent[]): Promise<CallChunk>;
  /** Writes a chunk; tells whether it is there then, and what time it is at the database, in milliseconds since the epoch. */
  write(chunk: CallChunk): Promise<{ isThere: boolean; now: number }>;
  /** Wakes who seals what was written; called now and then. */
  wakeChain(): Promise<unknown>;
  /** Calls are gathered this long at most, in milliseconds. */
  gatherMs: number;
  wait(ms: number): Promise<unknown>;
  now(): number;
  /** Whether the isolate lives on with what it holds when its request is over. */
  isOneMachine: boolean;
}

/** A call that has ended. What it was begun with may still be on its way; its end may change within its millisecond. */
export interface EndedCall {
  principalId: string;
  started: Promise<StartedCall>;
  end: Pick<CallEnd, 'outcome' | 'code' | 'detail'>;
}

interface Gathered extends EndedCall {
  since: number;
}

/** A chunk on its way. */
interface Sending {
  events: readonly AuditEvent[];
  chunk: CallChunk;
  /** When it was tried last, which may have been cut off. */
  triedAt: number;
}

/** Calls in one chunk. */
const MAX_CALLS = 200;
/** Most calls that are held. With what a row may hold of arguments and names that is 40 MB, and in use a tenth of it. */
const MAX_HELD = 8_000;
/** Waits before a chunk is tried again, in milliseconds; on one machine the last of them again and again. */
const RETRY_MS = [0, 250, 1_000, 2_500];
const RETRY_ON_MS = 10_000;
/** A try, or a gathering, that is so late was cut off, in milliseconds. */
const CUT_OFF_MS = 5_000;
/** Who seals is woken this often at most, in milliseconds. */
const WAKE_GAP_MS = 300_000;
const LOOK_MS = 20;

export class GatheredCalls {
  readonly #ports: GatheredCallsPorts;
  #gathered: Gathered[] = [];
  readonly #sending = new Map<string, Sending>();
  #held = 0;
  /** When what is gathered is to be handed over. */
  #dueAt = Number.NEGATIVE_INFINITY;
  #isHandingOver = false;
  /** How far the clock of the database is ahead, as far as is known. */
  #aheadMs = 0;
  #wokenAt = Number.NEGATIVE_INFINITY;

  constructor(ports: GatheredCallsPorts) {
    this.#ports = ports;
  }

  /** Whether there is no room for another call. */
  get isFull(): boolean {
    return this.#held >= MAX_HELD;
  }

  /** A call has ended. @param isLast nothing may be begun after this */
  add(call: EndedCall, isLast: boolean, waitUntil: WaitUntil): void {
    const now = this.#ports.now();
    this.#gathered.push({ ...call, since: now });
    this.#held += 1;
    if (isLast) return waitUntil(this.#handOver(Number.POSITIVE_INFINITY));
    if (this.#gathered.length >= MAX_CALLS && !this.#isHandingOver) {
      this.#isHandingOver = true;
      return waitUntil(this.#handOverReady().finally(() => (this.#isHandingOver = false)));
    }
    // Who set out to hand over what was there may have been cut off.
    if (now < this.#dueAt + CUT_OFF_MS) return;
    this.#dueAt = now + this.#ports.gatherMs;
    waitUntil(this.#handOverLater());
  }

  /** Hands over what is there. Resolves when all of it is in the database, or after a time, in milliseconds. */
  async flush(ms: number): Promise<void> {
    const { now, wait } = this.#ports;
    const until = now() + ms;
    void this.#handOver(Number.POSITIVE_INFINITY);
    while (this.#held > 0 && now() < until) await wait(LOOK_MS);
  }

  async #handOverLater(): Promise<void> {
    await this.#ports.wait(this.#ports.gatherMs);
    this.#dueAt = Number.NEGATIVE_INFINITY;
    await this.#handOverReady();
  }

  async #handOverReady(): Promise<void> {
    const { now, wait } = this.#ports;
    const until = now() + 1;
    // What ended in this very millisecond may still be corrected.
    await wait(1);
    await this.#handOver(until);
  }

  /** @param before of the calls that had ended before this time */
  async #handOver(before: number): Promise<void> {
    const { now, pack } = this.#ports;
    const fresh = this.#gathered.findIndex(({ since }) => since >= before);
    const ready = this.#gathered.splice(0, fresh === -1 ? this.#gathered.length : fresh);
    for (let from = 0; from < ready.length; from += MAX_CALLS) {
      const calls = ready.slice(from, from + MAX_CALLS);
      const events = await Promise.all(calls.map(toEvent));
      const chunk = await pack(this.#newId(), events);
      this.#sending.set(chunk.id, { events, chunk, triedAt: Number.NEGATIVE_INFINITY });
    }
    const late = [...this.#sending.values()].filter(({ triedAt }) => triedAt + CUT_OFF_MS < now());
    await Promise.all(late.map(sending => this.#send(sending)));
  }

  async #send(sending: Sending): Promise<void> {
    const { isOneMachine, wait } = this.#ports;
    const most = isOneMachine ? Number.POSITIVE_INFINITY : RETRY_MS.length;
    for (let tries = 0; tries < most; tries += 1) {
      const ms = RETRY_MS[tries] ?? RETRY_ON_MS;
      sending.triedAt = this.#ports.now() + ms;
      if (ms > 0) await wait(ms);
      if (await this.#write(sending)) return;
    }
  }

  /** @returns whether it is there */
  async #write(sending: Sending, isRenamed = false): Promise<boolean> {
    const { chunk, events } = sending;
    const { write, pack, now } = this.#ports;
    try {
      const written = await write(chunk);
      if (written.isThere) {
        this.#held -= this.#sending.delete(chunk.id) ? chunk.calls : 0;
        await this.#wake();
        return true;
      }
      // Its time is over, so it can never come: it is another chunk now.
      this.#aheadMs = written.now - now();
      // Where this try was late, somebody else has seen that before.
      if (!this.#sending.delete(chunk.id)) return false;
      sending.chunk = await pack(this.#newId(), events);
      this.#sending.set(sending.chunk.id, sending);
    } catch {
      // It may be there or not; it is tried under the same id.
      return false;
    }
    return !isRenamed && this.#write(sending, true);
  }

  async #wake(): Promise<void> {
    const now = this.#ports.now();
    if (now < this.#wokenAt + WAKE_GAP_MS) return;
    this.#wokenAt = now;
    // Who is not woken now is woken with the next chunk.
    await this.#ports.wakeChain().catch(() => (this.#wokenAt = Number.NEGATIVE_INFINITY));
  }

  #newId(): string {
    return toTimeId(this.#ports.now() + this.#aheadMs);
  }
}

async function toEvent({ principalId, started, end }: EndedCall): Promise<AuditEvent> {
  const { detail, ...call } = await started;
  const { outcome, code } = end;
  const told: object = JSON.parse(detail);
  return { ...call, principalId, outcome, code, detail: { ...told, ...end.detail } };
}
