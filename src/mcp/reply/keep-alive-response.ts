/**
 * Answers that take long. A client that closed its connection shows only when something is written
 * to it, so a silence is broken by comments, also before there is anything to say: then the answer
 * is an event stream, whatever it would have been. Large messages are written at the client's pace.
 */
import { slicesOf, StallTimer, type Holder } from '../../http/paced-body.ts';
import { RequestTimers } from '../../http/deadline.ts';
import { SMALL_BYTES } from '../../shared/limits/bytes-in-flight.ts';
import { toSseParts, toSseText } from '../../http/sse-events.ts';

/** Longest silence on the stream of a call, in milliseconds. */
const SILENCE_MS = 1_000;

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

const encoder = new TextEncoder();
const KEEP_ALIVE = ': keep-alive\n\n';

/**
 * Texts as an event stream; a client that goes away ends the generator.
 * @param holder has in memory what the texts are made of
 */
export function toStream(
  texts: AsyncGenerator<string, void, undefined>,
  holder?: Holder,
): ReadableStream<Uint8Array> {
  const release = holder?.retain() ?? (() => {});
  let next: Promise<IteratorResult<string, void>> | undefined;
  let slices: Iterator<Uint8Array, void> | undefined;
  let out: ReadableStreamDefaultController<Uint8Array> | undefined;
  const end = async () => {
    stall.stop();
    slices = undefined;
    await texts.return().finally(release);
  };
  const stall = new StallTimer(holder, () => {
    void end();
    out?.error(new Error('The client takes nothing'));
  });
  return new ReadableStream<Uint8Array>({
    start(controller) {
      out = controller;
    },
    async pull(controller) {
      stall.pause();
      const slice = slices?.next();
      if (slice && !slice.done) {
        controller.enqueue(slice.value);
        return stall.start();
      }
      slices = undefined;
      next ??= texts.next();
      const step = await soon(next.catch(failed));
      if (step === undefined) return controller.enqueue(encoder.encode(KEEP_ALIVE));
      next = undefined;
      if (step.done) {
        stall.stop();
        release();
        return controller.close();
      }
      slices = slicesOf(toSseParts(step.value));
      const first = slices.next();
      if (!first.done) controller.enqueue(first.value);
      if (step.value.length > SMALL_BYTES) stall.start();
    },
    cancel: end,
  });

  /** The stream breaks, and what its texts were made of goes. */
  function failed(thrown: unknown): never {
    stall.stop();
    release();
    throw thrown;
  }
}

/**
 * The response where it comes soon, else a stream that begins before it and ends with it.
 * @param toText the answer to be given where there is no response
 */
export async function keepAliveResponse(
  responding: Promise<Response>,
  toText: (thrown: unknown) => string,
  timers?: RequestTimers,
): Promise<Response> {
  const response = await soon(responding, timers);
  if (response) return response;
  const content = responding.then(contentOf, thrown => toBody(toSseText(toText(thrown))));
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!reader) {
        const late = await soon(content);
        if (late === undefined) return controller.enqueue(encoder.encode(KEEP_ALIVE));
        reader = late.getReader();
      }
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await (reader ?? (await content)).cancel();
    },
  });
  return new Response(body, { headers: STREAM_HEADERS });
}

/** The body of an event stream, or any other response as its one event. */
function contentOf({ headers, body }: Response): ReadableStream<Uint8Array> {
  if (!body) return toBody('');
  if (headers.get('content-type')?.includes('event-stream')) return body;
  const [before, , after] = toSseParts('');
  const asEvent = new TransformStream<Uint8Array, Uint8Array>({
    start: controller => controller.enqueue(encoder.encode(before)),
    transform: (bytes, controller) => controller.enqueue(asData(bytes)),
    flush: controller => controller.enqueue(encoder.encode(after)),
  });
  return body.pipeThrough(asEvent);
}

/** Bytes of a JSON text as data of an event; of a CRLF it makes two breaks, which mean as much as one there. */
function asData(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(LF) && !bytes.includes(CR)) return bytes;
  const out: number[] = [];
  for (const byte of bytes) {
    if (byte === LF || byte === CR) out.push(...DATA_BREAK);
    else out.push(byte);
  }
  return Uint8Array.from(out);
}

const LF = 0x0a;
const CR = 0x0d;
const DATA_BREAK = encoder.encode('\ndata: ');

const toBody = (text: string): ReadableStream<Uint8Array> =>
  new Response(text).body ?? new ReadableStream();

/** What a promise gives, or undefined where that takes longer than a silence may be. */
function soon<T>(promise: Promise<T>, timers = new RequestTimers()): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = timers.set(SILENCE_MS, () => resolve(undefined));
    promise.then(
      value => {
        cancel();
        return resolve(value);
      },
      (thrown: unknown) => {
        cancel();
        reject(thrown);
      },
    );
  });
}
