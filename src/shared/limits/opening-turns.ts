/**
 * The order in which streams are opened. Opening one costs a client's object several writes to disk and a read of the caller's lists, so
 * only a few streams of each principal are opened at the same time, and other principals' calls run in between.
 */
import { PorticoError } from '../errors/portico-error.ts';
import { Turns } from '../util/turns.ts';

/** Streams of one principal that may be opening at the same time, and how long each of them may hold its turn, in milliseconds. */
const AT_ONCE = 2;
const OPENING_MS = 2_000;
/** Longest wait for a turn, in milliseconds. */
const MAX_WAIT_MS = 20_000;
const RETRY_AFTER_SECONDS = 10;

export class OpeningTurns {
  readonly #lines = new Map<string, Turns>();

  /**
   * Waits until a stream may be opened.
   * @returns to be called when the stream is open, or will never be; only the first call has an effect
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
