/**
 * Reads clients' documents and keys from the web. Every address is checked, redirects are not followed, and size and time are bounded
 * (`http/guarded-fetch.ts`). The number of concurrent reads and of waiting ones is bounded too. A failed read is not repeated within some
 * seconds.
 */
import { AnswerRefused, createGuardedFetch } from '../../http/guarded-fetch.ts';
import { Lru } from '../../shared/util/lru.ts';
import { Turns } from '../../shared/util/turns.ts';
import { OAuthError } from '../oauth-error.ts';
import { freshnessOf } from './freshness.ts';

/** Longest time of one read, in milliseconds. */
const READ_MS = 5_000;
const AT_ONCE = 16;
const MOST_IN_LINE = 256;
/** Longest time a read waits for its turn, in milliseconds. */
const MAX_WAIT_MS = 3_000;
const MAX_FAILURES = 1_000;
const FAILURE_MS = 10_000;

/** What to read. */
export interface Wanted<T> {
  url: string;
  maxBytes: number;
  /** Its name in error messages. */
  what: string;
  /** @throws OAuthError */
  parse(text: string): T;
}

export class DocumentReader {
  readonly #allowsLoopback: boolean;
  readonly #now: () => number;
  readonly #turns = new Turns(AT_ONCE, 2 * READ_MS);
  readonly #failures = new Lru<string, { error: OAuthError; until: number }>(MAX_FAILURES);

  constructor(allowsLoopback: boolean, now: () => number) {
    this.#allowsLoopback = allowsLoopback;
    this.#now = now;
  }

  /**
   * @returns the parsed value, and until when it may be used, in milliseconds since the epoch
   * @throws OAuthError `invalid_client` if the address or the response is invalid, `temporarily_unavailable` if there was no response
   */
  async read<T>(wanted: Wanted<T>): Promise<{ value: T; freshUntil: number }> {
    const key = `${wanted.what} ${wanted.url}`;
    const failure = this.#failures.get(key);
    if (failure && failure.until > this.#now()) throw failure.error;
    const leave = await this.#wait(wanted.what);
    try {
      return await this.#request(wanted);
    } catch (thrown) {
      const error = toOAuthError(thrown, wanted.what);
      this.#failures.set(key, { error, until: this.#now() + FAILURE_MS });
      throw error;
    } finally {
      leave();
    }
  }

  async #request<T>({ url, maxBytes, what, parse }: Wanted<T>) {
    const fetch = createGuardedFetch(this.#allowsLoopback, AbortSignal.timeout(READ_MS), maxBytes);
    const response = await fetch(url, { headers: { accept: 'application/json' } });
    const { status, headers } = response;
    if (status >= 500 || status === 429) throw unavailable(`${what} cannot be fetched now`);
    const text = await response.text();
    if (status !== 200 || text === '') {
      throw new OAuthError('invalid_client', `There is no JSON at the address of ${what}`);
    }
    return { value: parse(text), freshUntil: this.#now() + freshnessOf(headers) };
  }

  async #wait(what: string): Promise<() => void> {
    if (this.#turns.size >= MOST_IN_LINE)
      throw unavailable(`${what}: too many are being fetched at once; try again`);
    const turn = this.#turns.join();
    const until = Date.now() + MAX_WAIT_MS;
    while (!turn.isUp()) {
      if (Date.now() >= until) {
        turn.leave();
        throw unavailable(`${what}: too many are being fetched at once; try again`);
      }
      await new Promise<void>(resolve => setTimeout(resolve, turn.pauseMs));
    }
    return () => turn.leave();
  }
}

const REFUSED = {
  address: 'its address is not allowed',
  redirect: 'its address redirects',
  size: 'it is too large',
} as const;

function toOAuthError(thrown: unknown, what: string): OAuthError {
  if (thrown instanceof OAuthError) return thrown;
  return thrown instanceof AnswerRefused
    ? new OAuthError('invalid_client', `${what}: ${REFUSED[thrown.reason]}`)
    : unavailable(`${what} cannot be fetched now`);
}

const unavailable = (description: string) => new OAuthError('temporarily_unavailable', description);
