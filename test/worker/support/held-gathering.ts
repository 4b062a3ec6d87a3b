/** What calls leave to be told is gathered until the test settles, however long that takes, and is handed over together then. */
import { vi } from 'vitest';
import type { Portico } from './portico.ts';

/** How long is gathered, in milliseconds: nobody else waits for just so long. */
const GATHER_MS = 23_456;

/** Settings with which a portico gathers. */
export const GATHER = {
  PORTICO_AUDIT_GATHER_MS: String(GATHER_MS),
  PORTICO_REPORT_INTERVAL_MS: String(GATHER_MS),
};

/** Until mocks are restored. @returns settles a portico: the time of gathering is over then, and not before */
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
