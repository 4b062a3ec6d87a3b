/** How the objects report events, or expected events, that go to webhooks. */
import { insertBudgetReached } from '../webhooks/budget-event-store.ts';
import { createExpectEvents, wakeIfDue } from '../webhooks/expect-events.ts';

type Bindings = Pick<Env, 'DB' | 'WEBHOOKS'>;

export const expectEventsOf = ({ DB, WEBHOOKS }: Bindings) =>
  createExpectEvents(DB, () => WEBHOOKS.getByName('all').expect());

/** Calls were added up, and some may have been denied: wakes the Webhooks object if an event is due. */
export const notifyDenials = ({ DB, WEBHOOKS }: Bindings): Promise<void> =>
  wakeIfDue(DB, () => WEBHOOKS.getByName('all').wake());

/**
 * Records that a call was refused because its budget was reached. Never throws.
 * @param name of the object that counts the budget's calls
 * @returns whether the event was stored, so that webhooks will get it
 */
export async function notifyBudgetReached(
  { DB, WEBHOOKS }: Bindings,
  name: string,
  callsPerDay: number,
  now: number,
): Promise<boolean> {
  try {
    await insertBudgetReached(DB, name, callsPerDay, now);
  } catch {
    return false;
  }
  await wakeIfDue(DB, () => WEBHOOKS.getByName('all').wake());
  return true;
}
