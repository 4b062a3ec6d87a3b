/** How the objects say that something comes that webhooks may be told of. */
import { createExpectEvents } from '../webhooks/expect-events.ts';

export const expectEventsOf = ({ DB, WEBHOOKS }: Pick<Env, 'DB' | 'WEBHOOKS'>) =>
  createExpectEvents(DB, () => WEBHOOKS.getByName('all').expect());
