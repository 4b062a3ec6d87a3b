/**
 * Answers that take long. A client that closed its connection shows only when something is written
 * to it, so a silence is broken by comments, also before there is anything to say: then the answer
 * is an event stream, whatever it would have been.
 */
import { toSseText } from '../lib/sse-events.ts';

/** Longest silence on the stream of a call, in milliseconds. */
const SILENCE_MS = 1_000;

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

const encoder = new TextEncoder();

/** Texts as an event stream; a client that goes away ends the generator. */
export function toStream(
  texts: AsyncGenerator<string, void, undefined>,
): ReadableStream<Uint8Array> {
  let next: Promise<IteratorResult<string, void>> | undefined;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      next ??= texts.next();
      const step = await soon(next);
      if (step === undefined) return controller.enqueue(encoder.encode(': keep-alive\n\n'));
      next = undefined;
      if (step.done) controller.close();
      else controller.enqueue(encoder.encode(toSseText(step.value)));
    },
    async cancel() {
      await texts.return();
    },
  });
}

/**
 * The response where it comes soon, else a stream that begins before it and ends with it.
 * @param toText the answer to be given where there is no response
 */
export async function patiently(
  responding: Promise<Response>,
  toText: (thrown: unknown) => string,
): Promise<Response> {
  const response = await soon(responding);
  if (response) return response;
  const content = responding.then(contentOf, toText);
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!reader) {
        const late = await soon(content);
        if (late === undefined) return controller.enqueue(encoder.encode(': keep-alive\n\n'));
        if (typeof late === 'string') {
          controller.enqueue(encoder.encode(toSseText(late)));
          return controller.close();
        }
        reader = late.getReader();
      }
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      const late = reader ?? (await content);
      if (typeof late !== 'string') await late.cancel();
    },
  });
  return new Response(body, { headers: STREAM_HEADERS });
}

/** The body of an event stream, or the text of any other response. */
async function contentOf(response: Response): Promise<ReadableStream<Uint8Array> | string> {
  const isStream = response.headers.get('content-type')?.includes('event-stream');
  return isStream && response.body ? response.body : response.text();
}

/** What a promise gives, or undefined where that takes longer than a silence may be. */
async function soon<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const silence = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), SILENCE_MS);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
}
