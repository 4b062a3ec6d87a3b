/** What a server's monitor tells of, and who may hear it. Pure. */
import type { PorticoError } from './errors/portico-error.ts';
import type { ErrorCode } from './errors/table.ts';
import { toQualifiedUri } from './naming/qualified-uri.ts';
import { fromRawMembers, rawMembers, type RawObject } from './json/json-spans.ts';
import { META } from './protocol.ts';

/** The lists that have a change notification of their own; templates count as resources. */
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

/** What a client's own lists are: a hash of each that it wants to hear of. */
export type Seen = Readonly<Partial<Record<ListName, string>>>;

/**
 * The lists that are others now, or told to be. Of what was not known before nothing can be said.
 * @param told lists that are said to have changed
 */
export function changedSince(
  before: Seen | undefined,
  now: Seen,
  told: readonly ListName[] = [],
): ListName[] {
  return LISTS.filter(
    list =>
      told.includes(list) ||
      (before?.[list] !== undefined && now[list] !== undefined && before[list] !== now[list]),
  );
}

/** A resource a client wants to hear of. */
export interface Subscription {
  serverId: string;
  /** The server's own URI. */
  uri: string;
  /** The URI as the client wrote it. */
  as: string;
  /** Name of the server where the endpoint qualifies URIs. */
  qualifier?: string;
  /** Name of the object in whose session at the server it is made; absent where the server's monitor makes it. */
  at?: string;
}

/** Why a server does not tell of a resource; thrown errors lose their class on the way between objects. */
export interface WatchFailure {
  code: ErrorCode;
  detail: string;
  /** Raw JSON of the server's own error, where it refused. */
  serverError?: string | undefined;
}

/** @param server its name, where it is known */
export function toWatchFailure(
  { code, message, extras }: PorticoError,
  server?: string,
): WatchFailure {
  const detail = server === undefined ? message : `${server}: ${message}`;
  return { code, detail, serverError: extras.serverError };
}

/** Ids of the servers a stream may hear of; null for all. */
export type Audience = readonly string[] | null;

export function mayHear(audience: Audience, serverId: string): boolean {
  return audience === null || audience.includes(serverId);
}

/** The notification that a list changed. */
export function changedText(list: ListName): string {
  return `{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}`;
}

/** The notifications that tell one client of a resource it subscribed to. */
export function updatedTexts(
  change: ResourceEvent,
  subscriptions: readonly Subscription[],
): string[] {
  const texts = subscriptions.map(subscription => updatedText(change, subscription));
  return [...new Set(texts.filter(text => text !== undefined))];
}

/**
 * Text of the update for one who subscribed, or undefined where it is about something else. A
 * server may tell of a part of what was subscribed to, so a URI below the subscribed one counts.
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

/** The id under which the gateway itself listens to the server is nobody else's business. */
function withoutSubscriptionId(params: RawObject): RawObject {
  const meta = params.get('_meta');
  if (!meta?.startsWith('{')) return params;
  const members = rawMembers(meta);
  if (!members.delete(META.subscriptionId)) return params;
  if (members.size === 0) params.delete('_meta');
  else params.set('_meta', fromRawMembers(members));
  return params;
}

/** Whether a URI is the one subscribed to or lies below it. */
export function covers(subscribed: string, uri: string): boolean {
  if (uri === subscribed) return true;
  return uri.startsWith(subscribed.endsWith('/') ? subscribed : `${subscribed}/`);
}
