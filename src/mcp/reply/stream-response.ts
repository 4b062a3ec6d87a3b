/**
 * An event stream that stays open. It ends here, in the Worker, and a socket from the client's object feeds it, so that the object can
 * sleep. Comments keep the connection alive; at each comment, and before each event, the caller's right to listen is checked.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { FrameReader, type Frame } from '../../sessions/stream-frames.ts';
import type { ListEvent } from '../../shared/events.ts';
import {
  parseRecheck,
  type StreamOpening,
  type StreamView,
} from '../../sessions/stream-opening.ts';

/** An open stream, for code that sends events on it that do not come from the object. */
export interface LiveStream {
  /** Sends a text after everything that was sent before. */
  send(text: () => string | Promise<string>): void;
  /** Ends the stream in good order. */
  end(): void;
  /** Aborts when the stream is over. */
  signal: AbortSignal;
}

export interface StreamTerms {
  opening: StreamOpening;
  keepAliveMs: number;
  /** Aborts when the client goes away. */
  signal: AbortSignal;
  /** Returns the text for the client; '' for none. */
  toText(frame: Frame, live: LiveStream): string | Promise<string>;
  /** Text that ends a stream in good order. */
  closingText: string;
  /** Whether the caller may still listen. */
  readonly isAllowed: () => Promise<boolean>;
  /** Called when the client's object has the stream, or the stream is over before that; maybe more than once. */
  onOpen(): void;
  /** Called when the stream is over, or could not be opened. */
  release(): void;
  /** Returns the caller's lists as they are after this reported change. */
  recheck(change: readonly ListEvent[]): Promise<StreamView>;
}

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
/** Most bytes that wait for a slow client before its stream is cut. */
const MAX_WAITING_BYTES = 8_388_608;
const NORMAL_CLOSE = 1000;

/** A check of a right that fails is repeated this often in all, after this time, in milliseconds. */
const CHECK = { tries: 3, pauseMs: 300 };

/**
 * Returns whether a right still holds: false for a refusal. A failed read proves nothing, so the check is repeated.
 * @throws what the last check threw: then the right is not known, and nothing may be sent
 */
export async function stillHolds(check: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await check();
    } catch (thrown) {
      if (thrown instanceof PorticoError) return false;
      if (tries === CHECK.tries) throw thrown;
      await scheduler.wait(CHECK.pauseMs);
    }
  }
}

/** @param socket connects to the client's object; not yet accepted */
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
    const end = (closingText: string) => {
      if (isOver) return;
      if (closingText !== '') body.enqueue(encoder.encode(closingText));
      over();
      body.close();
    };
    /** Runs one after the other, so that a slow check does not change the order. */
    const next = (text: () => string | Promise<string>) => {
      const last = turn;
      const work = async () => {
        await last;
        if (isOver) return;
        if (await stillHolds(terms.isAllowed)) write(await text());
        else end(terms.closingText);
      };
      turn = work().catch(() => end(''));
    };
    const recheck = async (change: readonly ListEvent[]) => {
      const view = await terms.recheck(change);
      if (!isOver) socket.send(JSON.stringify(view));
      return '';
    };
    const endLast = (closingText: string) => {
      turn = turn.then(() => end(closingText));
    };
    const keepAlive = (inMs: number) => {
      timer = setTimeout(() => {
        next(() => ': keep-alive\n\n');
        if (!isOver) keepAlive(terms.keepAliveMs);
      }, inMs);
    };
    const live: LiveStream = {
      send: next,
      end: () => endLast(terms.closingText),
      signal: controller.signal,
    };
    socket.addEventListener('message', ({ data }) => {
      const frame = typeof data === 'string' ? frames.push(data) : undefined;
      if (!frame) return;
      terms.onOpen();
      const change = parseRecheck(frame.text);
      next(() => (change ? recheck(change) : terms.toText(frame, live)));
    });
    socket.addEventListener('close', ({ code }) => {
      endLast(code === NORMAL_CLOSE ? terms.closingText : '');
    });
    socket.addEventListener('error', () => end(''));
    socket.accept();
    socket.send(JSON.stringify(terms.opening));
    // Spread the first check, so that streams opened together are not all checked at the same time.
    keepAlive((terms.keepAliveMs * (1 + Math.random())) / 2);
  }

  const body = new ReadableStream<Uint8Array>(
    { start, cancel: over },
    { highWaterMark: MAX_WAITING_BYTES, size: chunk => chunk?.byteLength ?? 0 },
  );
  // The platform never cancels the body of a response whose client left before the response was ready.
  if (terms.signal.aborted) body.cancel().catch(() => {});
  return new Response(body, { headers: HEADERS });
}
