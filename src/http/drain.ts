/**
 * Stops a gateway on one machine: its host asks it to begin nothing new, and waits for what is under way. The host makes a key for this at
 * each start. Without a key, on Cloudflare, there is no `Drain` and no such route; to a request with a wrong key the route does not exist.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { BytesInFlight } from '../shared/limits/bytes-in-flight.ts';

export const DRAIN_PATH = '/local/drain';
/** Carries the key. */
export const DRAIN_HEADER = 'portico-drain';

/** Longest wait, in milliseconds. */
const MAX_WAIT_MS = 3_600_000;
const POLL_MS = 50;
/** Longest time for flushing memory, in milliseconds: the host waits a second longer than the `ms` that it sends. */
const FLUSH_MS = 700;
const RETRY_AFTER_SECONDS = 5;

export class Drain {
  readonly #key: string;
  readonly #bytes: Pick<BytesInFlight, 'underWay'>;
  readonly #flush: (ms: number) => Promise<void>;
  #isStopping = false;

  /**
   * @param key not empty
   * @param flush writes out what is kept in memory, within this many milliseconds
   */
  constructor(
    key: string,
    bytes: Pick<BytesInFlight, 'underWay'>,
    flush: (ms: number) => Promise<void>,
  ) {
    this.#key = key;
    this.#bytes = bytes;
    this.#flush = flush;
  }

  /** Whether the gateway begins nothing new. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Call before a request begins. @throws PorticoError `busy` */
  check(): void {
    if (!this.#isStopping) return;
    const details = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    throw new PorticoError('busy', 'The gateway is stopping', details);
  }

  /**
   * Handles the host's request: from now on nothing new begins. Responds with the number of requests under way, once there are none or the
   * `ms` of the query have passed.
   * @returns undefined if the request is not the host's
   */
  answer(request: Request, url: URL): Promise<Response> | undefined {
    const isHost = request.headers.get(DRAIN_HEADER) === this.#key;
    if (url.pathname !== DRAIN_PATH || request.method !== 'POST' || !isHost) return undefined;
    this.#isStopping = true;
    return this.#wait(Math.min(Number(url.searchParams.get('ms')) || 0, MAX_WAIT_MS));
  }

  async #wait(ms: number): Promise<Response> {
    for (let left = ms; left > 0 && this.#bytes.underWay > 0; left -= POLL_MS) {
      await new Promise(resolve => setTimeout(resolve, Math.min(POLL_MS, left)));
    }
    await this.#flush(FLUSH_MS);
    return Response.json({ under_way: this.#bytes.underWay });
  }
}
