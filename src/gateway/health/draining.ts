/**
 * The monitor's side of draining: the calls that last, each by the WebSocket on which its Worker listens
 * (`steps/end-when-drained.ts`). When the server is taken down, each is told how much longer it may take.
 */
import type { DrainNotice } from '../steps/end-when-drained.ts';

const TAG = 'call';
const CUT_AT = 'cutAt';

/** The calls of one server that last, each by its socket. */
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

  /** How many calls last. */
  count(): number {
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
    if ((await this.#ctx.storage.get(CUT_AT)) === undefined) return;
    await this.#ctx.storage.delete(CUT_AT);
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
    socket.send(JSON.stringify({ cutInMs } satisfies DrainNotice));
  } catch {
    // Nobody waits for it.
  }
}
