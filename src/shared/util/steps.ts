/** A budget for work whose cost others decide: each step is counted, and the work is stopped when the budget is spent. */

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
