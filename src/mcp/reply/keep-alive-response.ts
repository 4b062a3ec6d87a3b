/**
 * Responses that take long. A closed connection shows only when something is written to it, so comments break every silence, also before
 * there is anything to send; the response is then an event stream, whatever it would have been. Large messages are written at the client's
 * pace.
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
 * Returns texts as an event stream; a client that disconnects ends the generator.
 * @param holder holds in memory what the texts are made of
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

  /** Breaks the stream and releases what its texts were made of. */
  function failed(thrown: unknown): never {
    stall.stop();
    release();
    throw thrown;
  }
}

/**
 * Returns the response if it comes soon, else a stream that begins before the response and ends with it.
 * @param toText the message to send where there is no response
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

/** The body of an event stream; any other response becomes one event. */
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

/** Turns bytes of a JSON text into data of an event. A CRLF becomes two line breaks, which mean the same there as one. */
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

/** Resolves to the promise's value, or to undefined where it takes longer than a silence may last. */
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
