/**
 * Timers of some lengths, held: what is to happen after such a time happens when the test says so, however long a call takes on a
 * machine that is busy. What was taken back by then never happens. Undone after each test (restoreMocks).
 */
import { vi } from 'vitest';
import { RequestTimers } from '../../../src/http/deadline.ts';

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

const setTimer = RequestTimers.prototype.set;

type Held = Map<unknown, () => void>;

/** @param isHeld by their length, in milliseconds */
export function holdTimersThat(isHeld: (ms: number) => boolean): HeldTimers {
  const held: Held = new Map();
  holdPlatformTimersThat(isHeld, held);
  return holdRequestTimersThat(isHeld, held);
}

/** The same with the platform's, and no others. */
export function holdPlatformTimersThat(
  isHeld: (ms: number) => boolean,
  held: Held = new Map(),
): HeldTimers {
  const { setTimeout: wait, clearTimeout: forget } = globalThis;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms?: number) => {
    if (!isHeld(ms ?? 0)) return wait(work, ms);
    const timer = wait(() => undefined, 0);
    held.set(timer, work);
    return timer;
  }) as typeof setTimeout);
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation(timer => {
    if (!held.delete(timer)) forget(timer);
  });
  return heldTimers(held);
}

/** The same with those that requests set for themselves, and no others. */
export function holdRequestTimersThat(
  isHeld: (ms: number) => boolean,
  held: Held = new Map(),
): HeldTimers {
  const spy = vi.spyOn(RequestTimers.prototype, 'set');
  // Where others are held already, they stay so.
  const set = spy.getMockImplementation() ?? setTimer;
  spy.mockImplementation(function (this: RequestTimers, ms: number, act: () => void) {
    if (!isHeld(ms)) return set.call(this, ms, act);
    const timer = {};
    held.set(timer, act);
    return () => held.delete(timer);
  });
  return heldTimers(held);
}

const heldTimers = (held: Held): HeldTimers => ({
  count: () => held.size,
  elapse() {
    for (const [timer, work] of held) {
      held.delete(timer);
      work();
    }
  },
});
