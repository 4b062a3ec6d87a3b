/**
 * Calls that a ClientSession object makes for the Worker, because they hold an HTTP+SSE connection or may have to wait for a client that
 * answers with its next request; and calls that it takes over because their servers sent server requests (`handed-over-calls.ts`). A
 * waiting call is suspended: its stream at the upstream stays open, its server requests are kept, and the client's retry continues where
 * the call stopped. Suspended calls live in memory only: one that outlives its limit, or its object, is ended, and the upstream is
 * notified.
 */
import type { WaitUntil } from '../shared/util/wait-until.ts';
import type { ByteLimits } from '../shared/limits/limit-settings.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { JsonObject } from '../shared/protocol.ts';
import { bytesOfIsolate, type RequestBytes } from '../shared/limits/bytes-in-flight.ts';
import type {
  CallContext,
  CallMessage,
  CallMessages,
  CallReply,
} from '../upstream/protocol/call.ts';
import type { Question, RawAnswer } from '../upstream/protocol/server-request.ts';
import { toEventMeter } from '../http/read-text.ts';
import type { ObjectCall, Upstreams } from '../upstream/upstream-client.ts';
import {
  readLines,
  toFailure,
  toLine,
  toLineStream,
  toMessages,
  type CallLine,
  type GiveAnswer,
  type SuspendedRequest,
} from './call-stream.ts';
import type { AnswerByKey, KeptAnswer } from './handed-over-calls.ts';

/** What the Worker passes on about the client of a call. */
export interface CallTerms {
  capabilities: JsonObject;
  questions: CallContext['questions'];
}

export interface ObjectCallSettings {
  bytesInFlight: ByteLimits;
  questionTimeoutMs: number;
  maxAnswerBytes: number;
}

interface LiveCall {
  id: string;
  terms: CallTerms;
  messages: CallMessages;
  /** A message that was awaited when the call was suspended. */
  next: Promise<IteratorResult<CallMessage, void>> | undefined;
  open: Map<string, Question>;
  controller: AbortController;
  bytes: RequestBytes;
  suspendTimer: ReturnType<typeof setTimeout> | null;
}

const MAX_LIVE_CALLS = 500;
/** How long after a server request the next one still belongs to the same round, in milliseconds. */
const GATHER_MS = 30;

const after = (ms: number) => new Promise<undefined>(resolve => setTimeout(resolve, ms));

export class ObjectCalls {
  readonly #upstreams: Upstreams;
  readonly #newBytes: () => RequestBytes;
  readonly #suspendLimitMs: number;
  readonly #maxAnswerBytes: number;
  readonly #live = new Map<string, LiveCall>();
  #questions = 0;

  /** @param id of the object, whose calls are counted together */
  constructor(
    upstreams: Upstreams,
    { bytesInFlight, questionTimeoutMs, maxAnswerBytes }: ObjectCallSettings,
    id: DurableObjectId,
  ) {
    this.#maxAnswerBytes = maxAnswerBytes;
    this.#upstreams = upstreams;
    this.#newBytes = () => bytesOfIsolate(bytesInFlight).request(`object ${id.toString()}`);
    this.#suspendLimitMs = questionTimeoutMs;
  }

