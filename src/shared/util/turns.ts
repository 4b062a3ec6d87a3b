/**
 * A line in which a few may be at work at the same time and the others wait for their turn. Nobody is called when a turn comes: who waits
 * looks by timers of its own, because a promise of one request must not be awaited by another. One that neither looks nor leaves (its
 * request was dropped) loses its place.
 */

/** A place in the line. */
export interface Turn {
  /** Whether it may go to work now; from then on it is at work. */
  isUp(): boolean;
  /** Time until it is worth to look again, in milliseconds. */
  readonly pauseMs: number;
  /** It is done, or waits no longer; does nothing but once. */
  leave(): void;
}

interface Place {
  isAtWork: boolean;
  /** When it last looked, or began to work. */
  at: number;
}

/** A place that waits and was not looked after for this long is lost, in milliseconds. */
const LOST_MS = 2_000;
const PAUSE_EACH_MS = 5;
const MAX_PAUSE_MS = 250;

export class Turns {
  readonly #atOnce: number;
  readonly #longestMs: number;
  readonly #now: () => number;
  #line: Place[] = [];

  /**
   * @param atOnce how many may be at work
   * @param longestMs who is at work longer is not counted any more, in milliseconds
   */
  constructor(atOnce: number, longestMs: number, now: () => number = () => Date.now()) {
    this.#atOnce = atOnce;
    this.#longestMs = longestMs;
    this.#now = now;
  }

  /** Those in line, at work and waiting. */
  get size(): number {
    return this.#line.length;
  }

  /** Stand in line, at its end. */
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
      ({ isAtWork, at }) => now - at <= (isAtWork ? this.#longestMs : LOST_MS),
    );
  }
}
