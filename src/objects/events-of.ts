/** How the objects say that something came, or comes, that webhooks may be told of. */
import { insertBudgetReached } from '../webhooks/budget-event-store.ts';
import { createExpectEvents, wakeIfDue } from '../webhooks/expect-events.ts';

type Bindings = Pick<Env, 'DB' | 'WEBHOOKS'>;

export const expectEventsOf = ({ DB, WEBHOOKS }: Bindings) =>
  createExpectEvents(DB, () => WEBHOOKS.getByName('all').expect());

/** Calls were added up, and some of them may have been denied. */
export const tellDenials = ({ DB, WEBHOOKS }: Bindings): Promise<void> =>
  wakeIfDue(DB, () => WEBHOOKS.getByName('all').wake());

/**
 * A call was refused since its budget was reached. Never throws.
 * @param name of the object that counts
 * @returns whether webhooks will be told of it
 */
export async function tellBudgetReached(
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
