/**
 * Hashes of the lists as one caller sees them, for streams that notify of changes, and the check whether a caller may still be notified of
 * a resource. Both are decided anew each time, on what the caller sees then.
 */
import type { CallerContext } from '../request-context.ts';
import type { Listing } from '../../gateway/listing.ts';
import { hasScope } from '../../shared/identity/principal.ts';
import type { Kind } from '../../servers/catalog/catalog.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { fromRawMembers } from '../../shared/json/json-spans.ts';
import { isObject } from '../../shared/protocol.ts';
import type { ListName, ListEvent, Seen } from '../../shared/events.ts';
import type { StreamView } from '../../sessions/stream-opening.ts';
import type { EndpointViewer } from '../endpoint.ts';

/** Templates count as resources. */
const KINDS_OF: Record<ListName, readonly Kind[]> = {
  tools: ['tools'],
  resources: ['resources', 'resourceTemplates'],
  prompts: ['prompts'],
};

/** Hash of a list of tools that never changes. */
const STATIC = 'static';

/** Whether a list is the same for everybody, whatever the servers offer. */
const isStatic = ({ tools }: EndpointViewer, list: ListName) => list === 'tools' && tools !== 'all';

/** The lists of an endpoint that can change. */
export function changingLists(
  viewer: EndpointViewer,
  lists: readonly ListName[],
): readonly ListName[] {
  return lists.filter(list => !isStatic(viewer, list));
}

/** Returns a hash of each of these lists as the caller sees it; no hashes where it may not list. */
export async function seenBy(
  gateway: Gateway,
  { viewer }: CallerContext,
  lists: readonly ListName[],
): Promise<Seen> {
  if (!hasScope(viewer.caller, 'tools:read')) return {};
  const hashes = lists.map(async list => {
    if (isStatic(viewer, list)) return [list, STATIC] as const;
    const listings = KINDS_OF[list].map(kind => gateway.list(viewer, kind));
    const parts = await Promise.all((await Promise.all(listings)).map(hashOf));
    return [list, parts.join(' ')] as const;
  });
  return Object.fromEntries(await Promise.all(hashes));
}

/**
 * Returns what a caller sees after a reported change. Changes of servers that it sees in full are passed on, even where their lists are
 * already back to what they were; changes of other servers count only where the caller's own lists differ. A caller that may not list is
 * notified of nothing.
 */
export async function recheckLists(
  gateway: Gateway,
  callerContext: CallerContext,
  lists: readonly ListName[],
  change: readonly ListEvent[],
): Promise<StreamView> {
  const { caller, visible } = callerContext.viewer;
  if (!hasScope(caller, 'tools:read')) return { seen: {}, told: [] };
  const { servers, views } = visible;
  const open = change.filter(
    ({ serverId }) => servers.some(({ id }) => id === serverId) && !views?.has(serverId),
  );
  const changed = new Set(open.flatMap(server => server.lists));
  const reported = changingLists(callerContext.viewer, lists).filter(list => changed.has(list));
  return { seen: await seenBy(gateway, callerContext, lists), told: reported };
}

const known = new WeakMap<Listing, string>();

/** Equal for lists with the same items under the same names. */
async function hashOf(listing: Listing): Promise<string> {
  const before = known.get(listing);
  if (before !== undefined) return before;
  const items = listing.items.map(({ name, item }) => `${name} ${fromRawMembers(item.raw)}`);
  const hash = await sha256Hex(items.join('\n'));
  known.set(listing, hash);
  return hash;
}

/** Whether a notification may be sent: one about a resource only while the caller may subscribe to that resource. */
export async function maySend(
  gateway: Gateway,
  { viewer }: CallerContext,
  text: string,
): Promise<boolean> {
  if (!text.includes('"notifications/resources/updated"')) return true;
  const message: unknown = JSON.parse(text);
  const params = isObject(message) ? message['params'] : undefined;
  const uri = isObject(params) ? params['uri'] : undefined;
  if (typeof uri !== 'string') return false;
  return gateway.subscription(viewer, uri).then(
    () => true,
    (error: unknown) => {
      if (error instanceof PorticoError) return false;
      throw error;
    },
  );
}
