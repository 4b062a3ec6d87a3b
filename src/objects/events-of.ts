/** How the objects say that something came, or comes, that webhooks may be told of. */
import { createExpectEvents, wakeIfDue } from '../webhooks/expect-events.ts';

type Bindings = Pick<Env, 'DB' | 'WEBHOOKS'>;

export const expectEventsOf = ({ DB, WEBHOOKS }: Bindings) =>
  createExpectEvents(DB, () => WEBHOOKS.getByName('all').expect());

/** Calls were added up, and some of them may have been denied. */
export const tellDenials = ({ DB, WEBHOOKS }: Bindings): Promise<void> =>
  wakeIfDue(DB, () => WEBHOOKS.getByName('all').wake());
