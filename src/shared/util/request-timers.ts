/**
 * The timers of one request. To set and clear one of the platform's costs more than most steps of a call, so those of a request share
 * one, set for the earliest; of a call that ends soon the others are never set at all.
 */

interface Entry {
  at: number;
  act: () => void;
}

export class RequestTimers {
  readonly #entries = new Set<Entry>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the platform's timer is over. */
  #at = Number.POSITIVE_INFINITY;

  /** Acts after a time, in milliseconds. @returns takes that back; does nothing once it has acted */
  set(ms: number, act: () => void): () => void {
    const entry = { at: Date.now() + ms, act };
    this.#entries.add(entry);
    if (entry.at < this.#at) this.#arm(entry.at, ms);
    return () => {
      this.#entries.delete(entry);
      if (this.#entries.size === 0) this.#disarm();
    };
  }

  #arm(at: number, ms: number): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#at = at;
    this.#timer = setTimeout(() => this.#act(at), ms);
  }

  #disarm(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#at = Number.POSITIVE_INFINITY;
  }

  /** @param now when the timer was to be over: a clock may be a little behind it */
  #act(now: number): void {
    this.#timer = undefined;
    this.#at = Number.POSITIVE_INFINITY;
    const due = [...this.#entries].filter(({ at }) => at <= now);
    for (const entry of due) this.#entries.delete(entry);
    const next = Math.min(...Array.from(this.#entries, ({ at }) => at));
    // What throws takes nothing from the others: they are set before anything acts, or act all the same.
    if (next < this.#at) this.#arm(next, Math.max(0, next - Date.now()));
    const thrown: unknown[] = [];
    for (const { act } of due) {
      try {
        act();
      } catch (error) {
        thrown.push(error);
      }
    }
    if (thrown.length > 0) throw thrown[0];
  }
}
