/**
 * When a monitor wakes, and for what: one alarm for checks, looks and changes of the server's row. What is due is in storage, so
 * that an alarm knows what it was set for whenever it comes. What is wanted while a round runs is kept for the next one.
 */
import { decidePutOffMs } from './monitor-schedule.ts';

/** What has come due. */
export interface Due {
  check: boolean;
  discover: boolean;
  /** The time it was due, or now where that is later. */
  at: number;
}

/** Times of the next check and look; absent where nothing changes about them. */
export interface Wanted {
  checkAt?: number;
  lookAt?: number;
  /** The server's row is to be read again. */
  wakeAt?: number;
}

interface Schedule {
  checkAt: number;
  lookAt: number;
  /** Time the alarm was set to. */
  alarmAt: number;
}

/** What of it is stored: a time that is not is that of the alarm, so that one round after the other writes the alarm only. */
type Stored = Partial<Pick<Schedule, 'checkAt' | 'lookAt'>>;

const KEY = 'schedule';

export class MonitorClock {
  readonly #storage: DurableObjectStorage;
  #held: Schedule | undefined;
  #stored: Stored = {};

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Have something done at a time, if it would not be earlier. */
  async want({ checkAt = Infinity, lookAt = Infinity, wakeAt = Infinity }: Wanted): Promise<void> {
    const schedule = await this.#load();
    schedule.checkAt = Math.min(schedule.checkAt, checkAt);
    schedule.lookAt = Math.min(schedule.lookAt, lookAt);
    const soon = Math.min(checkAt, lookAt, wakeAt);
    const alarm = await this.#storage.getAlarm();
    schedule.alarmAt = alarm ?? Infinity;
    if (schedule.alarmAt > soon) {
      schedule.alarmAt = soon;
      await this.#storage.setAlarm(soon);
    }
    await this.#keep(schedule);
  }

  /** An alarm came. @returns whether it was so late that it was put off; what it came for is due with the next one */
  async putsOff(scheduledAt = Date.now()): Promise<boolean> {
    const now = Date.now();
    const ms = decidePutOffMs(now - scheduledAt, Math.random());
    if (ms > 0) await this.#storage.setAlarm(now + ms);
    return ms > 0;
  }

  /** What the alarm came for; taken. */
  async take(now: number): Promise<Due> {
    const schedule = await this.#load();
    const at = Math.max(now, schedule.alarmAt);
    const due = { check: schedule.checkAt <= at, discover: schedule.lookAt <= at, at };
    if (due.check) schedule.checkAt = Infinity;
    if (due.discover) schedule.lookAt = Infinity;
    return due;
  }

  /** A round is over: what it makes due, beside what stays due and what was wanted meanwhile. */
  async settle(wanted: Wanted): Promise<void> {
    const { checkAt, lookAt } = await this.#load();
    await this.want({
      checkAt: Math.min(checkAt, wanted.checkAt ?? Infinity),
      lookAt: Math.min(lookAt, wanted.lookAt ?? Infinity),
      ...(wanted.wakeAt === undefined ? {} : { wakeAt: wanted.wakeAt }),
    });
  }

  /** Nothing is due any more. */
  async clear(): Promise<void> {
    this.#held = undefined;
    this.#stored = {};
    await this.#storage.deleteAlarm();
    await this.#storage.delete(KEY);
  }

  async #keep({ checkAt, lookAt, alarmAt }: Schedule): Promise<void> {
    // What a round is about to decide is not stored: should it never end, it is due with the next alarm.
    const isStored = (at: number) => at !== alarmAt && at !== Infinity;
    const stored: Stored = {
      ...(isStored(checkAt) && { checkAt }),
      ...(isStored(lookAt) && { lookAt }),
    };
    if (stored.checkAt === this.#stored.checkAt && stored.lookAt === this.#stored.lookAt) return;
    this.#stored = stored;
    await (Object.keys(stored).length === 0
      ? this.#storage.delete(KEY)
      : this.#storage.put(KEY, stored));
  }

  async #load(): Promise<Schedule> {
    if (this.#held) return this.#held;
    const [stored = {}, alarm] = await Promise.all([
      this.#storage.get<Stored>(KEY),
      this.#storage.getAlarm(),
    ]);
    // Whoever loaded it meanwhile may have changed it.
    if (this.#held) return this.#held;
    this.#stored = stored;
    // In an alarm there is none any more: what is not stored is due.
    const alarmAt = alarm ?? 0;
    const { checkAt = alarmAt, lookAt = alarmAt } = stored;
    return (this.#held = { checkAt, lookAt, alarmAt });
  }
}
