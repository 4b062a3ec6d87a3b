/**
 * The end of a gateway on one machine: its host asks that nothing is begun any more, and waits for what is under way. The host makes a
 * key for that at each start; without one, on Cloudflare, there is no `Drain` and no such route, and with a wrong one there is none either.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { BytesInFlight } from '../shared/limits/bytes-in-flight.ts';

export const DRAIN_PATH = '/local/drain';
/** Carries the key. */
export const DRAIN_HEADER = 'portico-drain';

/** Longest wait, in milliseconds. */
const MAX_WAIT_MS = 3_600_000;
const LOOK_MS = 50;
/** Longest time for what is kept in memory, in milliseconds: the host waits a second longer than it says. */
const FLUSH_MS = 700;
const RETRY_AFTER_SECONDS = 5;

export class Drain {
  readonly #key: string;
  readonly #bytes: Pick<BytesInFlight, 'underWay'>;
  readonly #flush: (ms: number) => Promise<void>;
  #isStopping = false;

  /**
   * @param key not empty
   * @param flush brings out what is kept in memory, in so many milliseconds at most
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

  /** Whether nothing is begun any more. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** To be asked before a request is begun. @throws PorticoError `busy` */
  check(): void {
    if (!this.#isStopping) return;
    const details = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    throw new PorticoError('busy', 'The gateway is stopping', details);
  }

  /**
   * The host's request: from now on nothing is begun. Answers how many requests are under way, once there are none or `ms` of the query
   * is over. @returns undefined where it is none of the host's
   */
  answer(request: Request, url: URL): Promise<Response> | undefined {
    const isHost = request.headers.get(DRAIN_HEADER) === this.#key;
    if (url.pathname !== DRAIN_PATH || request.method !== 'POST' || !isHost) return undefined;
    this.#isStopping = true;
    return this.#wait(Math.min(Number(url.searchParams.get('ms')) || 0, MAX_WAIT_MS));
  }

  async #wait(ms: number): Promise<Response> {
    for (let left = ms; left > 0 && this.#bytes.underWay > 0; left -= LOOK_MS) {
      await new Promise(resolve => setTimeout(resolve, Math.min(LOOK_MS, left)));
    }
    await this.#flush(FLUSH_MS);
    return Response.json({ under_way: this.#bytes.underWay });
  }
}
