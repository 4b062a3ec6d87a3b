/**
 * An event stream that stays open: it ends here, in the Worker, and is fed by a socket from the
 * client's object, so that the object can sleep. Comments keep the connection alive; at each of
 * them, and before each event, it is checked that the caller may still listen.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { FrameReader, type Frame } from '../../sessions/stream-frames.ts';
import type { ListEvent } from '../../shared/events.ts';
import {
  parseRecheck,
  type StreamOpening,
  type StreamView,
} from '../../sessions/stream-opening.ts';

/** A stream that is open, for those who tell on it what does not come from the object. */
export interface LiveStream {
  /** What is told comes after all that was told before. */
  tell(text: () => string | Promise<string>): void;
  /** End it in good order. */
  end(): void;
  /** Aborts when the stream is over. */
  signal: AbortSignal;
}

export interface StreamTerms {
  opening: StreamOpening;
  keepAliveMs: number;
  /** Aborts when the client goes away. */
  signal: AbortSignal;
  /** Text for the client, or an empty one. */
  toText(frame: Frame, live: LiveStream): string | Promise<string>;
  /** Last words of a stream that ends in good order. */
  prepareRemoval: string;
  /** Whether the caller may still listen. */
  isAllowed(): Promise<boolean>;
  /** Told when the client's object has the stream, or it is over before that; maybe more than once. */
  onOpen(): void;
  /** Told when the stream is over, or could not be opened. */
  release(): void;
  /** What the caller's lists are now that this is said to have changed. */
  look(change: readonly ListEvent[]): Promise<StreamView>;
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
  let timer: ReturnType<typeof setTimeout> | null = null;
  let turn = Promise.resolve();
  const controller = new AbortController();
  let isOver = false;

  function over(): void {
    isOver = true;
    controller.abort();
    clearTimeout(timer);
    terms.onOpen();
    terms.release();
    if (socket.readyState === WebSocket.OPEN) socket.close(NORMAL_CLOSE, 'gone');
  }

  function start(body: ReadableStreamDefaultController<Uint8Array>): void {
    const write = (text: string) => {
      if (isOver || text === '') return;
      body.enqueue(encoder.encode(text));
      if ((body.desiredSize ?? 0) < 0) end('');
    };
    const end = (prepareRemoval: string) => {
      if (isOver) return;
      if (prepareRemoval !== '') body.enqueue(encoder.encode(prepareRemoval));
      over();
      body.close();
    };
    /** One after the other, so that a check that takes time changes no order. */
    const next = (text: () => string | Promise<string>) => {
      const last = turn;
      const work = async () => {
        await last;
        if (isOver) return;
        if (await terms.isAllowed().catch(refused)) write(await text());
        else end(terms.prepareRemoval);
      };
      turn = work().catch(() => end(''));
    };
    const look = async (change: readonly ListEvent[]) => {
      const view = await terms.look(change);
      if (!isOver) socket.send(JSON.stringify(view));
      return '';
    };
    const endLast = (prepareRemoval: string) => {
      turn = turn.then(() => end(prepareRemoval));
    };
    const keepAlive = (inMs: number) => {
      timer = setTimeout(() => {
        next(() => ': keep-alive\n\n');
        if (!isOver) keepAlive(terms.keepAliveMs);
      }, inMs);
    };
    const live: LiveStream = {
      tell: next,
      end: () => endLast(terms.prepareRemoval),
      signal: controller.signal,
    };
    socket.addEventListener('message', ({ data }) => {
      const frame = typeof data === 'string' ? frames.push(data) : undefined;
      if (!frame) return;
      terms.onOpen();
      const change = parseRecheck(frame.text);
      next(() => (change ? look(change) : terms.toText(frame, live)));
    });
    socket.addEventListener('close', ({ code }) => {
      endLast(code === NORMAL_CLOSE ? terms.prepareRemoval : '');
    });
    socket.addEventListener('error', () => end(''));
    socket.accept();
    socket.send(JSON.stringify(terms.opening));
    // Streams that were opened together are not all looked after at the same time.
    keepAlive((terms.keepAliveMs * (1 + Math.random())) / 2);
  }

  const body = new ReadableStream<Uint8Array>(
    { start, cancel: over },
    { highWaterMark: MAX_WAITING_BYTES, size: chunk => chunk?.byteLength ?? 0 },
  );
  // The platform never cancels the stream of an answer whose client went before it was there.
  if (terms.signal.aborted) body.cancel().catch(() => {});
  return new Response(body, { headers: HEADERS });
}
