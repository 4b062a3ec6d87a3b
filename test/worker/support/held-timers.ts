/**
 * Timers of some lengths, held: what is to happen after such a time happens when the test says so, however long a call takes on a
 * machine that is busy. What was taken back by then never happens. Undone after each test (restoreMocks).
 */
import { vi } from 'vitest';

/** @returns lets the time of all that are still held be over */
export function holdTimers(...lengthsMs: number[]): () => void {
  const { setTimeout: wait, clearTimeout: forget } = globalThis;
  const held = new Map<unknown, () => void>();
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms?: number) => {
    if (!lengthsMs.includes(ms ?? 0)) return wait(work, ms);
    const timer = wait(() => undefined, 0);
    held.set(timer, work);
    return timer;
  }) as typeof setTimeout);
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation(timer => {
    if (!held.delete(timer)) forget(timer);
  });
  return () => {
    for (const [timer, work] of held) {
      held.delete(timer);
      work();
    }
  };
}
