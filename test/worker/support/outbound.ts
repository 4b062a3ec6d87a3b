/**
 * An event stream of an in-test server. A stream read in one context of the runtime must not be woken from another, as a call would wake a
 * notification stream: such a stream polls for what there is to send.
 */
import { event, type Send } from './asking-script.ts';

/** Polling intervals in milliseconds: short at first, then long, since most streams are silent. */
const FIRST_MS = 6;
const LAST_MS = 80;

export interface OutletTerms {
  /** Aborts when the other side leaves. */
  signal: AbortSignal;
  /** Written and read in different contexts. */
  isPolled: boolean;
  /** Called once if the other side leaves before the end. */
  onGone(): void;
  /** The first bytes. */
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
