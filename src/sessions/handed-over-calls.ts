/**
 * Calls that the Worker makes for a client that answers with its next request, at a server that may send server requests. When the server
 * sends one, the rest of the call is handed over to the client's object: its messages go there as lines, the answers come back, and the
 * Worker lives on for as long as that takes. A Worker on Cloudflare ends 30 seconds after its response, so there the object makes such
 * calls from their beginning (docs/decisions/0007-questions-across-eras.md).
 */
import type { RpcStub } from 'cloudflare:workers';
import type { CallContext, CallMessages, CallReply } from '../upstream/protocol/call.ts';
import type { Question, RawAnswer } from '../upstream/protocol/server-request.ts';
import { toFailure, toLine, toLineStream, type CallLine } from './call-stream.ts';

/** Passes on the answer to a server request of a call; the key is that of the request's line. */
export type AnswerByKey = (key: string, answer: RawAnswer) => Promise<void>;

/** An answer function that an object keeps beyond the request that brought it. */
export interface KeptAnswer {
  give: AnswerByKey;
  drop(): void;
}

/** Keeps an RPC function: whatever a request brings to an object ends with that request, unless it is duplicated. */
export function keepAnswer(answer: AnswerByKey): KeptAnswer {
  const doubled = (answer as unknown as RpcStub<AnswerByKey>).dup();
  return { give: (key, given) => doubled(key, given), drop: () => doubled[Symbol.dispose]() };
}

/** Takes over a call: reads its lines, returns the messages for its client. */
type TakeOver = (lines: ReadableStream<Uint8Array>, answer: AnswerByKey) => Promise<CallMessages>;

/**
 * Makes a call in this Worker.
 * @param make makes it in the given context
 * @param takeOver called when the server sends a server request
 */
export async function callHere(
  context: CallContext,
  make: (context: CallContext) => Promise<CallReply>,
  takeOver: TakeOver,
): Promise<CallReply> {
  // The call's deadline may outlive the request, so it uses timers of its own.
  const { timers: _, ...rest } = context;
  const client = followed(context.signal);
  const reply = await make({ ...rest, signal: client.signal }).catch((error: unknown) => {
    client.leave();
    throw error;
  });
  if ('response' in reply) {
    client.leave();
    return reply;
  }
  const { messages } = reply;
  const handOver = async (question: Question) => {
    client.leave();
    const open = new Map<string, Question>();
    const over = Promise.withResolvers<void>();
    context.waitUntil(over.promise);
    const release = context.bytes?.retain();
    const onEnd = () => {
      release?.();
      over.resolve();
    };
    // The reader of the lines may disconnect before they have begun.
    const onGone = () => {
      client.end();
      messages.return().then(onEnd, onEnd);
    };
    const lines = toLines(question, messages, open, onEnd);
    const answer: AnswerByKey = async (key, given) => {
      const waiting = open.get(key);
      open.delete(key);
      await waiting?.answer(given);
    };
    return takeOver(toLineStream(lines, onGone), answer).catch((error: unknown) => {
      onGone();
      throw error;
    });
  };
  return { messages: untilQuestion(messages, handOver, client.leave) };
}

/** Returns a signal that aborts with another one, until `leave` is called. */
function followed(signal: AbortSignal) {
  const controller = new AbortController();
  const end = () => controller.abort();
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return { signal: controller.signal, end, leave: () => signal.removeEventListener('abort', end) };
}

/** Yields the messages of a call; from its first server request on, those of whoever took it over. */
async function* untilQuestion(
  messages: CallMessages,
  handOver: (question: Question) => Promise<CallMessages>,
  leave: () => void,
): CallMessages {
  let isHandedOver = false;
  try {
    for (;;) {
      const { done, value } = await messages.next();
      if (done) return;
      if (value.kind === 'question') {
        isHandedOver = true;
        yield* await handOver(value);
        return;
      }
      yield value;
    }
  } finally {
    if (!isHandedOver) await messages.return();
    leave();
  }
}

/** Yields the rest of a call as lines. @param open collects its server requests @param onEnd called when nothing more will come */
async function* toLines(
  first: Question,
  rest: CallMessages,
  open: Map<string, Question>,
  onEnd: () => void,
): AsyncGenerator<CallLine, void, undefined> {
  let count = 0;
  const toQuestionLine = (question: Question): CallLine => {
    count += 1;
    const key = `h${count}`;
    open.set(key, question);
    return { kind: 'question', callId: '', key, method: question.method, params: question.params };
  };
  try {
    yield toQuestionLine(first);
    for await (const message of rest) {
      if (message.kind === 'question') yield toQuestionLine(message);
      else if (message.kind !== 'cancellation') yield toLine(message);
      else {
        const [key] = [...open].find(([, question]) => question === message.of) ?? [];
        const { params } = message;
        if (key !== undefined && open.delete(key)) yield { kind: 'withdrawal', key, params };
      }
    }
  } catch (thrown) {
    yield toFailure(thrown);
  } finally {
    await rest.return();
    onEnd();
  }
}
