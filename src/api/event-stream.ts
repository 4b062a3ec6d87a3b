/**
 * A response as an event stream: progress as it happens, and the outcome in the last event. Comments keep the connection alive. A client
 * that goes away or does not read ends the work.
 */
import { toSseText } from '../http/sse-events.ts';
import { toPorticoError } from '../shared/errors/portico-error.ts';
import { toProblem } from '../shared/errors/to-problem.ts';

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
/** Bytes that may wait for a slow client before the client counts as gone. */
const MAX_WAITING_BYTES = 8_388_608;
/** Longest silence, in milliseconds: a closed connection may show only on the next write. */
const SILENCE_MS = 1_000;

/** Sends an event. @param data its JSON text */
export type SendEvent = (type: string, data: string) => void;

export interface StreamedWork {
  /** An exception becomes an `error` event with a problem, as in every route. */
  run(send: SendEvent): Promise<void>;
  /** Called when the client goes away. */
  onGone(): void;
  /** Called when all work is over. */
  onEnd?(): void;
  /** Longest silence, in milliseconds, where it may be longer than the default. */
  silenceMs?: number;
}

/** Whether a request wants an event stream: its first choice is one, in either case (RFC 9110, section 8.3.1). */
export const wantsEvents = (accept: string | undefined): boolean =>
  (accept ?? '').toLowerCase().startsWith('text/event-stream');

/** Starts the work and returns a response that streams its events. */
export function toEventStream({
  run,
  onGone,
  onEnd,
  silenceMs = SILENCE_MS,
}: StreamedWork): Response {
  const encoder = new TextEncoder();
  let isOver = false;
  let isSilent = true;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const write = (text: string) => {
          if (isOver) return;
          isSilent = false;
          // A single event may exceed the limit; then no further event is accepted.
          const isFull = (controller.desiredSize ?? 0) <= 0;
          if (!isFull) return controller.enqueue(encoder.encode(text));
          isOver = true;
          controller.error(new Error('The client does not read'));
          onGone();
        };
        const timer = setInterval(() => {
          if (isSilent && (controller.desiredSize ?? 0) > 0) write(': keep-alive\n\n');
          isSilent = true;
        }, silenceMs);
        const work = async () => {
          try {
            await run((type, data) => write(toSseText(data, type)));
          } catch (thrown) {
            write(toSseText(JSON.stringify(toProblem(toPorticoError(thrown))), 'error'));
          } finally {
            clearInterval(timer);
            onEnd?.();
          }
          if (!isOver) controller.close();
          isOver = true;
        };
        void work();
      },
      cancel() {
        isOver = true;
        onGone();
      },
    },
    { highWaterMark: MAX_WAITING_BYTES, size: chunk => chunk?.byteLength ?? 0 },
  );
  return new Response(body, { headers: HEADERS });
}
