/**
 * Holds timers of certain lengths: they fire when the test says so, however long a call takes on a busy machine. Timers cleared by then
 * never fire. Undone after each test (restoreMocks).
 */
import { vi } from 'vitest';
import { RequestTimers } from '../../../src/http/deadline.ts';

/** @returns a function that fires all timers that are still held */
export function holdTimers(...lengthsMs: number[]): () => void {
  return holdTimersThat(ms => lengthsMs.includes(ms)).elapse;
}

export interface HeldTimers {
  /** How many are held now. */
  count(): number;
  /** Fires all timers that are still held. */
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

/** The same for timers of the platform only. */
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

/** The same for timers that requests set for themselves only. */
export function holdRequestTimersThat(
  isHeld: (ms: number) => boolean,
  held: Held = new Map(),
): HeldTimers {
  const spy = vi.spyOn(RequestTimers.prototype, 'set');
  // Timers that are already held stay held.
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
