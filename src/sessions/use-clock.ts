/**
 * Decides when a client's object wakes up: once it may be idle, and sooner while it has streams to check. It stores only rarely that the
 * object is used, since that time needs no precision.
 */
export class UseClock {
  readonly #storage: DurableObjectStorage;
  readonly #idleMs: number;
  readonly #keepMs: number;
  #touchedAt = 0;

  /**
   * @param idleMs an object that was not used for this long is idle, in milliseconds
   * @param keepMs interval at which streams are checked, in milliseconds
   */
  constructor(storage: DurableObjectStorage, idleMs: number, keepMs: number) {
    this.#storage = storage;
    this.#idleMs = idleMs;
    this.#keepMs = keepMs;
  }

  /** Notes that the client is active. */
  async touch(): Promise<void> {
    const now = Date.now();
    if (now - this.#touchedAt < this.#idleMs / 10) return;
    this.#touchedAt = now;
    await this.#storage.put('touchedAt', now);
    if ((await this.#storage.getAlarm()) === null) await this.#storage.setAlarm(now + this.#idleMs);
  }

  /** The object is deleted: no alarm is left, and the next use sets one again. */
  async clear(): Promise<void> {
    this.#touchedAt = 0;
    await this.#storage.deleteAlarm();
  }

  /** Schedules a check of the streams. */
  async wakeSoon(): Promise<void> {
    const at = Date.now() + this.#keepMs;
    const set = await this.#storage.getAlarm();
    if (set === null || set > at) await this.#storage.setAlarm(at);
  }

  /**
   * Handles the alarm and sets the next one, where one is needed. While the object is in use without streams to check, none is needed:
   * whatever ends the use sets one.
   * @param keeps whether there are streams to check
   * @returns whether the object is idle; it then has to be deleted, with the alarm that is set in case that fails
   */
  async settle(isUsed: boolean, keeps: boolean): Promise<boolean> {
    const now = Date.now();
    const touchedAt = (await this.#storage.get<number>('touchedAt')) ?? 0;
    const usedAt = isUsed ? now : Math.max(touchedAt, this.#touchedAt);
    const idleAt = usedAt + this.#idleMs;
    if (idleAt <= now) {
      // In case the object is not deleted: the platform repeats a failed alarm only a few times.
      await this.#storage.setAlarm(now + this.#idleMs);
      return true;
    }
    if (keeps) await this.#storage.setAlarm(Math.min(idleAt, now + this.#keepMs));
    else if (isUsed) this.#touchedAt = 0;
    else await this.#storage.setAlarm(idleAt);
    return false;
  }
}
