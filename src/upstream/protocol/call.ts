/** What a call to an upstream takes and returns: shared by the Worker and the objects that make calls. */
import type { Operation } from '../../telemetry/operation.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { RequestBytes } from '../../shared/limits/bytes-in-flight.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type { RequestTimers } from '../../http/deadline.ts';
import type { RawResponse, UpstreamMessage } from './message.ts';
import type { Question, RequestCancellation } from './server-request.ts';

/** What a call needs of the request it serves. */
export interface CallContext {
  /** Aborts when the client goes away. */
  signal: AbortSignal;
  /** Name of the ClientSession object that holds this client's session at a server. */
  owner(serverId: string): string;
  /** Copies of the client's sessions at servers, from the row of its own session; absent if it has none. */
  copies?: string | undefined;
  /** Origin under which the client reaches the gateway; absent if nobody must be sent there. */
  origin?: string | undefined;
  /** Runs work that outlives the response. */
  waitUntil: WaitUntil;
  /** The client capabilities; empty if the client answers no server requests. */
  capabilities: JsonObject;
  /**
   * How a server request reaches the client. `ask`: while its call goes on. `suspend`: as the answer of the call, which then waits until
   * the client calls again.
   */
  questions: 'ask' | 'suspend';
  /** Counts what the call holds in memory; absent if that is bounded in another way. */
  bytes?: RequestBytes | undefined;
  /** The request that it serves, for telemetry; absent if nothing observes it. */
  operation?: Operation | undefined;
  /** Called if the server announces a changed resource in answer to the call; `params` is raw JSON. */
  onUpdated?(serverId: string, uri: string, params: string): void;
  /** Called when the request is sent to the upstream. */
  onDispatch?(): void;
  /** Gets the function that ends the call before its time. */
  onCuttable?(cut: () => void): void;
  /** Timers of the served request; absent if it has none to share. */
  timers?: RequestTimers;
}

/** What a caller sees of a call: notifications and server requests, the response last. */
export type CallMessage =
  RawResponse | (UpstreamMessage & { kind: 'notification' }) | Question | RequestCancellation;

export type CallMessages = AsyncGenerator<CallMessage, void, undefined>;

/** The answer of an upstream: its response, or messages of which the last is the response. */
export type CallReply = { response: RawResponse } | { messages: CallMessages };

/** Methods that go to one server and are answered by it. */
export type RelayedMethod =
  'tools/call' | 'prompts/get' | 'resources/read' | 'completion/complete' | TaskMethod;

/** Methods about a task that a call made. */
export type TaskMethod = 'tasks/get' | 'tasks/result' | 'tasks/update' | 'tasks/cancel';
