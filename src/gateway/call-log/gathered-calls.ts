/**
 * Brings rows of an isolate's calls to the database. Rows of ended calls are gathered, and nothing waits for them: they are handed over
 * many at once, by the request that first had one or by the one that fills a chunk. Rows that a request waits for go with the next chunk
 * (`group-commit.ts`). An isolate that is cut off loses what it had gathered, and no more.
 *
 * Invariants: no row is written twice, since it leaves the gathered ones with the chunk that has it, and a chunk keeps its id until it is
 * stored or can no longer be stored; what is held is bounded in number and in bytes, and at that bound no further call is sent.
 */
import type { CallChunk } from '../../audit/chunks/call-chunk.ts';
import type { AuditEvent } from '../../audit/audit-schema.ts';
import type { CallEnd, StartedCall } from '../../audit/calls/call-schema.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import { toTimeId } from '../../shared/util/time-id.ts';

export interface GatheredCallsPorts {
  /** Packs calls into a chunk (`toCallChunk`), and gives a chunk another id (`withId`). */
  pack(id: string, events: readonly AuditEvent[]): Promise<CallChunk>;
  rename(chunk: CallChunk, id: string): Promise<CallChunk>;
  /** Writes a chunk; returns whether it is stored then, and the time of the database in milliseconds since the epoch. */
  write(chunk: CallChunk): Promise<{ isThere: boolean; now: number }>;
  /** Wakes the object that seals written chunks; called now and then. */
  wakeChain(): Promise<unknown>;
  /** How long calls are gathered at most, in milliseconds. */
  gatherMs: number;
  wait(ms: number): Promise<unknown>;
  now(): number;
  /** Whether the isolate lives on with what it holds after its request is over. */
  isOneMachine: boolean;
}

/** Makes the beginning of a call's row, the same each time. It runs together with others when rows are handed over: that costs half. */
export type MakeStarted = () => Promise<StartedCall>;

/** A call that has ended; its end may change within its millisecond. */
export interface EndedCall {
  principalId: string;
  started: MakeStarted;
  end: Pick<CallEnd, 'outcome' | 'code' | 'detail'>;
}

/** A row that a request waits for. */
export interface AwaitedRow {
  isStored: boolean;
}

interface Gathered extends EndedCall {
  since: number;
  awaited?: AwaitedRow;
  /** When its packing began; that may have been cut off. */
  packedAt: number;
}

/** A gathered call as a row. */
interface Read {
  call: Gathered;
  event: AuditEvent;
  /** Approximate characters of the row, without the parts that all rows share. */
  chars: number;
}

/** A chunk that is being written. */
interface Sending {
  chunk: CallChunk;
  awaited: AwaitedRow[];
  /** When it was last tried; that try may have been cut off. */
  triedAt: number;
}

/** Most rows in one chunk, and most characters, so that it fits into one row of the database (2 MB) in any case. */
const MAX_CHUNK = { calls: 200, chars: 400_000 };
/** Most rows that are held, and most bytes of chunks that could not be written yet. */
const MAX_HELD = { calls: 8_000, bytes: 16_777_216 };
/** Waits before a chunk is tried again, in milliseconds; on one machine `RETRY_ON_MS` follows without end. */
const RETRY_MS = [0, 250, 1_000, 2_500];
const RETRY_ON_MS = 10_000;
/** After this time a try or a gathering counts as cut off, in milliseconds. */
const CUT_OFF_MS = 5_000;
/** Shortest time between two wakes of the object that seals, in milliseconds. */
const WAKE_GAP_MS = 300_000;
const POLL_MS = 20;

export class GatheredCalls {
  readonly #ports: GatheredCallsPorts;
  readonly #gathered = new Set<Gathered>();
  readonly #sending = new Map<string, Sending>();
  #held = 0;
  #heldBytes = 0;
  #isFailing = false;
  /** When what is gathered is to be handed over. */
  #dueAt = Number.NEGATIVE_INFINITY;
  /** When the rows that filled a chunk began to be handed over; that may have been cut off. */
  #filledAt = Number.NEGATIVE_INFINITY;
  /** How far the clock of the database is ahead, as far as known. */
  #aheadMs = 0;
  #hasStored = false;
  #wokenAt = Number.NEGATIVE_INFINITY;

  constructor(ports: GatheredCallsPorts) {
    this.#ports = ports;
  }

