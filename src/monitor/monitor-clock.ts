/**
 * When a monitor wakes, and for what: one alarm for checks, discoveries and changes of the server's row. Due times are in storage, so that
 * an alarm knows what it was set for, whenever it fires. Requests made while a cycle runs are kept for the next one.
 */
import { decidePutOffMs } from './monitor-schedule.ts';

/** The tasks that are due. */
export interface Due {
  check: boolean;
  discover: boolean;
  /** The time they were due, or now if that is later. */
  at: number;
}

/** Times of the next check and discovery; an absent one stays as it is. */
export interface Wanted {
  checkAt?: number;
  discoverAt?: number;
  /** When to read the server's row again. */
  wakeAt?: number;
}

interface Schedule {
  checkAt: number;
  discoverAt: number;
  /** Time to which the alarm was set. */
  alarmAt: number;
}

/** The stored part. A time that is absent equals the alarm's, so that consecutive cycles write the alarm only. */
interface Stored {
  checkAt?: number;
  /** Time of the next discovery; the name is stored. */
  lookAt?: number;
}

const KEY = 'schedule';
/** The tasks of a cycle that failed are due again after this time, in milliseconds. */
const FAILED_MS = 15_000;

export class MonitorClock {
  readonly #storage: DurableObjectStorage;
  #held: Schedule | undefined;
  #stored: Stored = {};

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Schedules tasks, unless they are scheduled earlier already. */
  async want({
    checkAt = Infinity,
    discoverAt = Infinity,
    wakeAt = Infinity,
  }: Wanted): Promise<void> {
    const schedule = await this.#load();
    schedule.checkAt = Math.min(schedule.checkAt, checkAt);
    schedule.discoverAt = Math.min(schedule.discoverAt, discoverAt);
    const soon = Math.min(checkAt, discoverAt, wakeAt);
    const alarm = await this.#storage.getAlarm();
    schedule.alarmAt = alarm ?? Infinity;
    // A late alarm will be postponed, and what is wanted at once must not wait for that: it is set anew, on time.
    const now = Date.now();
    const isLate = decidePutOffMs(now - schedule.alarmAt, 1) > 0;
    if (schedule.alarmAt > soon || (isLate && soon <= now)) {
      schedule.alarmAt = soon;
      await this.#storage.setAlarm(soon);
    }
    await this.#keep(schedule);
  }

  /** Handles an alarm. @returns whether it was so late that it was postponed; its tasks run with the next alarm */
  async putsOff(scheduledAt = Date.now()): Promise<boolean> {
    const now = Date.now();
    const ms = decidePutOffMs(now - scheduledAt, Math.random());
    if (ms === 0) return false;
    // Something may have been wanted since it fired.
    const alarm = await this.#storage.getAlarm();
    if (alarm === null || alarm > now + ms) await this.#storage.setAlarm(now + ms);
    return true;
  }

  /** Takes the tasks that the alarm came for. */
  async take(now: number): Promise<Due> {
    const schedule = await this.#load();
    const at = Math.max(now, schedule.alarmAt);
    const due = { check: schedule.checkAt <= at, discover: schedule.discoverAt <= at, at };
    if (due.check) schedule.checkAt = Infinity;
    if (due.discover) schedule.discoverAt = Infinity;
    return due;
  }

  /** Ends a cycle that failed: schedules its tasks again. */
  async putBack({ check, discover }: Due): Promise<void> {
    const at = Date.now() + FAILED_MS;
    await this.settle({
      wakeAt: at,
      ...(check && { checkAt: at }),
      ...(discover && { discoverAt: at }),
    });
  }

  /** Ends a cycle: schedules what it made due, what is still due, and what was requested meanwhile. */
  async settle(wanted: Wanted): Promise<void> {
    const { checkAt, discoverAt } = await this.#load();
    await this.want({
      checkAt: Math.min(checkAt, wanted.checkAt ?? Infinity),
      discoverAt: Math.min(discoverAt, wanted.discoverAt ?? Infinity),
      ...(wanted.wakeAt === undefined ? {} : { wakeAt: wanted.wakeAt }),
    });
  }

  /** Cancels everything. */
  async clear(): Promise<void> {
    this.#held = undefined;
    this.#stored = {};
    await this.#storage.deleteAlarm();
    await this.#storage.delete(KEY);
  }

  async #keep({ checkAt, discoverAt, alarmAt }: Schedule): Promise<void> {
    // Tasks of a running cycle are not stored: if the cycle never ends, they are due with the next alarm.
    const isStored = (at: number) => at !== alarmAt && at !== Infinity;
    const stored: Stored = {
      ...(isStored(checkAt) && { checkAt }),
      ...(isStored(discoverAt) && { lookAt: discoverAt }),
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
    // A concurrent load may have come first and changed it.
    if (this.#held) return this.#held;
    this.#stored = stored;
    // While an alarm runs, none is set: what is not stored is due.
    const alarmAt = alarm ?? 0;
    const { checkAt = alarmAt, lookAt: discoverAt = alarmAt } = stored;
    return (this.#held = { checkAt, discoverAt, alarmAt });
  }
}
