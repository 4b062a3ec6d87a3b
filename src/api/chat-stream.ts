/**
 * A chat as an event stream: what happens while it happens, the whole of it in the last event. Comments keep the connection alive. A client
 * that goes away stops the run; what was done is kept.
 */
import type { ChatEvent } from '../agents/chat/chat-events.ts';
import type { ReadyChat } from '../agents/chat/chat-service.ts';
import { toPorticoError } from '../shared/errors/portico-error.ts';
import { toProblem } from '../shared/errors/to-problem.ts';
import { toSseText } from '../http/sse-events.ts';

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
/** Most bytes that wait for a slow client before it is taken for gone. */
const MAX_WAITING_BYTES = 8_388_608;

/** Longest silence: a client that closed its connection may show only when something is written to it. */
const SILENCE_MS = 1_000;

/** @param onGone told when the client goes away */
export function toChatStream(chat: ReadyChat, onGone: () => void): Response {
  const encoder = new TextEncoder();
  let isOver = false;
  let isSilent = true;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const write = (text: string) => {
          if (isOver) return;
          isSilent = false;
          controller.enqueue(encoder.encode(text));
          if ((controller.desiredSize ?? 0) >= 0) return;
          isOver = true;
          controller.error(new Error('The client does not read'));
          onGone();
        };
        const tell = (event: ChatEvent) => write(toSseText(JSON.stringify(event), event.type));
        const timer = setInterval(() => {
          if (isSilent) write(': keep-alive\n\n');
          isSilent = true;
        }, SILENCE_MS);
        const run = async () => {
          tell({ type: 'chat', id: chat.id });
          try {
            await chat.run({ tell, isStreamed: true });
          } catch (thrown) {
            write(toSseText(JSON.stringify(toProblem(toPorticoError(thrown))), 'error'));
          } finally {
            clearInterval(timer);
          }
          if (!isOver) controller.close();
          isOver = true;
        };
        void run();
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
