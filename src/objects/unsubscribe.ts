/** Where resources are heard for the object of a client, and how that ends: a monitor hears of most, an object of the rest. */
import type { Subscription } from '../shared/events.ts';
import type { SessionSubscription } from '../upstream/session/session-subscriptions.ts';

type Unwanted = Omit<SessionSubscription, 'capabilities'>;

/** Nobody of this owner wants to hear of these resources any more. @param here ends what the owner's own object hears */
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
