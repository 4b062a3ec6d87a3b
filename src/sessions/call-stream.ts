/** Messages of a call between an object and the Worker: one JSON value on each line. Pure but for the streams that it reads and writes. */
import { PorticoError, toPorticoError, type ErrorExtras } from '../shared/errors/portico-error.ts';
import type { ErrorCode } from '../shared/errors/table.ts';
import { fromRawMembers, type RawObject } from '../shared/json/json-spans.ts';
import type { JsonObject } from '../shared/protocol.ts';
import { isHeavy, roomToParse } from '../http/read-text.ts';
import type { CallContext, CallMessage, CallMessages } from '../upstream/protocol/call.ts';
import type { RawResponse } from '../upstream/protocol/message.ts';
import type {
  Question,
  RawAnswer,
  RequestCancellation,
} from '../upstream/protocol/server-request.ts';

/** A server request that waits in the object. */
export interface SuspendedRequest {
  key: string;
  method: string;
  /** Raw params. */
  params: string;
}

export type CallLine =
  | { kind: 'notification'; method: string; text: string }
  | ({ kind: 'question'; callId: string } & SuspendedRequest)
  | { kind: 'withdrawal'; key: string; params?: string }
  | { kind: 'result'; text: string }
  | { kind: 'error'; text: string }
  /** The call waits for its client to come back with answers. */
  | { kind: 'parked'; callId: string; questions: SuspendedRequest[] }
  | { kind: 'failure'; code: ErrorCode; detail: string; extras: ErrorExtras };

/** After this time without a line, an empty line is written, in milliseconds. */
const BEAT_MS = 500;

/**
 * Turns lines into bytes. A reader that has gone ends the source. That shows only when a line is written, so silence is broken by empty
 * lines.
 */
export function toLineStream(
  lines: AsyncGenerator<CallLine, void, undefined>,
  onGone: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<CallLine, void>> | undefined;
  return new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      next ??= lines.next();
      let timer: ReturnType<typeof setTimeout> | null = null;
      const silence = new Promise<'silence'>(resolve => {
        timer = setTimeout(() => resolve('silence'), BEAT_MS);
      });
      const step = await Promise.race([next, silence]);
      clearTimeout(timer);
      if (step === 'silence') return controller.enqueue(encoder.encode('\n'));
      next = undefined;
      if (!step.done) return controller.enqueue(encoder.encode(`${JSON.stringify(step.value)}\n`));
      controller.close();
      controller.byobRequest?.respond(0);
    },
    async cancel() {
      onGone();
      await lines.return();
    },
  });
}

/**
 * Reads lines from bytes; a failure line is thrown as the error that it was.
 * @param client aborts when the call's client disconnects; the source is cancelled at once
 * @param onHeld called with the size of the line in memory; reading waits for the promise that it may return
 */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  client: AbortSignal,
  onHeld?: (chars: number) => Promise<void> | undefined,
): AsyncGenerator<Exclude<CallLine, { kind: 'failure' }>, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const leave = () => void reader.cancel().catch(() => {});
  client.addEventListener('abort', leave, { once: true });
  if (client.aborted) leave();
  // Only new text is searched, so that a long line in many pieces takes time linear in its length.
  let begun: string[] = [];
  let held = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      held += value.byteLength;
      const waiting = onHeld?.(held);
      if (waiting) await waiting;
      const [first = '', ...others] = decoder.decode(value, { stream: true }).split('\n');
      begun.push(first);
      if (others.length === 0) continue;
      const lines = [begun.join(''), ...others];
      begun = [lines.pop() ?? ''];
      held = begun[0]?.length ?? 0;
      for (const text of lines) {
        if (text === '') continue;
        const line = JSON.parse(text) as CallLine;
        if (line.kind === 'failure') throw new PorticoError(line.code, line.detail, line.extras);
        yield line;
      }
    }
  } finally {
    client.removeEventListener('abort', leave);
    leave();
  }
}

/** Turns a message without a server request into a line. */
export function toLine(message: Exclude<CallMessage, Question | RequestCancellation>): CallLine {
  if (message.kind === 'notification') {
    return { kind: 'notification', method: message.method, text: message.text };
  }
  return 'result' in message
    ? { kind: 'result', text: message.result }
    : { kind: 'error', text: message.error };
}

/** Turns a call's error into a line. */
export function toFailure(thrown: unknown): CallLine {
  const { code, message, extras } = toPorticoError(thrown);
  return { kind: 'failure', code, detail: message, extras };
}

/** Passes the answer to a server request of a call. */
export type GiveAnswer = (callId: string, key: string, answer: RawAnswer) => Promise<void>;

/** Turns lines into messages. @param answer takes the answers to their server requests */
export async function* toMessages(
  lines: AsyncGenerator<Exclude<CallLine, { kind: 'failure' }>, void, undefined>,
  answer: GiveAnswer,
  { bytes, signal }: Pick<CallContext, 'bytes' | 'signal'>,
): CallMessages {
  const questions = new Map<string, Question>();
  for await (const line of lines) {
    if (line.kind === 'notification') yield line;
    else if (line.kind === 'question') {
      const { callId, key, method, params } = line;
      const give = (given: RawAnswer) => {
        questions.delete(key);
        return answer(callId, key, given);
      };
      const question: Question = { kind: 'question', method, params, answer: give };
      questions.set(key, question);
      yield question;
    } else if (line.kind === 'withdrawal') {
      const of = questions.get(line.key);
      questions.delete(line.key);
      // An object of the previous version sends no params.
      if (of) yield { kind: 'cancellation', of, params: line.params ?? '{}' };
    } else if (line.kind === 'parked') {
      yield toInputRequired(line.callId, line.questions);
      return;
    } else {
      bytes?.settle();
      const leave =
        bytes && isHeavy(line.text) ? await roomToParse(line.text, bytes, signal) : undefined;
      const response = toResponse(line);
      leave?.();
      yield response;
      return;
    }
  }
  throw new PorticoError('upstream_no_response');
}

function toResponse(line: { kind: 'result' | 'error'; text: string }): RawResponse {
  const parsed = JSON.parse(line.text) as JsonObject;
  return line.kind === 'result'
    ? { kind: 'response', result: line.text, parsed }
    : { kind: 'response', error: line.text, parsed };
}

/** Returns a suspended call as a result that asks the client to come back. */
function toInputRequired(callId: string, questions: readonly SuspendedRequest[]): RawResponse {
  const requests: RawObject = new Map(
    questions.map(({ key, method, params }) => [
      key,
      `{"method":${JSON.stringify(method)},"params":${params}}`,
    ]),
  );
  const result = fromRawMembers(
    new Map([
      ['resultType', '"input_required"'],
      ['inputRequests', fromRawMembers(requests)],
      ['requestState', JSON.stringify(callId)],
    ]),
  );
  return { kind: 'response', result, parsed: { resultType: 'input_required' } };
}
