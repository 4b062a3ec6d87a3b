/**
 * A look at something that anybody may ask for without a credential, so what it costs is bounded: what was found is told for a
 * second, also while somebody looks anew, and a few look at once at most. A look that hangs is given up. Nothing waits for the look
 * of another request, which would end with that request.
 */

/** What was found is told for so long. */
const AGE_MS = 1_000;
/** A look that takes longer has found nothing. */
const LIMIT_MS = 3_000;
/** Looks at once, while nothing was found yet. */
const AT_ONCE = 4;

export class Probe<Finding> {
  readonly #look: () => Promise<Finding>;
  readonly #failed: Finding;
  #found: { at: number; finding: Finding } | undefined;
  /** When the looks under way began. */
  #begun: number[] = [];

  /** @param failed what a look has found that fails, hangs, or is one too many */
  constructor(look: () => Promise<Finding>, failed: Finding) {
    this.#look = look;
    this.#failed = failed;
  }

  /** What was found a second ago at most, or is found now. Never rejects. */
  async ask(): Promise<Finding> {
    const now = Date.now();
    // The end of a look is not heard of where its request was cancelled.
    this.#begun = this.#begun.filter(at => now - at < LIMIT_MS);
    const known = this.#found;
    if (known && (this.#begun.length > 0 || now - known.at < AGE_MS)) return known.finding;
    if (this.#begun.length >= AT_ONCE) return this.#failed;
    this.#begun.push(now);
    const finding = await this.#within();
    const own = this.#begun.indexOf(now);
    // It may have been given up already.
    if (own >= 0) this.#begun.splice(own, 1);
    this.#found = { at: Date.now(), finding };
    return finding;
  }

  async #within(): Promise<Finding> {
    const { promise: late, resolve } = Promise.withResolvers<Finding>();
    const timer = setTimeout(() => resolve(this.#failed), LIMIT_MS);
    try {
      return await Promise.race([this.#look(), late]);
    } catch {
      return this.#failed;
    } finally {
      clearTimeout(timer);
    }
  }
}
