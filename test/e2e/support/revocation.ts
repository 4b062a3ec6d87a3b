/**
 * When a change bites, judged by the time at which requests were sent: what a busy machine adds to an answer says nothing of the
 * gateway, which may decide on what it read a second ago and no longer.
 */
import { until } from '../../fixtures/start-fixture.ts';

/** Until a request knows of a change, which must be made before. */
const WAIT_MS = 60_000;

/**
 * Asks again and again until a request knows of the change.
 * @returns milliseconds after this call at which the last request was sent that did not; 0 where the first one did
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
