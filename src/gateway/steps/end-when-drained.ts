/**
 * Ends calls whose server is taken down. The Worker of a long call holds a WebSocket to the server's monitor (`health/draining.ts`), which
 * announces how much longer the call may take; then the call is cut: its upstream request is cancelled, and its caller gets the reason. A
 * call that ends in time ends as usual. Short calls cost a timer only.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { CallContext, CallMessages } from '../../upstream/protocol/call.ts';
import { RequestTimers } from '../../http/deadline.ts';
import type { SendStep } from './send.ts';

/**
 * After this time, in milliseconds, a call opens its channel and can be cut. Each channel is a request to an object, and most calls end
 * before they need one.
 */
const LASTS_MS = 2_000;

/** The monitor's notice: the time that a call has left, in milliseconds, or null if it may go on. */
export interface DrainNotice {
  cutInMs: number | null;
}

/** The part of a WebSocket that is needed here. */
interface CallChannel {
  readonly readyState: number;
  accept(): void;
  close(): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
}

/** Opens the channel to the monitor of a server; it is not accepted yet. */
export type OpenCallChannel = (serverId: string) => Promise<CallChannel | null>;

/** Ends a call if its server was taken down and the drain time is over. */
export function endWhenDrained(open: OpenCallChannel): SendStep {
  return next => (server, request, name, context) => {
    const pending = new PendingCall(context, () => open(server.id));
    const onCuttable = (cut: () => void) => pending.takeCut(cut);
    return next(server, request, name, { ...context, onCuttable }).then(
      reply => {
        if ('messages' in reply) return { messages: pending.whole(reply.messages) };
        pending.end();
        return reply;
      },
      (thrown: unknown) => {
        pending.end();
        throw pending.explain(thrown);
      },
    );
  };
}

/** One call, from when it is sent to its end. */
class PendingCall {
  readonly #client: AbortSignal;
  readonly #cancelTimer: () => void;
  #cutNow: (() => void) | undefined;
  #socket: CallChannel | undefined;
  #cut: { timer: ReturnType<typeof setTimeout>; at: number } | undefined;
  #isCut = false;
  #isOver = false;

  constructor(
    { signal, timers = new RequestTimers() }: CallContext,
    open: () => Promise<CallChannel | null>,
  ) {
    this.#client = signal;
    // Without a channel the call ends by its own deadline.
    const listen = () => void this.#listen(open).catch(() => {});
    this.#cancelTimer = timers.set(LASTS_MS, listen);
  }

  /** Sets the function that cuts the call. */
  takeCut(cut: () => void): void {
    this.#cutNow = cut;
    if (this.#isCut) cut();
  }

  /** Returns the error for the caller: the reason of the cut, or what was thrown. */
  explain(thrown: unknown): unknown {
    if (!this.#isCut) return thrown;
    return new PorticoError(
      'server_disconnected',
      'The server was disconnected before it answered',
    );
  }

  async *whole(messages: CallMessages): CallMessages {
    try {
      for await (const message of messages) {
        yield message;
        if (message.kind === 'response') return;
      }
      if (this.#isCut) throw new PorticoError('upstream_no_response');
    } catch (thrown) {
      throw this.explain(thrown);
    } finally {
      this.end();
    }
  }

  end(): void {
    this.#isOver = true;
    this.#cancelTimer();
    this.#cancelCut();
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.close();
  }

  /** Takes back a scheduled cut. */
  #cancelCut(): void {
    if (this.#cut) clearTimeout(this.#cut.timer);
    this.#cut = undefined;
  }

  async #listen(open: () => Promise<CallChannel | null>): Promise<void> {
    if (this.#client.aborted) return;
    const socket = await open();
    if (!socket) return;
    this.#socket = socket;
    socket.accept();
    socket.addEventListener('message', ({ data }) =>
      this.#onNotice(JSON.parse(String(data)) as DrainNotice),
    );
    if (this.#isOver) socket.close();
  }

  #onNotice({ cutInMs }: DrainNotice): void {
    if (this.#isOver) return;
    if (cutInMs === null) {
      this.#cancelCut();
      return;
    }
    const at = Date.now() + cutInMs;
    if (this.#cut && this.#cut.at <= at) return;
    this.#cancelCut();
    const onTime = () => {
      this.#isCut = true;
      this.#cutNow?.();
    };
    this.#cut = { timer: setTimeout(onTime, cutInMs), at };
  }
}