  /** Whether there is room for another call. If not, what is held is handed over: no call is sent whose end would do that. */
  hasRoom(waitUntil: WaitUntil): boolean {
    if (this.#held < MAX_HELD.calls && this.#heldBytes < MAX_HELD.bytes) return true;
    this.#handOverFilled(waitUntil);
    return false;
  }

  /** Whether no write has succeeded since one failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Adds a call that has ended. @param isLast no work may begin after this */
  add(call: EndedCall, isLast: boolean, waitUntil: WaitUntil): void {
    const now = this.#ports.now();
    this.#gather({ ...call, since: now });
    if (isLast) return waitUntil(this.#handOverAll());
    if (this.#gathered.size >= MAX_CHUNK.calls && this.#handOverFilled(waitUntil)) return;
    // The request that was to hand over the rows may have been cut off.
    if (now < this.#dueAt + CUT_OFF_MS) return;
    this.#dueAt = now + this.#ports.gatherMs;
    waitUntil(this.#handOverLater());
  }

  /** @returns false where another request is at it */
  #handOverFilled(waitUntil: WaitUntil): boolean {
    const now = this.#ports.now();
    if (this.#filledAt + CUT_OFF_MS >= now) return false;
    this.#filledAt = now;
    waitUntil(this.#handOverReady().finally(() => (this.#filledAt = Number.NEGATIVE_INFINITY)));
    return true;
  }

  /** Adds a row that goes with the next `handOver`, from whichever request that comes. */
  hold(call: EndedCall): AwaitedRow {
    const awaited = { isStored: false };
    this.#gather({ ...call, since: Number.NEGATIVE_INFINITY, awaited });
    return awaited;
  }

  #gather(call: Omit<Gathered, 'packedAt'>): void {
    this.#gathered.add({ ...call, packedAt: Number.NEGATIVE_INFINITY });
    this.#held += 1;
  }

  /** Hands over everything. Resolves when all of it is in the database, or after a time, in milliseconds. */
  async flush(ms: number): Promise<void> {
    const { now, wait } = this.#ports;
    const until = now() + ms;
    void this.#handOverAll();
    while (this.#held > 0 && now() < until) await wait(POLL_MS);
  }

  /**
   * Hands over rows that requests wait for, rows of calls that ended before a time, and chunks tried earlier. Resolves when they are in the
   * database, or after some tries.
   */
  async handOver(before: number): Promise<void> {
    const { now, pack } = this.#ports;
    const at = now();
    const ready = [...this.#gathered].filter(
      ({ since, packedAt }) => since < before && packedAt + CUT_OFF_MS < at,
    );
    for (const call of ready) call.packedAt = at;
    // A row that cannot be made stays, and holds up no other.
    const made = await Promise.allSettled(ready.map(toRead));
    for (const rows of inChunks(made.flatMap(row => ('value' in row ? [row.value] : [])))) {
      const events = rows.map(({ event }) => event);
      const chunk = await pack(this.#newId(), events);
      // It took so long that another request packed them.
      if (!rows.every(({ call }) => this.#gathered.has(call))) continue;
      for (const { call } of rows) this.#gathered.delete(call);
      const awaited = rows.flatMap(({ call }) => call.awaited ?? []);
      this.#sending.set(chunk.id, { chunk, awaited, triedAt: Number.NEGATIVE_INFINITY });
      this.#heldBytes += chunk.body.length;
    }
    const late = [...this.#sending.values()].filter(({ triedAt }) => triedAt + CUT_OFF_MS < now());
    await Promise.all(late.map(sending => this.#send(sending)));
  }

  /** Wakes the object that seals, if that is due. */
  async wake(): Promise<void> {
    const now = this.#ports.now();
    if (!this.#hasStored || now < this.#wokenAt + WAKE_GAP_MS) return;
    this.#hasStored = false;
    this.#wokenAt = now;
    // A wake that failed is retried with the next chunk.
    await this.#ports.wakeChain().catch(() => (this.#wokenAt = Number.NEGATIVE_INFINITY));
  }

  async #handOverLater(): Promise<void> {
    await this.#ports.wait(this.#ports.gatherMs);
    this.#dueAt = Number.NEGATIVE_INFINITY;
    await this.#handOverReady();
  }

  async #handOverReady(): Promise<void> {
    const { now, wait } = this.#ports;
    const until = now() + 1;
    // The end of a call may still be corrected within its millisecond.
    await wait(1);
    await this.handOver(until);
    await this.wake();
  }

  async #handOverAll(): Promise<void> {
    await this.handOver(Number.POSITIVE_INFINITY);
    await this.wake();
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

  /** @returns whether the chunk is stored */
  async #write(sending: Sending, isRenamed = false): Promise<boolean> {
    const { chunk } = sending;
    const { write, rename, now } = this.#ports;
    try {
      const written = await write(chunk);
      if (written.isThere) {
        this.#isStored(sending, chunk);
        return true;
      }
      // The time of its id has passed, so it can never be stored: its rows become another chunk.
      this.#aheadMs = written.now - now();
      const renamed = await rename(chunk, this.#newId());
      // This try was late: another one has dealt with the chunk.
      if (!this.#sending.delete(chunk.id)) return false;
      sending.chunk = renamed;
      this.#sending.set(renamed.id, sending);
    } catch {
      // It may be stored or not; it is tried again under the same id.
      this.#isFailing = true;
      return false;
    }
    return !isRenamed && this.#write(sending, true);
  }

  #isStored({ awaited }: Sending, chunk: CallChunk): void {
    this.#isFailing = false;
    this.#hasStored = true;
    if (!this.#sending.delete(chunk.id)) return;
    this.#held -= chunk.calls;
    this.#heldBytes -= chunk.body.length;
    for (const row of awaited) row.isStored = true;
  }

  #newId(): string {
    return toTimeId(this.#ports.now() + this.#aheadMs);
  }
}

async function toRead(call: Gathered): Promise<Read> {
  const { principalId, end } = call;
  const { detail, ...started } = await call.started();
  const { outcome, code } = end;
  const facts: object = JSON.parse(detail);
  const event = { ...started, principalId, outcome, code, detail: { ...facts, ...end.detail } };
  return { call, event, chars: detail.length + started.subject.length };
}

/** Groups rows in their order, as many together as a chunk may hold. */
function inChunks(rows: readonly Read[]): Read[][] {
  const chunks: Read[][] = [];
  let room = { calls: 0, chars: 0 };
  for (const row of rows) {
    if (room.calls < 1 || room.chars < row.chars) {
      chunks.push([]);
      room = { ...MAX_CHUNK };
    }
    chunks.at(-1)?.push(row);
    room.calls -= 1;
    room.chars -= row.chars;
  }
  return chunks;
}
