/** What a call to an upstream takes and gives: shared by the Worker and the objects that call. */
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
  /** Copies of the client's sessions at servers, as its own session's row has them; absent where it has none. */
  copies?: string | undefined;
  /** Of the gateway, as the client asks it; absent where nobody is to be sent there. */
  origin?: string | undefined;
  /** Runs work that outlives the response. */
  waitUntil: WaitUntil;
  /** What of the client's capabilities concerns questions; empty where it cannot be asked. */
  capabilities: JsonObject;
  /**
   * How a question reaches the client: `ask` while its call goes on, or `suspend`: the call's answer is
   * the question, and the call waits until the client calls again.
   */
  questions: 'ask' | 'suspend';
  /** Counts what the call has in memory; absent where that is bounded in another way. */
  bytes?: RequestBytes | undefined;
  /** The request it serves, as it is seen from outside; absent where nobody looks. */
  operation?: Operation | undefined;
  /** Told in answer to the call that a resource of the server changed; `params` is raw JSON. */
  onUpdated?(serverId: string, uri: string, params: string): void;
  /** Told when the request leaves for the upstream. */
  onDispatch?(): void;
  /** Told what ends the call before its time. */
  onCuttable?(cut: () => void): void;
  /** Timers of the request that is served; absent where it has none to share. */
  timers?: RequestTimers;
}

/** What a caller sees of a call: notifications and questions, the response last. */
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
