/**
 * The Gateway port: what every endpoint calls and every decorator wraps. Identity, visible servers and context
 * are arguments. A decorator may only subtract: hide servers, refuse, measure, remember.
 */
import type { Caller } from '../access/policy/caller.ts';
import type { VisibleServers, Naming, ListedItem, Listing, Reference } from './listing.ts';
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
import type { Resolved } from './resolve.ts';

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

/** What a request's context holds for the gateway itself. */
export interface DispatchContext extends CallContext {
  /** Awaited right before the request leaves; what it throws keeps it from leaving. */
  beforeDispatch?(resolved: Resolved): Promise<void>;
  /** In place of sending it: may answer without, or sends it once. */
  dispatch?(resolved: Resolved, send: () => Promise<CallReply>): Promise<CallReply>;
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

/** A record of functions, none of which uses `this`: a decorator begins with those of the one below it. */
export interface Gateway {
  /** The servers within reach of which the caller sees anything. */
  visible(caller: Caller, visible: VisibleServers): Promise<VisibleServers>;
  /** All items of a kind within reach, sorted by the name of their server. */
  list(caller: Caller, visible: VisibleServers, naming: Naming, kind: Kind): Promise<Listing>;
  /**
   * The tool that a name stands for, as `list` names and describes it.
   * @throws PorticoError where the tool is unknown or hidden (alike), as `request` does
   */
  find(caller: Caller, visible: VisibleServers, naming: Naming, name: string): Promise<ListedItem>;
  /** The tools within reach that fit a query best, as `list` names and describes them. */
  search(
    caller: Caller,
    visible: VisibleServers,
    naming: Naming,
    request: SearchRequest,
  ): Promise<SearchResult>;
  /**
   * What `initialize` and `server/discover` tell of the servers within reach.
   * @param tasks the form of tasks that is offered, where servers of that era have them
   */
  advertise(
    caller: Caller,
    visible: VisibleServers,
    naming: Naming,
    tasks?: Era,
  ): Promise<AdvertisedCapabilities>;
  /**
   * What it takes to hear of a resource.
   * @throws PorticoError where the resource is unknown or hidden (alike), or cannot be subscribed to
   */
  subscription(
    caller: Caller,
    visible: VisibleServers,
    naming: Naming,
    uri: string,
  ): Promise<Subscription>;
  /**
   * Hear of tasks, by the caller's ids, until the signal aborts. Ids that are unknown or hidden, and
   * tasks whose server does not tell of them, are not agreed to.
   */
  subscribeTasks(
    caller: Caller,
    visible: VisibleServers,
    taskIds: readonly string[],
    hear: (change: TaskEvent) => void,
    signal: AbortSignal,
  ): Promise<TaskSubscription>;
  /**
   * Put a request to the server it is about.
   * @throws PorticoError where the item is unknown or hidden (alike); ServerFailure where the
   *   server failed
   */
  request(
    caller: Caller,
    visible: VisibleServers,
    naming: Naming,
    request: RelayedRequest,
    context: DispatchContext,
  ): Promise<RoutedReply>;
  /**
   * Takes a call from the caller's limit for work that is none but costs like one: a question to a model.
   * @throws PorticoError `rate_limited`, `busy`
   */
  spend?(caller: Caller): Promise<void>;
  /** Told of what is refused before it is a request that could be put to a server. */
  refused?(caller: Caller, refusal: Refusal): Promise<void>;
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

/** The gateway below the decorator that knows tasks by the callers' ids. */
export type CoreGateway = Omit<Gateway, 'subscribeTasks'>;
