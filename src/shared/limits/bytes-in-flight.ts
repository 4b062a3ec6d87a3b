/**
 * Bytes in flight: the request bodies and upstream responses that an isolate holds in memory, counted in total and for each principal. A
 * body that does not fit is refused before it is read. A response waits for room, because its call has already been made; while it waits,
 * its server is not read.
 *
 * Invariants: the count is what the open requests hold, and zero if none is open. A request gives back what it holds when its last owner
 * releases it, however it ends. Small requests pass where large ones do not, so that one principal's large responses never stop the small
 * calls of another.
 */
import { PorticoError } from '../errors/portico-error.ts';
import { parsedWeight } from '../json/json-weight.ts';
import type { ByteLimits } from './limit-settings.ts';

/** A request that holds at most this many bytes is small. */
export const SMALL_BYTES = 65_536;
/** The share of each limit that is reserved for small requests, and the share that incomplete responses of unknown length may hold. */
const KEPT_FOR_SMALL = 1 / 8;
const FOR_PARTIAL = 1 / 4;
/** How often a waiting response checks for room, in milliseconds: the first in the queue, and the others. */
const FIRST_POLL_MS = 20;
const LATER_POLL_MS = 100;
const RETRY_AFTER_SECONDS = 1;
/** Texts of at most this many characters are not weighed. */
export const LIGHT_CHARS = 16_384;

interface Waiter {
  /** It may need more bytes than it waits for. */
  isPartial: boolean;
}

interface Count {
  used: number;
  /** The bytes of it that are held by responses that may need more. */
  partial: number;
}

interface PrincipalBytes extends Count {
  open: number;
  /** Requests that wait for room, the next one first. */
  readonly waiting: Waiter[];
}

/** Counts the bytes in flight of one isolate. */
export class BytesInFlight {
  readonly #limits: ByteLimits;
  readonly #principals = new Map<string, PrincipalBytes>();
  readonly #all: Count = { used: 0, partial: 0 };
  #openStreams = 0;

  constructor(limits: ByteLimits) {
    this.#limits = limits;
  }

  /** Bytes that all open requests hold. */
  get used(): number {
    return this.#all.used;
  }

  /** Requests that were opened and not released yet. */
  get open(): number {
    let open = 0;
    for (const principal of this.#principals.values()) open += principal.open;
    return open;
  }

  /** The open requests that end by themselves. */
  get underWay(): number {
    return this.open - this.#openStreams;
  }

  /** Opens a request of a principal; it holds nothing yet. Its opener releases it. @param isStream it ends when its client goes */
  request(principalId: string, isStream = false): RequestBytes {
    let principal = this.#principals.get(principalId);
    if (!principal) {
      principal = { used: 0, partial: 0, open: 0, waiting: [] };
      this.#principals.set(principalId, principal);
    }
    principal.open += 1;
    this.#openStreams += Number(isStream);
    const own = principal;
    const all = this.#all;
    const { isolateBytes, principalBytes } = this.#limits;
    return new RequestBytes({
      limits: this.#limits,
      waiting: own.waiting,
      hasRoom(bytes, isSmall, isPartial) {
        const part = isSmall ? 1 : 1 - KEPT_FOR_SMALL;
        if (all.used + bytes > isolateBytes * part) return false;
        if (own.used + bytes > principalBytes * part) return false;
        if (!isPartial) return true;
        return (
          all.partial + bytes <= isolateBytes * FOR_PARTIAL &&
          own.partial + bytes <= principalBytes * FOR_PARTIAL
        );
      },
      add(bytes, partial) {
        for (const count of [all, own]) {
          count.used += bytes;
          count.partial += partial;
        }
      },
      close: () => {
        own.open -= 1;
        this.#openStreams -= Number(isStream);
        if (own.open === 0) this.#principals.delete(principalId);
      },
    });
  }
}

/** Keyed by their limits; a deployment has one set of limits. */
const counts = new Map<string, BytesInFlight>();

/** Returns the count of this isolate, shared by the Worker and its objects. It belongs to no caller, and is zero when idle. */
export function bytesOfIsolate(limits: ByteLimits): BytesInFlight {
  const key = JSON.stringify(limits);
  const count = counts.get(key) ?? new BytesInFlight(limits);
  counts.set(key, count);
  return count;
}

interface Account {
  limits: ByteLimits;
  waiting: Waiter[];
  hasRoom(bytes: number, isSmall: boolean, isPartial: boolean): boolean;
  add(bytes: number, partial: number): void;
  close(): void;
}

/** The bytes that one request holds. */
export class RequestBytes {
  readonly #account: Account;
  #held = 0;
  /** The part of it that is the parsed body, and the part that is an incomplete response. */
  #parsed = 0;
  #partial = 0;
  #owners = 1;

  constructor(account: Account) {
    this.#account = account;
  }

  get stalledMs(): number {
    return this.#account.limits.stalledMs;
  }

