/**
 * When a change takes effect, judged by the time at which requests were sent. The time that a busy machine adds to a response says nothing
 * about the gateway, which may decide on data at most a second old.
 */
import { until } from '../../fixtures/start-fixture.ts';

/** The longest wait for a request that sees a change made before. */
const WAIT_MS = 60_000;

/**
 * Repeats a request until it sees the change.
 * @returns milliseconds from this call to when the last request that did not see it was sent; 0 if the first one saw it
 */
export async function lastUnaware(isAware: () => Promise<boolean>): Promise<number> {
  const changedAt = performance.now();
  let sentAt = changedAt;
  await until('the change bites', WAIT_MS, async () => {
    const now = performance.now();
    if (await isAware()) return true;
    sentAt = now;
    return undefined;
  });
  return sentAt - changedAt;
}
