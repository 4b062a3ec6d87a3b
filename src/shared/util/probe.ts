/**
 * A probe that anybody may trigger without a credential, so its cost is bounded: a result is reused for a second, and
 * while a newer probe runs, and only a few probes run at once. A probe that hangs is abandoned. No request waits for
 * the probe of another request, which would end with that request.
 */

/** How long a result is reused. */
const AGE_MS = 1_000;
/** A probe that takes longer has failed. */
const LIMIT_MS = 3_000;
/** Most probes at once while there is no result yet. */
const AT_ONCE = 4;

export class Probe<Finding> {
  readonly #probe: () => Promise<Finding>;
  readonly #failed: Finding;
  #found: { at: number; finding: Finding } | undefined;
  /** Start times of the running probes. */
  #begun: number[] = [];

  /** @param failed result of a probe that fails, hangs, or exceeds the number allowed */
  constructor(probe: () => Promise<Finding>, failed: Finding) {
    this.#probe = probe;
    this.#failed = failed;
  }

  /** Returns a result that is at most a second old, or probes now. Never rejects. */
  async result(): Promise<Finding> {
    const now = Date.now();
    // A probe whose request was cancelled never reports its end. The clock may have been set back.
    this.#begun = this.#begun.filter(at => Math.abs(now - at) < LIMIT_MS);
    const known = this.#found;
    if (known && (this.#begun.length > 0 || Math.abs(now - known.at) < AGE_MS))
      return known.finding;
    if (this.#begun.length >= AT_ONCE) return this.#failed;
    this.#begun.push(now);
    const finding = await this.#within();
    const own = this.#begun.indexOf(now);
    // It may have been abandoned already.
    if (own >= 0) this.#begun.splice(own, 1);
    this.#found = { at: Date.now(), finding };
    return finding;
  }

  async #within(): Promise<Finding> {
    const { promise: late, resolve } = Promise.withResolvers<Finding>();
    const timer = setTimeout(() => resolve(this.#failed), LIMIT_MS);
    try {
      return await Promise.race([this.#probe(), late]);
    } catch {
      return this.#failed;
    } finally {
      clearTimeout(timer);
    }
  }
}
