/**
 * A queue in which a few may work at the same time while the others wait for their turn. No waiter is called back when
 * its turn comes: each polls by its own timer, because a promise of one request must not be awaited by another. A
 * waiter that neither polls nor leaves (its request was dropped) loses its place.
 */

/** A place in the queue. */
export interface Turn {
  /** Whether the holder may start now; once true, it counts as working. */
  isUp(): boolean;
  /** Time until the next poll is worthwhile, in milliseconds. */
  readonly pauseMs: number;
  /** Leaves the queue, after the work or without it; only the first call has an effect. */
  leave(): void;
}

interface Place {
  isAtWork: boolean;
  /** When it last polled, or began to work. */
  at: number;
}

/** A waiting place that was not polled for this long is lost, in milliseconds. */
const LOST_MS = 2_000;
const PAUSE_EACH_MS = 5;
const MAX_PAUSE_MS = 250;

export class Turns {
  readonly #atOnce: number;
  readonly #longestMs: number;
  readonly #now: () => number;
  #line: Place[] = [];

  /**
   * @param atOnce how many may work at the same time
   * @param longestMs a holder that works longer is no longer counted, in milliseconds
   */
  constructor(atOnce: number, longestMs: number, now: () => number = () => Date.now()) {
    this.#atOnce = atOnce;
    this.#longestMs = longestMs;
    this.#now = now;
  }

  /** Places in the queue, working and waiting. */
  get size(): number {
    return this.#line.length;
  }

  /** Joins the queue at its end. */
  join(): Turn {
    const place: Place = { isAtWork: false, at: this.#now() };
    this.#line.push(place);
    const ahead = () => Math.max(0, this.#line.indexOf(place));
    return {
      isUp: () => {
        if (place.isAtWork) return true;
        place.at = this.#now();
        this.#forgetLost();
        if (!this.#line.includes(place)) this.#line.push(place);
        if (ahead() >= this.#atOnce) return false;
        place.isAtWork = true;
        return true;
      },
      get pauseMs() {
        return Math.min(MAX_PAUSE_MS, PAUSE_EACH_MS * Math.max(1, ahead()));
      },
      leave: () => {
        this.#line = this.#line.filter(other => other !== place);
      },
    };
  }

  #forgetLost(): void {
    const now = this.#now();
    this.#line = this.#line.filter(
      ({ isAtWork, at }) => Math.abs(now - at) <= (isAtWork ? this.#longestMs : LOST_MS),
    );
  }
}
