/**
 * The monitor's side of draining. Each long call has a WebSocket on which its Worker listens (`steps/end-when-drained.ts`). When the server
 * is taken down, the monitor sends each of them the time it has left.
 */
import type { DrainNotice } from '../steps/end-when-drained.ts';

const TAG = 'call';
const CUT_AT = 'cutAt';

/** The long calls of one server, each by its socket. */
export class PendingCalls {
  readonly #ctx: DurableObjectState;
  readonly #drainMs: number;

  /** @param drainMs time that calls have after their server is taken down, in milliseconds */
  constructor(ctx: DurableObjectState, drainMs: number) {
    this.#ctx = ctx;
    this.#drainMs = drainMs;
  }

  /**
   * Accepts the socket of a call; if the server was taken down before, the call is notified at once.
   * @param isGone the server was deleted
   */
  async accept(isGone: boolean): Promise<Response> {
    const { 0: worker, 1: object } = new WebSocketPair();
    this.#ctx.acceptWebSocket(object, [TAG]);
    const cutAt = isGone ? Date.now() + this.#drainMs : await this.#ctx.storage.get<number>(CUT_AT);
    if (cutAt !== undefined) sendNotice(object, cutAt);
    return new Response(null, { status: 101, webSocket: worker });
  }

  /** Returns the number of calls that are still open. */
  count(): number {
    return this.#open().length;
  }

  /**
   * The server was taken down at a time: calls may go on for the drain time from then.
   * @returns whether this changes anything
   */
  async drain(takenDownAt: number): Promise<boolean> {
    const cutAt = takenDownAt + this.#drainMs;
    if ((await this.#ctx.storage.get(CUT_AT)) === cutAt) return false;
    await this.#ctx.storage.put(CUT_AT, cutAt);
    for (const socket of this.#open()) sendNotice(socket, cutAt);
    return true;
  }

  /** The server is back, or was never gone: calls go on. */
  async keep(): Promise<void> {
    if ((await this.#ctx.storage.get(CUT_AT)) === undefined) return;
    await this.#ctx.storage.delete(CUT_AT);
    for (const socket of this.#open()) sendNotice(socket, null);
  }

  #open(): WebSocket[] {
    return this.#ctx.getWebSockets(TAG).filter(({ readyState }) => readyState === WebSocket.OPEN);
  }
}

/** Sends a drain notice. A socket that broke a moment ago refuses it: its call is over. */
function sendNotice(socket: WebSocket, cutAt: number | null): void {
  const cutInMs = cutAt === null ? null : Math.max(0, cutAt - Date.now());
  try {
    socket.send(JSON.stringify({ cutInMs } satisfies DrainNotice));
  } catch {
    // The call is over, so nobody waits for the notice.
  }
}
