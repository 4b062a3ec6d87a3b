/**
 * The order in which streams are opened: to open one costs a client's object several writes to disk and a look at the caller's lists, so of
 * each principal a few are opened at the same time, and the calls of others pass between them.
 */
import { PorticoError } from '../errors/portico-error.ts';
import { Turns } from '../util/turns.ts';

/** Streams of a principal that are being opened at the same time, and how long one of them is waited for, in milliseconds. */
const AT_ONCE = 2;
const OPENING_MS = 2_000;
/** Longest time that one waits for its turn, in milliseconds. */
const MAX_WAIT_MS = 20_000;
const RETRY_AFTER_SECONDS = 10;

export class OpeningTurns {
  readonly #lines = new Map<string, Turns>();

  /**
   * Wait until a stream may be opened.
   * @returns to be called when it is open, or never will be; does nothing but once
   * @throws PorticoError `busy`
   */
  async wait(principalId: string): Promise<() => void> {
    const line = this.#lines.get(principalId) ?? new Turns(AT_ONCE, OPENING_MS);
    this.#lines.set(principalId, line);
    const turn = line.join();
    const leave = () => {
      turn.leave();
      if (line.size === 0 && this.#lines.get(principalId) === line) this.#lines.delete(principalId);
    };
    const until = Date.now() + MAX_WAIT_MS;
    while (!turn.isUp()) {
      if (Date.now() >= until) {
        leave();
        throw new PorticoError('busy', 'Too many streams are being opened; try again later', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      }
      await new Promise<void>(resolve => setTimeout(resolve, turn.pauseMs));
    }
    return leave;
  }
}
