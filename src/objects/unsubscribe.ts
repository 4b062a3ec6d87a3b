/**
 * Where the resource subscriptions of a client's object are held, and how they end: most at a server's monitor, the rest in a client's
 * object.
 */
import type { Subscription } from '../shared/events.ts';
import type { SessionSubscription } from '../upstream/session/session-subscriptions.ts';

type Unwanted = Omit<SessionSubscription, 'capabilities'>;

/** Ends these subscriptions of an owner. @param here ends a subscription that the owner's own object holds */
export async function unsubscribeAll(
  { SERVER_MONITOR: monitors, CLIENT_SESSION: clients }: Env,
  owner: string,
  resources: readonly Subscription[],
  here: (unwanted: Unwanted) => Promise<void>,
): Promise<void> {
  await Promise.allSettled(
    resources.map(({ serverId, uri, at }) => {
      if (at === undefined) return monitors.getByName(serverId).unsubscribe(owner, uri);
      const unwanted = { serverId, uri, owner };
      if (at === owner) return here(unwanted);
      return clients.getByName(at).unsubscribeInSession(unwanted);
    }),
  );
}
