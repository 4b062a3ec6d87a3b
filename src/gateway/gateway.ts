/**
 * The port of the gateway: what every endpoint calls (`gateway-of.ts` composes it). Who looks, at which servers and under which
 * names, is an argument of each function: what a viewer may not see is, to all of them, not there.
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
  /** Raw params; what names the item in them is replaced by the server's own name. */
  params: RawObject;
  /**
   * What the caller mirrored of a tool's arguments, by the header's name; checked against them.
   * Absent where the caller mirrors nothing.
   */
  readHeader?: (name: string) => string | null;
  /** Least severe log messages the caller wants; absent where the server may decide. */
  logLevel?: LogLevel | 'none' | undefined;
  /** Whose form of tasks the caller takes, or speaks of; absent where it wants no tasks. */
  tasks?: Era | undefined;
  /** Where it came from, for the record. */
  source?: Era | 'rest';
  /** The revision that a legacy client's session agreed on. */
  version?: string | undefined;
  /** What the caller says of results of before, where that is not in the params. */
  cache?: CacheDirective | undefined;
}

export interface RoutedReply {
  server: Server;
  reply: CallReply;
  /** The reply is a result of before: the server heard nothing of this request. */
  isHit?: boolean;
  /** Make the same request again with more params: the next round of a multi round-trip request. */
  retry(extra: RawObject): Promise<CallReply>;
  /** Makes the server's raw result, given parsed too, the endpoint's and its client's, where something in it has to change. */
  toResult?: (result: string, parsed: JsonObject) => string;
  /** The result may be of a type that only an extension knows, which server and client both have. */
  takesOtherTypes?: boolean;
  /** Told where the caller gets an error of ours in place of the server's response. */
  onReplaced?(code: ErrorCode): void;
}

/** A task that a server told of: its raw members, under the caller's id. */
export interface TaskEvent {
  server: Server;
  task: string;
}

/** What the servers within reach have in common or one of them has. */
export interface AdvertisedCapabilities {
  capabilities: JsonObject;
  /** Of one server as it wrote them; of several each quoted under its name, since untrusted text never becomes ours. */
  instructions?: string;
}

/** A record of functions, none of which uses `this`. */
export interface Gateway {
  /** The servers of which the caller sees anything. */
  visible(viewer: Viewer): Promise<VisibleServers>;
  /** All items of a kind, sorted by the name of their server. @throws PorticoError `forbidden`, as all that follow */
  list(viewer: Viewer, kind: Kind): Promise<Listing>;
  /**
   * The tool that a name stands for, as `list` names and describes it.
   * @throws PorticoError where the tool is unknown or hidden (alike), as `request` does
   */
  find(viewer: Viewer, name: string): Promise<ListedItem>;
  /** The tools that fit a query best, as `list` names and describes them. */
  search(viewer: Viewer, request: SearchRequest): Promise<SearchResult>;
  /**
   * What `initialize` and `server/discover` tell of the servers.
   * @param tasks the form of tasks that is offered, where servers of that era have them
   */
  advertise(viewer: Viewer, tasks?: Era): Promise<AdvertisedCapabilities>;
  /**
   * What it takes to hear of a resource.
   * @throws PorticoError where the resource is unknown or hidden (alike), or cannot be subscribed to
   */
  subscription(viewer: Viewer, uri: string): Promise<Subscription>;
  /**
   * Hear of tasks, by the caller's ids, until the signal aborts. Ids that are unknown or hidden, and
   * tasks whose server does not tell of them, are not agreed to.
   */
  subscribeTasks(
    viewer: Viewer,
    taskIds: readonly string[],
    hear: (change: TaskEvent) => void,
    signal: AbortSignal,
  ): Promise<TaskSubscription>;
  /**
   * Put a request to the server it is about (`call.ts`).
   * @throws PorticoError where the item is unknown or hidden (alike); ServerFailure where the
   *   server failed
   */
  request(viewer: Viewer, request: RelayedRequest, context: CallContext): Promise<RoutedReply>;
  /**
   * Takes a call from the caller's limit for work that is none but costs like one: a question to a model.
   * @throws PorticoError `rate_limited`, `busy`
   */
  spend(caller: Caller): Promise<void>;
  /** Told of what is refused before it is a request that could be put to a server. */
  refused(caller: Caller, refusal: Refusal, waitUntil: WaitUntil): Promise<void>;
}

/** Something a caller asked for and did not get. */
export interface Refusal {
  /** The method of MCP, or `rest.read`. */
  method: string;
  /** What it was asked of, where that is known. */
  subject?: string;
  thrown: unknown;
  source: Era | 'rest';
}
