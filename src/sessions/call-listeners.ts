/**
 * Delivers messages from a session's notification stream, which the session's object holds, to a call that a Worker makes, and returns the
 * answers. The call holds a WebSocket to the object. The object opens the stream for the call, sends it the messages that belong to it, and
 * gives the server requests that it leaves open to another call. A call that may leave before the stream is open opens its socket only once
 * it lasts; a short call of that kind costs only a timer.
 */
import type { AsyncQueue } from '../shared/util/async-queue.ts';
import { RequestTimers } from '../http/deadline.ts';
import type { CallListener, ListenerTerms } from '../upstream/streams/call-listener.ts';
import type { Address } from '../upstream/endpoint.ts';
import { createMessageQueue } from '../upstream/streams/message-queue.ts';
import type { UpstreamMessage, UpstreamRequest } from '../upstream/protocol/message.ts';
import { cancelledId, type RawAnswer } from '../upstream/protocol/server-request.ts';
import type { UpstreamSession } from '../upstream/session/acquire-session.ts';
import type { StreamState } from '../upstream/streams/stream-reader.ts';
import type { Listener, SharedStream } from '../upstream/streams/shared-stream.ts';
import { canAnswer } from '../shared/client-capabilities.ts';
import type { SocketPort } from './question-channel.ts';
import { FrameReader, sendFrame } from './stream-frames.ts';

/** Delay between attempts and most attempts, where an object is restarting or cannot be reached. */
const AGAIN_MS = 250;
const MOST_TRIES = 12;
const PATH = '/ear';

/** First message on a socket: the stream and the call that it is for. */
export interface Opening extends ListenerTerms {
  address: Address;
  session: UpstreamSession;
}

/** The object's first message: the state of the stream. */
interface Opened {
  kind: 'opened';
  state: StreamState;
}

/** The Worker's half of a listener. */
export interface RemoteListener extends CallListener {
  /** State of the stream, once the object reports it; `closed` where the object cannot be reached. */
  opened: Promise<StreamState>;
}

/**
 * Opens a listener in the Worker.
 * @param afterMs delay before its socket opens, in milliseconds
 * @param timers of the request that the call is made for
 */
export function openListener(
  object: () => SocketPort,
  opening: () => Opening,
  afterMs: number,
  timers = new RequestTimers(),
): RemoteListener {
  const messages = createMessageQueue();
  const { promise: opened, resolve: onOpened } = Promise.withResolvers<StreamState>();
  let socket: WebSocket | undefined;
  let isOver = false;
  let tries = 0;
  const open = async () => {
    const response = await object().fetch(`https://session${PATH}`, {
      headers: { upgrade: 'websocket' },
    });
    const accepted = response.webSocket;
    if (!accepted) return onOpened('closed');
    accepted.accept();
    if (isOver) return accepted.close();
    socket = accepted;
    receiveFrames(accepted, messages, onOpened, openAgain);
    sendFrame(accepted, { id: '', text: JSON.stringify(opening()) });
  };
  const openAgain = () => {
    onOpened('closed');
    tries += 1;
    if (!isOver && tries < MOST_TRIES) forget = timers.set(AGAIN_MS, tryOpen);
  };
  const tryOpen = () => void open().catch(openAgain);
  let forget = afterMs > 0 ? timers.set(afterMs, tryOpen) : () => {};
  if (afterMs === 0) tryOpen();
  return {
    opened,
    take: () => messages.take(),
    close() {
      isOver = true;
      forget();
      messages.end();
      if (socket?.readyState === WebSocket.OPEN) socket.close();
    },
  };
}

function receiveFrames(
  socket: WebSocket,
  messages: AsyncQueue<UpstreamMessage>,
  onOpened: (state: StreamState) => void,
  onClose: () => void,
): void {
  const frames = new FrameReader();
  socket.addEventListener('message', ({ data }) => {
    const frame = frames.push(String(data));
    if (!frame) return;
    const message = JSON.parse(frame.text) as UpstreamMessage | Opened;
    if (message.kind === 'opened') return onOpened(message.state);
    const reply = async (answer: RawAnswer) =>
      sendFrame(socket, { id: frame.id, text: JSON.stringify(answer) });
    messages.put(message.kind === 'request' ? { ...message, reply } : message);
  });
  socket.addEventListener('close', onClose);
}

/** A call, in the object. */
interface Joined {
  frames: FrameReader;
  stream?: SharedStream;
  listener?: Listener;
  open: Map<string, UpstreamRequest>;
  /** Keeps the object awake while a server request is open, since it is known in memory only. */
  awake: ReturnType<typeof setInterval> | null;
}

/** What the socket of a call keeps for the object's next wake-up. */
type Kept = Omit<Opening, 'address'> & { serverId: string };

