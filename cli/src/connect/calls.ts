/**
 * The requests that are under way at one run of a child, for all clients together: each under an id of the child's own run, with a
 * progress token of its own, so that no two callers ever meet.
 *
 * Invariants: a request is sent once; a response is the child's, or none; what ends, ends once.
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

/** One request under way. `S` is what owns it: calls of different owners are kept apart. */
export interface Call<S> {
  /** Towards the child. */
  id: number;
  callerId: RequestId;
  /** Raw JSON. */
  rawCallerId: string;
  owner: S;
  method: string;
  /** Raw JSON of the caller's token. */
  progressToken: string | undefined;
  /** The caller wants log messages of this very call (modern era). */
  wantsLog: boolean;
  answer: Answer;
  /** What to replace in the response. */
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
  /** The child knows `ping`: what it answers to one, it says after it has seen what was sent before. */
  pings: boolean;
  /** The caller has hung up. */
  onGone?(call: Call<S>): void;
}

export class Calls<S> {
  readonly #options: CallsOptions<S>;
  readonly #live = new Map<RequestId, Call<S>>();
  /** Cancelled calls that the child has not ended: they may still ask and log. */
  readonly #cancelledCalls = new Map<RequestId, CancelledCall<S>>();
  /** Cancelled calls by the ping that was sent after them. */
  readonly #pings = new Map<RequestId, CancelledCall<S>>();

  constructor(options: CallsOptions<S>) {
    this.#options = options;
  }

  /** Sends a request. @returns its answer, also where it could not be sent */
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
      refuse('Too many calls are under way');
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
      refuse('The server does not take requests now');
      return answer;
    }
    this.#live.set(id, call);
    signal.addEventListener('abort', () => this.#hangUp(call), { once: true });
    return answer;
  }

  /** The child has answered. */
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

  /** The child tells of progress, to the caller whose token it was. */
  progress(notification: Notification): void {
    const call = this.#live.get(toOwnId(notification.params['progressToken'] as RequestId));
    if (call?.progressToken === undefined) return;
    const change: Change = [['params', 'progressToken'], call.progressToken];
    call.answer.notify(withMembers(notification.raw, change));
  }

  get(id: unknown): Call<S> | undefined {
    return this.#live.get(id as RequestId);
  }

  /** The call that was begun last under an id of its owner. */
  find(owner: S, callerId: unknown): Call<S> | undefined {
    return [...this.#live.values()].findLast(
      call => call.owner === owner && call.callerId === callerId,
    );
  }

  /** Calls under way, the latest last. */
  live(): Call<S>[] {
    return [...this.#live.values()];
  }

  /** Cancelled calls that the child may still be busy with, as far as that can be known. */
  cancelledCalls(): Call<S>[] {
    const now = Date.now();
    for (const cancelledCalls of [this.#cancelledCalls, this.#pings]) {
      for (const [id, { until }] of cancelledCalls) if (until <= now) cancelledCalls.delete(id);
    }
    return [...this.#cancelledCalls.values()].map(({ call }) => call);
  }

  /** Takes a call back; its answer ends. @param notification of the caller, if that is how */
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

  /** Ends a call without a response, because the child said that there is none to come. */
  end(call: Call<S>): void {
    if (this.#live.delete(call.id)) call.answer.end();
  }

  /** The run is over: nothing that is under way will be answered by it. */
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
    // What was answered may not be read yet.
    call.answer.drop();
    if (!this.#live.has(call.id)) return;
    this.cancel(call);
    this.#options.onGone?.(call);
  }
}
