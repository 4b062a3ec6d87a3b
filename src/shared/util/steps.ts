/** A bound on work that somebody else decides on: what is done is counted, and stopped where there is no more. */

export class TooManySteps extends Error {}

export class Steps {
  #left: number;

  constructor(most: number) {
    this.#left = most;
  }

  /** @throws TooManySteps */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooManySteps('takes too long');
  }
}
