/** Told before something is written that webhooks may be told of, so that it is delivered even if whoever writes it stops right after. */
import { hasDue } from './delivery-store.ts';
import { hasWebhooks } from './webhook-store.ts';

/** An event may come now. Never throws: whoever waits for a webhook never keeps back what it is about. */
export type ExpectEvents = () => Promise<void>;

/** @param expect has the deployment's object look for events in a while */
export const createExpectEvents =
  (db: D1Database, expect: () => Promise<unknown>): ExpectEvents =>
  async () => {
    try {
      if (await hasWebhooks(db)) await expect();
    } catch {
      // The event is stored with its cause all the same; the object finds it when it looks next.
    }
  };

/** Clocks of the database and of who asks differ by less, in milliseconds. */
const CLOCKS_MS = 60_000;

/**
 * Told after something was written that seldom is an event, where whoever writes it comes again by itself. Never throws.
 * @param wake has the deployment's object look for what is due
 */
export async function wakeIfDue(db: D1Database, wake: () => Promise<unknown>): Promise<void> {
  try {
    if (await hasDue(db, Date.now() + CLOCKS_MS)) await wake();
  } catch {
    // The object finds it when it looks next.
  }
}
