/**
 * The port of the gateway: what every endpoint calls (`gateway-of.ts` composes it). Each function takes a viewer: the caller, the servers
 * that it sees and their naming. What a viewer may not see does not exist for any of them.
 */
import type { Caller } from '../access/policy/caller.ts';
import type { ListedItem, Listing, Reference } from './listing.ts';
import type { Viewer, VisibleServers } from './viewer.ts';
import type { TaskSubscription } from '../upstream/streams/task-listener.ts';
import type { CacheDirective } from './cache/cache-control.ts';
import type { Kind } from '../servers/catalog/catalog.ts';
import type { RawObject } from '../shared/json/json-spans.ts';
import type { Era, JsonObject, LogLevel } from '../shared/protocol.ts';
import type { Subscription } from '../shared/events.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { SearchRequest, SearchResult } from './search.ts';
import type { CallContext, CallReply, RelayedMethod } from '../upstream/protocol/call.ts';
import type { ErrorCode } from '../shared/errors/table.ts';
import type { WaitUntil } from '../shared/util/wait-until.ts';

/** Whether a method is a call, which is recorded and limited. */
export const isCall = (method: string): boolean => CALLS.has(method);
const CALLS = new Set<string>(['tools/call', 'prompts/get', 'resources/read']);

export interface RelayedRequest {
  method: RelayedMethod;
  reference: Reference;
  /** Raw params; the name of the item in them is replaced by the server's own name. */
  params: RawObject;
  /**
   * Returns, by header name, what the caller mirrored of a tool's arguments; it is checked against them. Absent if the caller mirrors
   * nothing.
   */
  readHeader?: (name: string) => string | null;
  /** Least severe log messages the caller wants; absent if the server may decide. */
  logLevel?: LogLevel | 'none' | undefined;
  /** The era whose form of tasks the caller accepts or refers to; absent if it wants no tasks. */
  tasks?: Era | undefined;
  /** Where the request came from, for its row. */
  source?: Era | 'rest';
  /** The negotiated revision of a legacy client's session. */
  version?: string | undefined;
  /** The caller's cache directive, if it is not in the params. */
  cache?: CacheDirective | undefined;
  /** Returns the viewer as it is now, for a further round; absent if the caller makes each round a request of its own. */
  again?: () => Promise<Viewer>;
}

export interface RoutedReply {
  server: Server;
  reply: CallReply;
  /** The reply is a cached result: nothing was sent to the server. */
  isHit?: boolean;
  /**
   * Sends the same request again with more params: the next round of a multi round-trip request.
   * @throws PorticoError if the caller may not make the call any more, or its server is another one now
   */
  retry(extra: RawObject): Promise<CallReply>;
  /** Rewrites the server's raw result, also given parsed, for the endpoint and its client; absent if nothing has to change. */
  toResult?: (result: string, parsed: JsonObject) => string;
  /** The result may be of a type that only an extension defines which server and client both have. */
  takesOtherTypes?: boolean;
  /** Called if the caller gets an error of the gateway in place of the server's response. */
  onReplaced?(code: ErrorCode): void;
}

/** A change of a task that its server announced: raw members, under the caller's id. */
export interface TaskEvent {
  server: Server;
  task: string;
}

/** What an endpoint advertises, merged from the servers that the caller sees. */
export interface AdvertisedCapabilities {
  capabilities: JsonObject;
  /**
   * Those of one server as it wrote them; those of several each quoted under its name, since untrusted text must not pass for the
   * gateway's.
   */
  instructions?: string;
}

/** A record of functions, none of which uses `this`. */
export interface Gateway {
  /** Returns the servers of which the caller sees anything. */
  visible(viewer: Viewer): Promise<VisibleServers>;
  /** Lists all items of a kind, sorted by the name of their server. @throws PorticoError `forbidden`, as all that follow */
  list(viewer: Viewer, kind: Kind): Promise<Listing>;
  /**
   * Finds the tool that a name stands for, named and described as in `list`.
   * @throws PorticoError if the tool is unknown or hidden (alike), as `request` does
   */
  find(viewer: Viewer, name: string): Promise<ListedItem>;
  /** Finds the tools that fit a query best, named and described as in `list`. */
  search(viewer: Viewer, request: SearchRequest): Promise<SearchResult>;
  /**
   * Returns what `initialize` and `server/discover` advertise of the servers: instructions only to a caller that may list.
   * @param tasks the form of tasks to advertise, if servers of that era have them
   */
  advertise(viewer: Viewer, tasks?: Era): Promise<AdvertisedCapabilities>;
  /**
   * Returns what is needed to subscribe to a resource.
   * @throws PorticoError if the resource is unknown or hidden (alike), or cannot be subscribed to
   */
  subscription(viewer: Viewer, uri: string): Promise<Subscription>;
  /**
   * Subscribes to tasks, by the caller's ids, until the signal aborts. Leaves out ids that are unknown or hidden, and tasks whose server
   * does not announce their changes.
   */
  subscribeTasks(
    viewer: Viewer,
    taskIds: readonly string[],
    onTask: (change: TaskEvent) => void,
    signal: AbortSignal,
  ): Promise<TaskSubscription>;
  /**
   * Sends a request to the server it is about (`call.ts`).
   * @throws PorticoError if the item is unknown or hidden (alike); ServerFailure if the server failed
   */
  request(viewer: Viewer, request: RelayedRequest, context: CallContext): Promise<RoutedReply>;
  /**
   * Takes a token of the caller's limit for work that is no call but costs like one: a request to a model.
   * @throws PorticoError `rate_limited`, `busy`
   */
  spend(caller: Caller): Promise<void>;
  /** Records a refusal of something that did not become a request to a server. */
  refused(caller: Caller, refusal: Refusal, waitUntil: WaitUntil): Promise<void>;
}

/** A refused request of a caller. */
export interface Refusal {
  /** The method of MCP, or `rest.read`. */
  method: string;
  /** What the request was about, if that is known. */
  subject?: string;
  thrown: unknown;
  source: Era | 'rest';
}
