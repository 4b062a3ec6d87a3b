/**
 * The requests in flight at one run of a child, for all clients. Each is sent under a request id and progress token of that run, so that
 * callers never collide.
 *
 * Invariants: a request is sent once; a response comes only from the child; each call ends once.
 */
import { Answer } from './answer.ts';
import type { Child } from './child.ts';
import {
  errorText,
  rawAt,
  requestText,
  withMembers,
  type Change,
  type ChildMessage,
} from './child-message.ts';
import type { Room } from './event-stream.ts';
import type { Limits } from './limits.ts';
import { META, RPC, toOwnId, type RequestId } from '../../../src/shared/protocol.ts';

export type Request = Extract<ChildMessage, { kind: 'request' }>;
export type Response = Extract<ChildMessage, { kind: 'response' }>;
export type Notification = Extract<ChildMessage, { kind: 'notification' }>;

/** One request in flight. `S` is its owner; calls of different owners are kept apart. */
export interface Call<S> {
  /** The id sent to the child. */
  id: number;
  callerId: RequestId;
  /** Raw JSON. */
  rawCallerId: string;
  owner: S;
  method: string;
  /** Raw JSON of the caller's progress token. */
  progressToken: string | undefined;
  /** The caller wants log messages of this call (modern era). */
  wantsLog: boolean;
  answer: Answer;
  /** Returns the members to replace in the response. */
  onResponse: (response: Response) => Change[];
}

interface CancelledCall<S> {
  call: Call<S>;
  until: number;
}

export interface CallsOptions<S> {
  child: Child;
  room: Room;
  limits: Limits;
  /** The child supports `ping`: once it answers one, it has read everything sent before it. */
  pings: boolean;
  /** The caller has hung up. */
  onGone?(call: Call<S>): void;
}

export class Calls<S> {
  readonly #options: CallsOptions<S>;
  readonly #live = new Map<RequestId, Call<S>>();
  /** Cancelled calls that the child has not ended: they may still send server requests and log messages. */
  readonly #cancelledCalls = new Map<RequestId, CancelledCall<S>>();
  /** Cancelled calls by the id of the ping that was sent after them. */
  readonly #pings = new Map<RequestId, CancelledCall<S>>();

  constructor(options: CallsOptions<S>) {
    this.#options = options;
  }

  /** Sends a request. @returns its answer, which holds an error if the request could not be sent */
  begin(
    request: Request,
    owner: S,
    signal: AbortSignal,
    onResponse: (response: Response) => Change[] = () => [],
  ): Answer {
    const { child, room, limits } = this.#options;
    const answer = new Answer(room, limits);
    const rawCallerId = request.raw.get('id') ?? 'null';
    const refuse = (message: string) =>
      answer.finish(errorText(rawCallerId, RPC.internalError, message), 503);
    if (signal.aborted) {
      answer.drop();
      return answer;
    }
    if (this.#live.size + this.cancelledCalls().length >= limits.calls) {
      refuse('Too many calls are running');
      return answer;
    }
    const id = child.nextId();
    const progressToken = rawAt(request.raw, 'params', '_meta', 'progressToken');
    const changes: Change[] = [[['id'], String(id)]];
    if (progressToken !== undefined) {
      changes.push([['params', '_meta', 'progressToken'], String(id)]);
    }
    const wantsLog = rawAt(request.raw, 'params', '_meta', META.logLevel) !== undefined;
    const { id: callerId, method } = request;
    const known = { id, callerId, rawCallerId, owner, method, progressToken, wantsLog };
    const call: Call<S> = { ...known, answer, onResponse };
    if (!child.send(withMembers(request.raw, ...changes))) {
      refuse('The server does not accept requests now');
      return answer;
    }
    this.#live.set(id, call);
    signal.addEventListener('abort', () => this.#hangUp(call), { once: true });
    return answer;
  }

  /** Passes on a response of the child. */
  respond(response: Response): void {
    const id = toOwnId(response.id);
    this.#cancelledCalls.delete(id);
    const cancelledCall = this.#pings.get(id);
    if (cancelledCall) {
      this.#pings.delete(id);
      cancelledCall.until = Math.min(
        cancelledCall.until,
        Date.now() + this.#options.limits.cancelledMs,
      );
    }
    const call = this.#live.get(id);
    if (!call) return;
    this.#live.delete(call.id);
    const changes = call.onResponse(response);
    call.answer.finish(withMembers(response.raw, [['id'], call.rawCallerId], ...changes));
  }

  /** Passes progress on to the caller that owns the token. */
  progress(notification: Notification): void {
    const call = this.#live.get(toOwnId(notification.params['progressToken'] as RequestId));
    if (call?.progressToken === undefined) return;
    const change: Change = [['params', 'progressToken'], call.progressToken];
    call.answer.notify(withMembers(notification.raw, change));
  }

  get(id: unknown): Call<S> | undefined {
    return this.#live.get(id as RequestId);
  }

  /** Returns the owner's latest call with this request id. */
  find(owner: S, callerId: unknown): Call<S> | undefined {
    return [...this.#live.values()].findLast(
      call => call.owner === owner && call.callerId === callerId,
    );
  }

  /** Calls in flight, the latest last. */
  live(): Call<S>[] {
    return [...this.#live.values()];
  }

  /** Cancelled calls that the child may still be working on, as far as that can be known. */
  cancelledCalls(): Call<S>[] {
    const now = Date.now();
    for (const cancelledCalls of [this.#cancelledCalls, this.#pings]) {
      for (const [id, { until }] of cancelledCalls) if (until <= now) cancelledCalls.delete(id);
    }
    return [...this.#cancelledCalls.values()].map(({ call }) => call);
  }

  /** Cancels a call and ends its answer. @param notification the caller's own, if it sent one */
  cancel(call: Call<S>, notification?: Notification): void {
    if (!this.#live.delete(call.id)) return;
    const { child, limits, pings } = this.#options;
    const cancelledCall = {
      call,
      until: Date.now() + (pings ? limits.maxCancelledMs : limits.cancelledMs),
    };
    this.#cancelledCalls.set(call.id, cancelledCall);
    const blank: Notification['raw'] = new Map([
      ['jsonrpc', '"2.0"'],
      ['method', '"notifications/cancelled"'],
    ]);
    const id: Change = [['params', 'requestId'], String(call.id)];
    child.send(withMembers(notification?.raw ?? blank, id));
    if (pings) {
      const pingId = child.nextId();
      this.#pings.set(pingId, cancelledCall);
      child.send(requestText(pingId, 'ping'));
    }
    call.answer.end();
  }

  /** Ends a call without a response, because the child said that none will come. */
  end(call: Call<S>): void {
    if (this.#live.delete(call.id)) call.answer.end();
  }

  /** The run is over: every call in flight ends with an error. */
  close(reason: string): void {
    for (const call of this.#live.values()) {
      const message = `The server ${reason} before it answered`;
      call.answer.finish(errorText(call.rawCallerId, RPC.internalError, message), 502);
    }
    this.#live.clear();
    this.#cancelledCalls.clear();
    this.#pings.clear();
  }

  #hangUp(call: Call<S>): void {
    // An answer that is complete may not have been read yet.
    call.answer.drop();
    if (!this.#live.has(call.id)) return;
    this.cancel(call);
    this.#options.onGone?.(call);
  }
}
