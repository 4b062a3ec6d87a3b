/**
 * An event stream of a server that lives in the test. What is read in one context of the runtime must not be woken from
 * another, as a standing stream is by a call: such a stream looks by itself what there is to say.
 */
import { event, type Send } from './asking-script.ts';

/** Looks after these times, in milliseconds: often at first, then seldom, since most streams are silent. */
const FIRST_MS = 6;
const LAST_MS = 80;

export interface OutletTerms {
  /** Aborts when the other side goes away. */
  signal: AbortSignal;
  /** Written and read in different contexts. */
  isPolled: boolean;
  /** Told once, where the other side goes before the end. */
  onGone(): void;
  /** What is sent first. */
  first?: Uint8Array;
}

export interface OutboundFetch {
  response: Response;
  send: Send;
  end(): void;
}

/** Waits in the caller's own context. */
export async function waitFor(isSo: () => boolean): Promise<void> {
  for (let ms = FIRST_MS; ; ms = Math.min(ms * 1.3, LAST_MS)) {
    if (isSo()) return;
    await new Promise(resolve => setTimeout(resolve, ms));
  }
}

export function createOutlet({ signal, isPolled, onGone, first }: OutletTerms): OutboundFetch {
  const waiting: Uint8Array[] = first ? [first] : [];
  let direct: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isOver = false;
  const leave = () => {
    isOver = true;
    onGone();
  };
  const flush = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    for (const bytes of waiting.splice(0)) controller.enqueue(bytes);
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      signal.addEventListener('abort', () => {
        if (isOver) return;
        leave();
        controller.error(new DOMException('aborted', 'AbortError'));
      });
      if (isPolled) return;
      direct = controller;
      flush(controller);
    },
    async pull(controller) {
      if (!isPolled) return;
      await waitFor(() => waiting.length > 0 || isOver);
      if (signal.aborted) return;
      flush(controller);
      if (isOver) controller.close();
    },
    cancel() {
      if (!isOver) leave();
    },
  });
  return {
    response: new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
    send(message) {
      if (isOver) return;
      waiting.push(event(JSON.stringify(message)));
      if (direct) flush(direct);
    },
    end() {
      if (isOver) return;
      isOver = true;
      direct?.close();
    },
  };
}
