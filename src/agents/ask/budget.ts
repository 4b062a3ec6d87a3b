/** Counts what one request has used of its budget; `decideBudget` judges it. */
import type { TokenCount } from '../../models/formats/dialect.ts';
import type { AskBudget } from './request-guard.ts';

export class AskMeter {
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #used = { calls: 0, questions: 0, tokens: 0 };
  #cost: number | undefined = undefined;

  constructor(now: () => number) {
    this.#now = now;
    this.#startedAt = now();
  }

  get spent(): AskBudget {
    return { ...this.#used, elapsedMs: this.#now() - this.#startedAt };
  }

  /** In US dollars; undefined where no price is known. */
  get cost(): number | undefined {
    return this.#cost;
  }

  /** Counts a question that leaves. */
  ask(): void {
    this.#used.questions += 1;
  }

  /** Counts a call that leaves. */
  call(): void {
    this.#used.calls += 1;
  }

  count({ input, output }: TokenCount, cost: number | undefined): void {
    this.#used.tokens += input + output;
    if (cost !== undefined) this.#cost = (this.#cost ?? 0) + cost;
  }
}
