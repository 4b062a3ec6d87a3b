/**
 * Delivers a legacy client's `notifications/cancelled` to the call that it names, which another invocation makes. Within one isolate the
 * notification sets a flag that the call polls. A Worker whose call lasts holds a WebSocket to the session's object, tagged with the
 * request's id; the notification goes to the object, which passes it on. A short call costs only a timer.
 */
import { sha256Hex } from '../shared/crypto/base64url.ts';
import { idText, type RequestId } from '../shared/protocol.ts';
import { Lru } from '../shared/util/lru.ts';
import { RequestTimers } from '../http/deadline.ts';
import type { ObjectsByName } from '../shared/util/objects-by-name.ts';
import type { ClientObject } from './client-object.ts';

/**
 * How often a call polls its flag, in milliseconds. A flag is needed because the invocation that gets the notification must not act on
 * another request.
 */
const POLL_MS = 250;
/** A call that has lasted this long can be cancelled from other isolates too, in milliseconds. */
const LASTS_MS = 2_000;
/** How long a cancellation that came before the call's socket is remembered, in milliseconds; no longer, since a client may reuse an id. */
const REMEMBER_MS = 5_000;
const PATH = '/cancellation';

/** Most young calls that are remembered; a forgotten one can still be cancelled through its socket. */
const MAX_YOUNG = 10_000;

/** A call of this isolate that other isolates cannot cancel yet. */
interface Young {
  since: number;
  isCancelled: boolean;
}

const tagOf = (key: string) => `call:${key}`;
const nameOf = (owner: string, id: RequestId) => `${owner} ${idText(id)}`;
const keyOf = (id: RequestId) => sha256Hex(idText(id));

type Called = Pick<ClientObject, 'fetch' | 'cancelCall'>;

/** The Worker's side. */
export class Cancellations {
  readonly #objects: ObjectsByName<Called>;
  readonly #young = new Lru<string, Young>(MAX_YOUNG);

  constructor(objects: ObjectsByName<Called>) {
    this.#objects = objects;
  }

  /** Cancels a request of a session's client. */
  async cancel(owner: string, id: RequestId): Promise<void> {
    const young = this.#young.get(nameOf(owner, id));
    // An older call was cut off, or has its socket.
    if (young && Date.now() - young.since < LASTS_MS) {
      young.isCancelled = true;
      return;
    }
    await this.#object(owner).cancelCall(await keyOf(id));
  }

  /**
   * Serves a request so that its client can cancel it. A cancelled request gets no response message.
   * @param serve makes the response; its signal aborts when the request is cancelled or `client` aborts
   * @param timers of the request
   */
  async serve(
    owner: string,
    id: RequestId,
    client: AbortSignal,
    serve: (signal: AbortSignal) => Promise<Response>,
    timers = new RequestTimers(),
  ): Promise<Response> {
    const call = new AbortController();
    const cancelled = { is: false, act: () => {} };
    let socket: WebSocket | undefined;
    let isOver = false;
    const onClient = () => call.abort();
    const onCancelled = () => {
      if (cancelled.is) return;
      cancelled.is = true;
      cancelled.act();
      call.abort();
    };
    const listen = async () => {
      socket = await this.#open(owner, id, onCancelled);
      if (isOver) socket?.close();
    };
    const endPolling = this.#pollFlag(nameOf(owner, id), timers, onCancelled, listen);
    const end = () => {
      isOver = true;
      endPolling();
      client.removeEventListener('abort', onClient);
      if (socket?.readyState === WebSocket.OPEN) socket.close();
    };
    if (client.aborted) call.abort();
    else client.addEventListener('abort', onClient, { once: true });
    const response = await serve(call.signal).catch((error: unknown) => {
      end();
      throw error;
    });
    const type = response.headers.get('content-type') ?? '';
    if (response.body && type.includes('text/event-stream')) {
      const body = untilCancelled(response.body, cancelled, end, onClient);
      return new Response(body, response);
    }
    end();
    return cancelled.is ? new Response(null, { status: 202 }) : response;
  }

  /**
   * Registers a call that begins; until it lasts, cancellations set its flag here.
   * @param onLasts takes over from then on
   * @returns a function to call when the call has ended
   */
  #pollFlag(
    name: string,
    timers: RequestTimers,
    onCancelled: () => void,
    onLasts: () => Promise<void>,
  ): () => void {
    const young: Young = { since: Date.now(), isCancelled: false };
    this.#young.set(name, young);
    const leave = () => {
      if (this.#young.get(name) === young) this.#young.delete(name);
    };
    const poll = (atMs: number) => {
      if (young.isCancelled) onCancelled();
      else if (atMs < LASTS_MS) forget = timers.set(POLL_MS, () => poll(atMs + POLL_MS));
      else {
        leave();
        void onLasts().catch(() => {});
      }
    };
    let forget = timers.set(POLL_MS, () => poll(POLL_MS));
    return () => {
      leave();
      forget();
    };
  }

  async #open(
    owner: string,
    id: RequestId,
    onCancelled: () => void,
  ): Promise<WebSocket | undefined> {
    const url = `https://session${PATH}?key=${await keyOf(id)}`;
    const response = await this.#object(owner).fetch(url, { headers: { upgrade: 'websocket' } });
    const socket = response.webSocket;
    socket?.accept();
    socket?.addEventListener('message', onCancelled);
    return socket ?? undefined;
  }

  #object(owner: string) {
    return this.#objects.getByName(owner);
  }
}

/**
 * Returns a body that ends once its request is cancelled.
 * @param onGone called when the client disconnects, which may show here before it shows at the request
 */
function untilCancelled(
  body: ReadableStream<Uint8Array>,
  cancelled: { is: boolean; act: () => void },
  onEnd: () => void,
  onGone: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const onCancelled = () => {
        onEnd();
        controller.close();
        void reader.cancel().catch(() => {});
      };
      cancelled.act = onCancelled;
      if (cancelled.is) onCancelled();
    },
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        onEnd();
        throw error;
      });
      if (cancelled.is) return;
      if (!done) return controller.enqueue(value);
      onEnd();
      controller.close();
    },
    async cancel() {
      onGone();
      onEnd();
      await reader.cancel();
    },
  });
}

/** The object's side. Early cancellations are kept in memory only: the calls they belong to began a moment ago. */
export class CancelledCalls {
  readonly #state: DurableObjectState;
  readonly #early = new Map<string, number>();

  constructor(state: DurableObjectState) {
    this.#state = state;
  }

  /** Whether a request opens the socket of a call. */
  static takes(pathname: string): boolean {
    return pathname === PATH;
  }

  /** Accepts the socket of a call; notifies it at once where the call was already cancelled. */
  accept(key: string): Response {
    const { 0: worker, 1: object } = new WebSocketPair();
    this.#state.acceptWebSocket(object, [tagOf(key)]);
    const at = this.#early.get(key) ?? 0;
    this.#early.delete(key);
    if (Date.now() - at <= REMEMBER_MS) object.send('cancelled');
    return new Response(null, { status: 101, webSocket: worker });
  }

  /** Passes on a cancellation. */
  cancel(key: string): void {
    const sockets = this.#state
      .getWebSockets(tagOf(key))
      .filter(({ readyState }) => readyState === WebSocket.OPEN);
    for (const socket of sockets) socket.send('cancelled');
    const now = Date.now();
    for (const [early, at] of this.#early) {
      if (now - at > REMEMBER_MS) this.#early.delete(early);
    }
    if (sockets.length === 0) this.#early.set(key, now);
  }
}
