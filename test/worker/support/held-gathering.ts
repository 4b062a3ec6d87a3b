/** Gathered reports of calls are held until the test settles, however long that takes, and are then written together. */
import { vi } from 'vitest';
import type { Portico } from './portico.ts';

/** How long is gathered, in milliseconds: no other wait has this length. */
const GATHER_MS = 23_456;

/** Settings with which a portico gathers. */
export const GATHER = {
  PORTICO_AUDIT_GATHER_MS: String(GATHER_MS),
  PORTICO_REPORT_INTERVAL_MS: String(GATHER_MS),
};

/** Until mocks are restored. @returns a function that settles a portico: only then does the gathering time end */
export function holdGathering(): (portico: Portico) => Promise<void> {
  const wait = scheduler.wait.bind(scheduler);
  let over = Promise.withResolvers<void>();
  vi.spyOn(scheduler, 'wait').mockImplementation((ms, options) =>
    ms === GATHER_MS ? over.promise : wait(ms, options),
  );
  return async portico => {
    over.resolve();
    await portico.settle();
    over = Promise.withResolvers<void>();
  };
}
