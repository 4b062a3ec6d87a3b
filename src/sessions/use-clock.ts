/**
 * When a client's object is woken: once it may be idle, and sooner while it has streams to look
 * after. Notes that it is used, rarely, since that only has to be roughly right.
 */
export class UseClock {
  readonly #storage: DurableObjectStorage;
  readonly #idleMs: number;
  readonly #keepMs: number;
  #touchedAt = 0;

  /**
   * @param idleMs an object nobody used for so long is idle, in milliseconds
   * @param keepMs streams are looked after this often, in milliseconds
   */
  constructor(storage: DurableObjectStorage, idleMs: number, keepMs: number) {
    this.#storage = storage;
    this.#idleMs = idleMs;
    this.#keepMs = keepMs;
  }

  /** The client is alive. */
  async touch(): Promise<void> {
    const now = Date.now();
    if (now - this.#touchedAt < this.#idleMs / 10) return;
    this.#touchedAt = now;
    await this.#storage.put('touchedAt', now);
    if ((await this.#storage.getAlarm()) === null) await this.#storage.setAlarm(now + this.#idleMs);
  }

  /** There are streams to look after. */
  async wakeSoon(): Promise<void> {
    const at = Date.now() + this.#keepMs;
    const set = await this.#storage.getAlarm();
    if (set === null || set > at) await this.#storage.setAlarm(at);
  }

  /**
   * The alarm rang: the next is set, where one is needed. While the object is used it is not: what ends
   * the use is told, and sets one.
   * @param keeps whether there are streams to look after
   * @returns whether the object is idle; then none is set
   */
  async settle(isUsed: boolean, keeps: boolean): Promise<boolean> {
    const now = Date.now();
    const touchedAt = (await this.#storage.get<number>('touchedAt')) ?? 0;
    const usedAt = isUsed ? now : Math.max(touchedAt, this.#touchedAt);
    const idleAt = usedAt + this.#idleMs;
    if (idleAt <= now) return true;
    if (keeps) await this.#storage.setAlarm(Math.min(idleAt, now + this.#keepMs));
    else if (isUsed) this.#touchedAt = 0;
    else await this.#storage.setAlarm(idleAt);
    return false;
  }
}
