/**
 * An event stream that stays open: it ends here, in the Worker, and is fed by a socket from the
 * client's object, so that the object can sleep. Comments keep the connection alive; at each of
 * them, and before each event, it is checked that the caller may still listen.
 */
import { PorticoError } from '../errors/portico-error.ts';
import { FrameReader, type Frame } from '../session/stream-frames.ts';
import type { StreamOpening } from '../session/stream-opening.ts';

export interface StreamTerms {
  opening: StreamOpening;
  keepAliveMs: number;
  /** Text for the client, or an empty one. */
  toText(frame: Frame): string | Promise<string>;
  /** Last words of a stream that ends in good order. */
  farewell: string;
  /** Whether the caller may still listen. */
  isAllowed(): Promise<boolean>;
}

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
/** Most bytes that wait for a slow client before its stream is cut. */
const MAX_WAITING_BYTES = 8_388_608;
const NORMAL_CLOSE = 1000;

/** A refusal ends the stream in good order; anything else breaks it, and the client comes back. */
function refused(thrown: unknown): false {
  if (thrown instanceof PorticoError) return false;
  throw thrown;
}

/** @param socket leads to the client's object; not yet accepted */
export function streamResponse(socket: WebSocket, terms: StreamTerms): Response {
  const encoder = new TextEncoder();
  const frames = new FrameReader();
  let timer: ReturnType<typeof setInterval> | null = null;
  let turn = Promise.resolve();
  let isOver = false;

  function over(): void {
    isOver = true;
    clearInterval(timer);
    if (socket.readyState === WebSocket.OPEN) socket.close(NORMAL_CLOSE, 'gone');
  }

  function start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const write = (text: string) => {
      if (isOver || text === '') return;
      controller.enqueue(encoder.encode(text));
      if ((controller.desiredSize ?? 0) < 0) end('');
    };
    const end = (farewell: string) => {
      if (isOver) return;
      if (farewell !== '') controller.enqueue(encoder.encode(farewell));
      over();
      controller.close();
    };
    /** One after the other, so that a check that takes time changes no order. */
    const next = (text: () => string | Promise<string>) => {
      const last = turn;
      const work = async () => {
        await last;
        if (isOver) return;
        if (await terms.isAllowed().catch(refused)) write(await text());
        else end(terms.farewell);
      };
      turn = work().catch(() => end(''));
    };
    socket.addEventListener('message', ({ data }) => {
      const frame = typeof data === 'string' ? frames.push(data) : undefined;
      if (frame) next(() => terms.toText(frame));
    });
    socket.addEventListener('close', ({ code }) => {
      turn = turn.then(() => end(code === NORMAL_CLOSE ? terms.farewell : ''));
    });
    socket.addEventListener('error', () => end(''));
    socket.accept();
    socket.send(JSON.stringify(terms.opening));
    timer = setInterval(() => next(() => ': keep-alive\n\n'), terms.keepAliveMs);
  }

  const body = new ReadableStream<Uint8Array>(
    { start, cancel: over },
    { highWaterMark: MAX_WAITING_BYTES, size: chunk => chunk?.byteLength ?? 0 },
  );
  return new Response(body, { headers: HEADERS });
}
