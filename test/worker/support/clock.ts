/** The gateway's clock in a test; who moves it puts it back by `vi.useRealTimers`. */
import { vi } from 'vitest';

/** Let time pass for the gateway's clock. */
export function pass(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
}
