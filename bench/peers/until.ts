/** Waits for a condition. */
import { setTimeout as sleep } from 'node:timers/promises';

const REST_MS = 25;

/** Returns whether the condition became true in time. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  withinMs = 3_000,
): Promise<boolean> {
  const end = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > end) return false;
    await sleep(REST_MS);
  }
  return true;
}
