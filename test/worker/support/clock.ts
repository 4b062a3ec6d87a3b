/** The gateway's clock in a test; a test that moves it restores it by `vi.useRealTimers`. */
import { vi } from 'vitest';

/** Advances the gateway's clock. */
export function pass(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
}