  /** Makes a call and streams its messages, up to the response or until the call is suspended. */
  start(call: ObjectCall, terms: CallTerms, waitUntil: WaitUntil): ReadableStream<Uint8Array> {
    const controller = new AbortController();
    return toLineStream(this.#make(call, terms, controller, waitUntil), () => controller.abort());
  }

  /**
   * Takes over a call that a Worker made, and streams its messages.
   * @param lines its messages @param answer takes the answers to its server requests
   */
  adopt(
    lines: ReadableStream<Uint8Array>,
    answer: KeptAnswer,
    terms: CallTerms,
  ): ReadableStream<Uint8Array> {
    const controller = new AbortController();
    controller.signal.addEventListener('abort', () => {
      answer.drop();
      // Tells the Worker that the call has ended, even where nobody reads the lines.
      lines.cancel().catch(() => {});
    });
    const taken = this.#takeOver(lines, answer.give, terms, controller);
    return toLineStream(taken, () => controller.abort());
  }

  /** Gives a suspended call its answers and streams its further messages; fails where the call is gone. */
  resume(callId: string, answers: ReadonlyMap<string, RawAnswer>): ReadableStream<Uint8Array> {
    const live = this.#live.get(callId);
    const call = live && live.suspendTimer !== null ? live : undefined;
    // Claimed at once, so that a second retry with the same state finds no waiting call.
    if (call) this.#unpark(call);
    return toLineStream(this.#goOn(call, answers), () => call && this.#end(call));
  }

  async *#make(
    { server, request, name }: ObjectCall,
    terms: CallTerms,
    controller: AbortController,
    waitUntil: WaitUntil,
  ): AsyncGenerator<CallLine, void, undefined> {
    const bytes = this.#newBytes();
    let reply: CallReply;
    try {
      if (this.#live.size >= MAX_LIVE_CALLS) throw new PorticoError('too_many_calls');
      const context = { signal: controller.signal, owner: () => '', waitUntil, bytes, ...terms };
      reply = await this.#upstreams.call(server, request, name, context);
    } catch (thrown) {
      bytes.release();
      yield toFailure(thrown);
      return;
    }
    if ('response' in reply) {
      try {
        yield toLine(reply.response);
      } finally {
        bytes.release();
      }
      return;
    }
    yield* this.#linesOf(this.#begin({ terms, messages: reply.messages, controller, bytes }));
  }

  async *#takeOver(
    lines: ReadableStream<Uint8Array>,
    answer: AnswerByKey,
    terms: CallTerms,
    controller: AbortController,
  ): AsyncGenerator<CallLine, void, undefined> {
    if (this.#live.size >= MAX_LIVE_CALLS) {
      controller.abort();
      yield toFailure(new PorticoError('too_many_calls'));
      return;
    }
    const { signal } = controller;
    const bytes = this.#newBytes();
    const onHeld = toEventMeter(bytes, 2 * this.#maxAnswerBytes, signal);
    const give: GiveAnswer = (_callId, key, given) => answer(key, given);
    const messages = toMessages(readLines(lines, signal, onHeld), give, { bytes, signal });
    yield* this.#linesOf(this.#begin({ terms, messages, controller, bytes }));
  }

  #begin(begun: Pick<LiveCall, 'terms' | 'messages' | 'controller' | 'bytes'>): LiveCall {
    const id = crypto.randomUUID();
    const call = { id, ...begun, next: undefined, open: new Map(), suspendTimer: null };
    this.#live.set(id, call);
    return call;
  }

  async *#goOn(
    call: LiveCall | undefined,
    answers: ReadonlyMap<string, RawAnswer>,
  ): AsyncGenerator<CallLine, void, undefined> {
    if (!call) {
      yield toFailure(new PorticoError('call_gone'));
      return;
    }
    try {
      for (const [key, answer] of answers) await this.answer(call.id, key, answer);
    } catch {
      // The Worker that made the call is gone.
      this.#end(call);
      yield toFailure(new PorticoError('call_gone'));
      return;
    }
    if (call.open.size > 0) yield this.#suspend(call);
    else yield* this.#linesOf(call);
  }

  /** Passes on the answer to one of a call's server requests. */
  async answer(callId: string, key: string, answer: RawAnswer): Promise<void> {
    const call = this.#live.get(callId);
    const question = call?.open.get(key);
    call?.open.delete(key);
    await question?.answer(answer);
  }

  /** Number of calls that have begun and not ended. */
  get size(): number {
    return this.#live.size;
  }

  async *#linesOf(call: LiveCall): AsyncGenerator<CallLine, void, undefined> {
    let stays = false;
    try {
      for (;;) {
        call.next ??= call.messages.next();
        const { done, value } = await call.next;
        call.next = undefined;
        if (done) return;
        if (value.kind === 'cancellation') {
          const [key] = [...call.open].find(([, question]) => question === value.of) ?? [];
          if (key !== undefined && call.open.delete(key)) {
            yield { kind: 'withdrawal', key, params: value.params };
          }
          continue;
        }
        if (value.kind !== 'question') {
          yield toLine(value);
          continue;
        }
        const question = this.#keep(call, value);
        if (call.terms.questions === 'ask') {
          yield { kind: 'question', callId: call.id, ...question };
          continue;
        }
        await this.#gather(call);
        stays = true;
        yield this.#suspend(call);
        return;
      }
    } catch (thrown) {
      yield toFailure(thrown);
    } finally {
      if (!stays) this.#end(call);
    }
  }

  /** A server may send several requests at once: those that follow immediately join the same round. */
  async #gather(call: LiveCall): Promise<void> {
    for (;;) {
      call.next ??= call.messages.next();
      const next = await Promise.race([call.next, after(GATHER_MS)]);
      if (!next || next.done || next.value.kind !== 'question') return;
      call.next = undefined;
      this.#keep(call, next.value);
    }
  }

  #keep(call: LiveCall, question: Question): SuspendedRequest {
    this.#questions += 1;
    const key = `q${this.#questions}`;
    call.open.set(key, question);
    return { key, method: question.method, params: question.params };
  }

  #suspend(call: LiveCall): CallLine {
    call.suspendTimer = setTimeout(() => this.#end(call), this.#suspendLimitMs);
    // Later messages of the server wait for the retry, including a failure.
    call.next?.catch(() => {});
    const questions = [...call.open].map(([key, { method, params }]) => ({ key, method, params }));
    return { kind: 'parked', callId: call.id, questions };
  }

  #unpark(call: LiveCall): void {
    clearTimeout(call.suspendTimer);
    call.suspendTimer = null;
  }

  /** Ends a call; its upstream is notified where it has not responded. */
  #end(call: LiveCall): void {
    this.#unpark(call);
    this.#live.delete(call.id);
    call.controller.abort();
    call.next?.catch(() => {});
    call.messages.return().catch(() => {});
    call.bytes.release();
  }
}
