/** The events that a server's monitor publishes, and which streams may receive them. Pure. */
import type { PorticoError } from './errors/portico-error.ts';
import type { ErrorCode } from './errors/table.ts';
import { toQualifiedUri } from './naming/qualified-uri.ts';
import { fromRawMembers, rawMembers, type RawObject } from './json/json-spans.ts';
import { META } from './protocol.ts';

/** The lists that have a change notification; templates count as resources. */
export const LISTS = ['tools', 'resources', 'prompts'] as const;
export type ListName = (typeof LISTS)[number];

/** A resource changed. `params` is the raw object of the server's `notifications/resources/updated`. */
export interface ResourceEvent {
  serverId: string;
  uri: string;
  params: string;
}

/** Lists of a server changed. */
export interface ListEvent {
  serverId: string;
  lists: readonly ListName[];
}

/** Something changed: lists of a server, a resource, or what callers may see. */
export type ChangeEvent = ListEvent | ResourceEvent | { access: 'changed' };

/** A hash of each of a client's own lists that it wants change notifications for. */
export type Seen = Readonly<Partial<Record<ListName, string>>>;

/**
 * Returns the lists that differ now or are named as changed. A list without a known earlier hash counts only if it is named.
 * @param reported lists that the server reported as changed
 */
export function changedSince(
  before: Seen | undefined,
  now: Seen,
  reported: readonly ListName[] = [],
): ListName[] {
  return LISTS.filter(
    list =>
      reported.includes(list) ||
      (before?.[list] !== undefined && now[list] !== undefined && before[list] !== now[list]),
  );
}

/** A resource that a client subscribed to. */
export interface Subscription {
  serverId: string;
  /** The server's own URI. */
  uri: string;
  /** The URI as the client wrote it. */
  as: string;
  /** Name of the server, where the endpoint qualifies URIs. */
  qualifier?: string;
  /** Name of the object whose session at the server makes the subscription; absent where the server's monitor makes it. */
  at?: string;
}

/** Why a server sends no updates of a resource. A plain record, because thrown errors lose their class between objects. */
export interface WatchFailure {
  code: ErrorCode;
  detail: string;
  /** Raw JSON of the server's own error, if it refused. */
  serverError?: string | undefined;
}

/** @param server name of the server, if known */
export function toWatchFailure(
  { code, message, extras }: PorticoError,
  server?: string,
): WatchFailure {
  const detail = server === undefined ? message : `${server}: ${message}`;
  return { code, detail, serverError: extras.serverError };
}

/** Ids of the servers whose events a stream may receive; null for all. */
export type Audience = readonly string[] | null;

export function mayReceive(audience: Audience, serverId: string): boolean {
  return audience === null || audience.includes(serverId);
}

/** Returns the notification that a list changed. */
export function changedText(list: ListName): string {
  return `{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}`;
}

/** Returns the notifications that one client receives about a resource it subscribed to. */
export function updatedTexts(
  change: ResourceEvent,
  subscriptions: readonly Subscription[],
): string[] {
  const texts = subscriptions.map(subscription => updatedText(change, subscription));
  return [...new Set(texts.filter(text => text !== undefined))];
}

/**
 * Returns the text of the update for one subscription, or undefined if the event is about another resource. A server may report a part of
 * the subscribed resource, so a URI below the subscribed one counts too.
 */
function updatedText(
  { serverId, uri, params }: ResourceEvent,
  subscription: Subscription,
): string | undefined {
  if (subscription.serverId !== serverId || !covers(subscription.uri, uri)) return undefined;
  const { qualifier } = subscription;
  const whole = qualifier === undefined ? uri : toQualifiedUri(qualifier, uri);
  const presented = uri === subscription.uri ? subscription.as : whole;
  const members = withoutSubscriptionId(rawMembers(params).set('uri', JSON.stringify(presented)));
  const method = 'notifications/resources/updated';
  return `{"jsonrpc":"2.0","method":"${method}","params":${fromRawMembers(members)}}`;
}

/** Removes the id of the gateway's own subscription at the server, which clients must not see. */
function withoutSubscriptionId(params: RawObject): RawObject {
  const meta = params.get('_meta');
  if (!meta?.startsWith('{')) return params;
  const members = rawMembers(meta);
  if (!members.delete(META.subscriptionId)) return params;
  if (members.size === 0) params.delete('_meta');
  else params.set('_meta', fromRawMembers(members));
  return params;
}

/** Whether a URI is the subscribed one or lies below it. */
export function covers(subscribed: string, uri: string): boolean {
  if (uri === subscribed) return true;
  return uri.startsWith(subscribed.endsWith('/') ? subscribed : `${subscribed}/`);
}
