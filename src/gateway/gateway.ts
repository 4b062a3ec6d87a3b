/**
 * The Gateway port: what every face calls and every decorator wraps. Identity, reach and context
 * are arguments. A decorator may only subtract: narrow the reach, refuse, measure, remember.
 */
import type { Caller } from '../access/principal.ts';
import type { CatalogItem, Kind } from '../catalog/catalog.ts';
import type { RawObject } from '../lib/json-spans.ts';
import type { JsonObject, LogLevel } from '../protocol.ts';
import type { Subscription } from '../session/news.ts';
import type { Server } from '../registry/server-schema.ts';
import type { CallContext, CallReply } from '../upstream/call.ts';
import type { NameStyle } from './qualified-name.ts';

/** The servers a request may reach; decorators make it smaller, never larger. */
export interface Reach {
  servers: readonly Server[];
}

/** How names are written on an endpoint: qualified in a style, or one server's own. */
export type Naming = { kind: 'qualified'; style: NameStyle } | { kind: 'own'; serverId: string };

/** One item as it is presented, in the order of the list. */
export interface ListedItem {
  /** Name, URI or URI template on this endpoint. */
  name: string;
  server: Server;
  item: CatalogItem;
}

/** A whole list. */
export interface Listing {
  items: readonly ListedItem[];
  /** How long it may be taken for fresh, in milliseconds: the least of its servers. */
  ttlMs: number;
}

/** Methods that go to one server and are answered by it. */
export type RelayedMethod = 'tools/call' | 'prompts/get' | 'resources/read' | 'completion/complete';

/** What a request is about, as the caller names it on its endpoint. */
export interface Reference {
  kind: 'tool' | 'prompt' | 'resource';
  name: string;
}

export interface RelayedRequest {
  method: RelayedMethod;
  reference: Reference;
  /** Raw params; what names the item in them is replaced by the server's own name. */
  params: RawObject;
  /**
   * What the caller mirrored of a tool's arguments, by the header's name; checked against them.
   * Absent where the caller mirrors nothing.
   */
  readHeader?: (name: string) => string | null;
  /** Least severe log messages the caller wants; absent where the server may decide. */
  logLevel?: LogLevel | 'none' | undefined;
}

export interface RoutedReply {
  server: Server;
  reply: CallReply;
  /** Make the same request again with more params: the next round of a multi round-trip request. */
  retry(extra: RawObject): Promise<CallReply>;
  /** Makes the server's raw result the endpoint's, where names in it have to change. */
  toResult?: (result: string) => string;
}

/** What the servers within reach have in common or one of them has. */
export interface Offer {
  capabilities: JsonObject;
  /** Only where one server speaks for itself: untrusted text never becomes ours. */
  instructions?: string;
}

export interface Gateway {
  /** All items of a kind within reach, sorted by the name of their server. */
  list(caller: Caller, reach: Reach, naming: Naming, kind: Kind): Promise<Listing>;
  /** What `initialize` and `server/discover` tell of the servers within reach. */
  offer(caller: Caller, reach: Reach, naming: Naming): Promise<Offer>;
  /**
   * What it takes to hear of a resource.
   * @throws PorticoError where the resource is unknown or hidden (alike), or cannot be subscribed to
   */
  subscription(caller: Caller, reach: Reach, naming: Naming, uri: string): Promise<Subscription>;
  /**
   * Put a request to the server it is about.
   * @throws PorticoError where the item is unknown or hidden (alike); ServerFailure where the
   *   server failed
   */
  request(
    caller: Caller,
    reach: Reach,
    naming: Naming,
    request: RelayedRequest,
    context: CallContext,
  ): Promise<RoutedReply>;
}
