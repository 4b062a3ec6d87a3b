/** Waiting for what shall come true. */
import { setTimeout as sleep } from 'node:timers/promises';

const REST_MS = 25;

/** Whether it came true in time. */
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