  /** Bytes that this request holds. */
  get held(): number {
    return this.#held;
  }

  /** Takes more bytes if there is room now. A released request gets none. */
  take(bytes: number, isPartial = false): boolean {
    if (this.#owners === 0) return false;
    const isSmall = this.#held + bytes <= SMALL_BYTES;
    if (!this.#account.hasRoom(bytes, isSmall, isPartial)) return false;
    this.#held += bytes;
    const partial = isPartial ? bytes : 0;
    this.#partial += partial;
    this.#account.add(bytes, partial);
    return true;
  }

  /** Gives back some of the bytes. */
  give(bytes: number): void {
    const given = Math.min(bytes, this.#held);
    this.#held -= given;
    this.#account.add(-given, 0);
  }

  /**
   * Takes the bytes of the body that are being read.
   * @throws PorticoError `busy`, or `payload_too_large` if there will never be room
   */
  takeBody(bytes: number): void {
    if (!this.take(bytes)) throw this.#bodyRefusal(bytes);
  }

  /**
   * Takes what a body needs once it is parsed, until `dropParsed`.
   * @param most limit for one body
   * @throws PorticoError as `takeBody`
   */
  takeParsed(text: string, most: number): void {
    if (text.length <= LIGHT_CHARS) return;
    const bytes = parsedWeight(text);
    if (bytes > most) throw tooLarge();
    if (!this.take(bytes)) throw this.#bodyRefusal(bytes);
    this.#parsed += bytes;
  }

  /** Gives back the bytes of the parsed body, which is no longer needed. */
  dropParsed(): void {
    this.give(this.#parsed);
    this.#parsed = 0;
  }

  /**
   * Takes more bytes for a response as soon as there is room.
   * @param isPartial the response is incomplete and may need more
   * @returns a promise only if it has to wait
   * @throws PorticoError `upstream_too_large` if there is never room, `upstream_no_room` if the wait takes too long; the signal's reason
   */
  wait(bytes: number, isPartial = false, signal?: AbortSignal): Promise<void> | undefined {
    const { waiting } = this.#account;
    const isSmall = this.#held + bytes <= SMALL_BYTES;
    if ((isSmall || waiting.length === 0) && this.take(bytes, isPartial)) {
      if (!isPartial) this.settle();
      return undefined;
    }
    if (!this.#mayEverHold(bytes)) {
      throw new PorticoError('upstream_too_large', 'The answer takes more memory than is allowed');
    }
    return this.#inLine(bytes, isPartial, isSmall, signal);
  }

  async #inLine(
    bytes: number,
    isPartial: boolean,
    isSmall: boolean,
    signal?: AbortSignal,
  ): Promise<void> {
    const { waiting, limits } = this.#account;
    const until = Date.now() + limits.waitMs;
    const waiter: Waiter = { isPartial };
    // A waiter that needs no more than this will end and give its bytes back, so it goes before those that may need more.
    const before = isPartial ? -1 : waiting.findIndex(other => other.isPartial);
    waiting.splice(before === -1 ? waiting.length : before, 0, waiter);
    try {
      for (;;) {
        const isFirst = waiting[0] === waiter;
        if ((isFirst || isSmall) && this.take(bytes, isPartial)) break;
        if (this.#owners === 0 || Date.now() >= until) throw new PorticoError('upstream_no_room');
        await after(isFirst ? FIRST_POLL_MS : LATER_POLL_MS, signal);
        signal?.throwIfAborted();
      }
    } finally {
      waiting.splice(waiting.indexOf(waiter), 1);
    }
    if (!isPartial) this.settle();
  }

  /** The response is complete and needs no more bytes. */
  settle(): void {
    if (this.#partial === 0) return;
    this.#account.add(0, -this.#partial);
    this.#partial = 0;
  }

  /** Adds an owner of what the request holds. @returns removes that owner; only the first call has an effect */
  retain(): () => void {
    this.#owners += 1;
    let isRetained = true;
    return () => {
      if (!isRetained) return;
      isRetained = false;
      this.release();
    };
  }

  /** Removes an owner; the last one gives everything back. */
  release(): void {
    if (this.#owners === 0) return;
    this.#owners -= 1;
    if (this.#owners > 0) return;
    this.settle();
    this.give(this.#held);
    this.#account.close();
  }

  #mayEverHold(bytes: number): boolean {
    const { isolateBytes, principalBytes } = this.#account.limits;
    return this.#held + bytes <= Math.min(isolateBytes, principalBytes) * (1 - KEPT_FOR_SMALL);
  }

  #bodyRefusal(bytes: number): PorticoError {
    if (!this.#mayEverHold(bytes)) return tooLarge();
    return new PorticoError('busy', 'Too many bytes are in flight; try again later', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}

const tooLarge = () =>
  new PorticoError('payload_too_large', 'The body takes more memory than is allowed');

/** Waits for the given time, or until the signal aborts. */
function after(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise(resolve => {
    const onAbort = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
