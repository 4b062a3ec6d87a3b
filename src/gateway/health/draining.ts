/**
 * How calls under way hear that their server was taken down. A Worker whose call lasts holds a WebSocket to the server's monitor, on
 * which it is told how much longer the call may take; then the call is cut: its upstream is cancelled and its caller gets a reason.
 * A call that ends in time ends as it would have. Short calls pay for a timer only.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { CallMessages } from '../../upstream/protocol/call.ts';
import type { Call } from './live-calls.ts';

/** A call that lasts this long can be cut from now on, in milliseconds. */
const LASTS_MS = 250;
/** Calls under way are counted this long after a disconnect, in milliseconds. */
const COUNT_MS = 400;
const TAG = 'call';
const CUT_AT = 'cutAt';

/** What the monitor tells: the time a call has left, in milliseconds, or null where it may go on. */
interface Notice {
  cutInMs: number | null;
}

/** Opens the way to the monitor of a server; not yet accepted. */
export type OpenCallLine = (serverId: string) => Promise<WebSocket | null>;

/** `call`, ended where its server was taken down and the time of draining is over. */
export function withDraining(call: Call, open: OpenCallLine): Call {
  return (server, request, name, context) => {
    const pending = new PendingCall(context.signal, () => open(server.id));
    return call(server, request, name, { ...context, signal: pending.signal }).then(
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
  readonly #controller = new AbortController();
  readonly #client: AbortSignal;
  readonly #timer: ReturnType<typeof setTimeout>;
  #socket: WebSocket | undefined;
  #cut: { timer: ReturnType<typeof setTimeout>; at: number } | undefined;
  #isCut = false;
  #isOver = false;
  readonly #onClient = () => {
    this.#controller.abort();
    this.end();
  };

  constructor(client: AbortSignal, open: () => Promise<WebSocket | null>) {
    this.#client = client;
    // Without a line a call ends by its own time.
    this.#timer = setTimeout(() => void this.#listen(open).catch(() => {}), LASTS_MS);
    if (client.aborted) this.#onClient();
    else client.addEventListener('abort', this.#onClient, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
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
    clearTimeout(this.#timer);
    this.#withdraw();
    this.#client.removeEventListener('abort', this.#onClient);
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.close();
  }

  /** The call is not to be cut. */
  #withdraw(): void {
    if (this.#cut) clearTimeout(this.#cut.timer);
    this.#cut = undefined;
  }

  async #listen(open: () => Promise<WebSocket | null>): Promise<void> {
    const socket = await open();
    if (!socket) return;
    this.#socket = socket;
    socket.accept();
    socket.addEventListener('message', ({ data }) =>
      this.#hear(JSON.parse(String(data)) as Notice),
    );
    if (this.#isOver) socket.close();
  }

  #hear({ cutInMs }: Notice): void {
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
      this.#controller.abort();
    };
    this.#cut = { timer: setTimeout(onTime, cutInMs), at };
  }
}

/** The monitor's side: the calls that last, each by its socket. */
export class PendingCalls {
  readonly #ctx: DurableObjectState;
  readonly #drainMs: number;

  /** @param drainMs time that calls have from when their server is taken down, in milliseconds */
  constructor(ctx: DurableObjectState, drainMs: number) {
    this.#ctx = ctx;
    this.#drainMs = drainMs;
  }

  /**
   * Take the socket of a call; where the server was taken down before, the call hears so at once.
   * @param isGone the server was deleted
   */
  async accept(isGone: boolean): Promise<Response> {
    const { 0: worker, 1: object } = new WebSocketPair();
    this.#ctx.acceptWebSocket(object, [TAG]);
    const cutAt = isGone ? Date.now() + this.#drainMs : await this.#ctx.storage.get<number>(CUT_AT);
    if (cutAt !== undefined) tell(object, cutAt);
    return new Response(null, { status: 101, webSocket: worker });
  }

  /** How many calls last. @param isDown the server was taken down right now: calls that began a moment ago show in a moment */
  async count(isDown: boolean): Promise<number> {
    if (isDown) await scheduler.wait(COUNT_MS);
    return this.#open().length;
  }

  /**
   * The server was taken down at a time: calls have the time of draining from then.
   * @returns whether that is news
   */
  async drain(takenDownAt: number): Promise<boolean> {
    const cutAt = takenDownAt + this.#drainMs;
    if ((await this.#ctx.storage.get(CUT_AT)) === cutAt) return false;
    await this.#ctx.storage.put(CUT_AT, cutAt);
    for (const socket of this.#open()) tell(socket, cutAt);
    return true;
  }

  /** The server is there again, or was all the time: calls go on. */
  async keep(): Promise<void> {
    if (!(await this.#ctx.storage.delete(CUT_AT))) return;
    for (const socket of this.#open()) tell(socket, null);
  }

  #open(): WebSocket[] {
    return this.#ctx.getWebSockets(TAG).filter(({ readyState }) => readyState === WebSocket.OPEN);
  }
}

/** A socket that broke a moment ago takes nothing: its call is over. */
function tell(socket: WebSocket, cutAt: number | null): void {
  const cutInMs = cutAt === null ? null : Math.max(0, cutAt - Date.now());
  try {
    socket.send(JSON.stringify({ cutInMs } satisfies Notice));
  } catch {
    // Nobody waits for it.
  }
}
