/**
 * Timers of some lengths, held: what is to happen after such a time happens when the test says so, however long a call takes on a
 * machine that is busy. What was taken back by then never happens. Undone after each test (restoreMocks).
 */
import { vi } from 'vitest';
import { RequestTimers } from '../../../src/shared/util/request-timers.ts';

/** @returns lets the time of all that are still held be over */
export function holdTimers(...lengthsMs: number[]): () => void {
  return holdTimersThat(ms => lengthsMs.includes(ms)).elapse;
}

export interface HeldTimers {
  /** How many are held now. */
  count(): number;
  /** Lets the time of all that are still held be over. */
  elapse(): void;
}

/** @param isHeld by their length, in milliseconds */
export function holdTimersThat(isHeld: (ms: number) => boolean): HeldTimers {
  const { setTimeout: wait, clearTimeout: forget } = globalThis;
  const held = new Map<unknown, () => void>();
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms?: number) => {
    if (!isHeld(ms ?? 0)) return wait(work, ms);
    const timer = wait(() => undefined, 0);
    held.set(timer, work);
    return timer;
  }) as typeof setTimeout);
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation(timer => {
    if (!held.delete(timer)) forget(timer);
  });
  const set = RequestTimers.prototype.set;
  vi.spyOn(RequestTimers.prototype, 'set').mockImplementation(function (
    this: RequestTimers,
    ms: number,
    act: () => void,
  ) {
    if (!isHeld(ms)) return set.call(this, ms, act);
    const timer = {};
    held.set(timer, act);
    return () => held.delete(timer);
  });
  return {
    count: () => held.size,
    elapse() {
      for (const [timer, work] of held) {
        held.delete(timer);
        work();
      }
    },
  };
}
