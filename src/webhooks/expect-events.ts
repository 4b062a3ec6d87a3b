/**
 * Notifies the deployment's `Webhooks` object before a write that may cause an event, so that the event is delivered even if the writer
 * stops right after.
 */
import { hasDue } from './delivery-store.ts';
import { hasWebhooks } from './webhook-store.ts';

/** Announces that an event may come. Never throws: a failure here must not prevent the write. */
export type ExpectEvents = () => Promise<void>;

/** @param expect makes the deployment's object poll for events for a while */
export const createExpectEvents =
  (db: D1Database, expect: () => Promise<unknown>): ExpectEvents =>
  async () => {
    try {
      if (await hasWebhooks(db)) await expect();
    } catch {
      // The event is still stored with its cause; the object finds it on its next poll.
    }
  };

/** Upper bound on the clock skew between the database and the caller, in milliseconds. */
const CLOCKS_MS = 60_000;

/**
 * Wakes the object after a write that is seldom an event and that its writer repeats anyway. Never throws.
 * @param wake makes the deployment's object deliver what is due
 */
export async function wakeIfDue(db: D1Database, wake: () => Promise<unknown>): Promise<void> {
  try {
    if (await hasDue(db, Date.now() + CLOCKS_MS)) await wake();
  } catch {
    // The object finds it on its next poll.
  }
}