export interface CallListenersPorts {
  /** Opens the stream of a session. @returns its state, and the stream where it is open */
  open(opening: Opening): Promise<{ state: StreamState; shared?: SharedStream | undefined }>;
  /** Returns a session's stream that a Worker reads, for an object that lost its memory; undefined where no Worker does. */
  workerStream(serverId: string, session: UpstreamSession): SharedStream | undefined;
}

const AWAKE_MS = 60_000;

/** The object's half. */
export class CallListeners {
  static readonly TAG = 'ear';
  readonly #state: DurableObjectState;
  readonly #ports: CallListenersPorts;
  readonly #joined = new Map<WebSocket, Joined>();
  #requestCount = 0;

  constructor(state: DurableObjectState, ports: CallListenersPorts) {
    this.#state = state;
    this.#ports = ports;
    for (const socket of state.getWebSockets(CallListeners.TAG)) this.#revive(socket);
  }

  /** Whether a request opens the socket of a call. */
  static takes(pathname: string): boolean {
    return pathname === PATH;
  }

  accept(): Response {
    const { 0: worker, 1: object } = new WebSocketPair();
    this.#state.acceptWebSocket(object, [CallListeners.TAG]);
    return new Response(null, { status: 101, webSocket: worker });
  }

  /** Receives the opening of a call, then its answers. */
  async receive(socket: WebSocket, piece: string): Promise<void> {
    const joined = this.#joinedBy(socket);
    const frame = joined.frames.push(piece);
    if (!frame) return;
    if (frame.id === '') return this.#open(socket, joined, JSON.parse(frame.text) as Opening);
    const request = joined.open.get(frame.id);
    this.#close(joined, frame.id);
    await request?.reply?.(JSON.parse(frame.text) as RawAnswer);
  }

  /** The call has ended. */
  leave(socket: WebSocket): void {
    const joined = this.#joined.get(socket);
    this.#joined.delete(socket);
    if (!joined) return;
    if (joined.listener) joined.stream?.leave(joined.listener);
    clearInterval(joined.awake);
  }

  #joinedBy(socket: WebSocket): Joined {
    const joined = this.#joined.get(socket) ?? {
      frames: new FrameReader(),
      open: new Map(),
      awake: null,
    };
    this.#joined.set(socket, joined);
    return joined;
  }

  async #open(socket: WebSocket, joined: Joined, opening: Opening): Promise<void> {
    const { address, ...kept } = opening;
    const { state, shared } = await this.#ports.open(opening);
    // The call may have ended by now.
    if (!this.#joined.has(socket)) return;
    if (shared && state === 'open') {
      this.#join(socket, joined, shared, opening);
      keep(socket, { ...kept, serverId: address.serverId });
    }
    sendFrame(socket, { id: '', text: JSON.stringify({ kind: 'opened', state } satisfies Opened) });
  }

  /** The object woke up: rejoin the call to a stream that a Worker reads; else have the call's Worker open another socket. */
  #revive(socket: WebSocket): void {
    const kept = socket.deserializeAttachment() as Kept | null;
    const shared = kept && this.#ports.workerStream(kept.serverId, kept.session);
    if (shared) this.#join(socket, this.#joinedBy(socket), shared, kept);
    else socket.close(1012, 'again');
  }

  #join(socket: WebSocket, joined: Joined, shared: SharedStream, terms: ListenerTerms): void {
    joined.stream = shared;
    joined.listener = {
      progressToken: terms.progressToken,
      canAnswer: method => canAnswer(terms.capabilities, method),
      put: message => this.#deliver(socket, joined, message),
    };
    shared.join(joined.listener);
  }

  #deliver(socket: WebSocket, joined: Joined, message: UpstreamMessage): void {
    if (message.kind !== 'request') {
      this.#forget(joined, message);
      return sendFrame(socket, { id: '', text: JSON.stringify(message) });
    }
    const { reply, ...question } = message;
    this.#requestCount += 1;
    const key = String(this.#requestCount);
    if (reply) joined.open.set(key, { ...question, params: '', reply });
    joined.awake ??= setInterval(() => {}, AWAKE_MS);
    sendFrame(socket, { id: key, text: JSON.stringify(question) });
  }

  /** A server request that is cancelled gets no answer. */
  #forget(joined: Joined, message: UpstreamMessage): void {
    if (message.kind !== 'notification') return;
    const id = cancelledId(message.method, message.text);
    if (id === undefined) return;
    const [key] = [...joined.open].find(([, request]) => request.id === id) ?? [];
    if (key !== undefined) this.#close(joined, key);
  }

  #close(joined: Joined, key: string): void {
    joined.open.delete(key);
    if (joined.open.size > 0) return;
    clearInterval(joined.awake);
    joined.awake = null;
  }
}

/** Stores what a call needs on its socket; where it is too large, the Worker has to send it again once the object wakes. */
function keep(socket: WebSocket, kept: Kept): void {
  try {
    socket.serializeAttachment(kept);
  } catch {
    socket.serializeAttachment(null);
  }
}
