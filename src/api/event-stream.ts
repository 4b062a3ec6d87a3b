/**
 * An answer as an event stream: what happens while it happens, and what came of it in the last event. Comments keep the connection alive.
 * A client that goes away, or does not read, ends the work.
 */
import { toSseText } from '../http/sse-events.ts';
import { toPorticoError } from '../shared/errors/portico-error.ts';
import { toProblem } from '../shared/errors/to-problem.ts';

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
/** Most bytes that wait for a slow client before it is taken for gone. */
const MAX_WAITING_BYTES = 8_388_608;
/** Longest silence: a client that closed its connection may show only when something is written to it. */
const SILENCE_MS = 1_000;

/** Tells an event. @param data its JSON text */
export type Tell = (type: string, data: string) => void;

export interface StreamedWork {
  /** What throws is told as an `error`, a problem as every route has it. */
  run(tell: Tell): Promise<void>;
  /** Told when the client goes away. */
  onGone(): void;
  /** Told when all of it is over. */
  onEnd?(): void;
  /** Longest silence, where it may be longer. */
  silenceMs?: number;
}

/** Whether a request wants events. */
export const wantsEvents = (accept: string | undefined): boolean =>
  (accept ?? '').startsWith('text/event-stream');

/** Begin the work, and answer with what it tells. */
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
          // One event may be larger than all that may wait; none comes after it then.
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
