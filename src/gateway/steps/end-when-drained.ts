/**
 * A call under way hears that its server was taken down. A Worker whose call lasts holds a WebSocket to the server's monitor
 * (`health/draining.ts`), on which it is told how much longer the call may take; then the call is cut: its upstream is cancelled and its
 * caller gets a reason. A call that ends in time ends as it would have. Short calls pay for a timer only.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { CallContext, CallMessages } from '../../upstream/protocol/call.ts';
import { RequestTimers } from '../../http/deadline.ts';
import type { SendStep } from './send.ts';

/**
 * A call that lasts this long can be cut from now on, in milliseconds. Each line is a request to an object, which most calls end
 * without.
 */
const LASTS_MS = 2_000;

/** What the monitor tells: the time a call has left, in milliseconds, or null where it may go on. */
export interface DrainNotice {
  cutInMs: number | null;
}

/** As much of a WebSocket as is needed here. */
interface CallChannel {
  readonly readyState: number;
  accept(): void;
  close(): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
}

/** Opens the way to the monitor of a server; not yet accepted. */
export type OpenCallChannel = (serverId: string) => Promise<CallChannel | null>;

/** Ends a call where its server was taken down and the time of draining is over. */
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

/** One call, from when it leaves to its end. */
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
    // Without a line a call ends by its own time.
    const listen = () => void this.#listen(open).catch(() => {});
    this.#cancelTimer = timers.set(LASTS_MS, listen);
  }

  /** From now on this cuts it. */
  takeCut(cut: () => void): void {
    this.#cutNow = cut;
    if (this.#isCut) cut();
  }

  /** What is thrown, or why. */
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
    this.#withdraw();
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.close();
  }

  /** The call is not to be cut. */
  #withdraw(): void {
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
      this.#hear(JSON.parse(String(data)) as DrainNotice),
    );
    if (this.#isOver) socket.close();
  }

  #hear({ cutInMs }: DrainNotice): void {
    if (this.#isOver) return;
    if (cutInMs === null) {
      this.#withdraw();
      return;
    }
    const at = Date.now() + cutInMs;
    if (this.#cut && this.#cut.at <= at) return;
    this.#withdraw();
    const onTime = () => {
      this.#isCut = true;
      this.#cutNow?.();
    };
    this.#cut = { timer: setTimeout(onTime, cutInMs), at };
  }
}
