/**
 * How what a server says on a notification stream, which the session's object holds, reaches a call that
 * a Worker makes, and how answers come back. A call that lasts holds a WebSocket to the object; the
 * object gives it what is for it, and passes on what it leaves open. Short calls pay for a timer.
 */
import { AsyncQueue } from '../shared/util/async-queue.ts';
import type { CallListener, ListenerTerms } from '../upstream/streams/call-listener.ts';
import type { UpstreamMessage } from '../upstream/protocol/message.ts';
import type { RawAnswer } from '../upstream/protocol/server-request.ts';
import type { Listener, SharedStream } from '../upstream/streams/shared-stream.ts';
import { canBeAsked } from '../shared/client-capabilities.ts';
import type { SocketPort } from './question-channel.ts';
import { FrameReader, toPieces } from './stream-frames.ts';

/** A call that lasts this long hears the notification stream from now on, in milliseconds. */
const LASTS_MS = 100;
/** An object that is starting anew, or cannot be reached, is asked again after a rest: so long, and so often. */
const AGAIN_MS = 250;
const MOST_TRIES = 12;
const PATH = '/ear';

/** First message of a socket: which stream, for whom. */
interface Opening extends ListenerTerms {
  serverId: string;
  sessionId: string;
}

/** The Worker's half: a listener that opens its socket when the call lasts. */
export function openListener(object: () => SocketPort, opening: () => Opening): CallListener {
  const messages = new AsyncQueue<UpstreamMessage>();
  let socket: WebSocket | undefined;
  let isOver = false;
  let tries = 0;
  const open = async () => {
    const response = await object().fetch(`https://session${PATH}`, {
      headers: { upgrade: 'websocket' },
    });
    const opened = response.webSocket;
    if (!opened) return;
    opened.accept();
    if (isOver) return opened.close();
    socket = opened;
    hear(opened, messages);
    sendFrame(opened, '', JSON.stringify(opening()));
  };
  const openSoon = (restMs: number): ReturnType<typeof setTimeout> =>
    setTimeout(() => void open().catch(openAgain), restMs);
  const openAgain = () => {
    tries += 1;
    if (!isOver && tries < MOST_TRIES) timer = openSoon(AGAIN_MS);
  };
  let timer = openSoon(LASTS_MS);
  return {
    take: () => messages.take(),
    close() {
      isOver = true;
      clearTimeout(timer);
      messages.end();
      if (socket?.readyState === WebSocket.OPEN) socket.close();
    },
  };
}

function hear(socket: WebSocket, messages: AsyncQueue<UpstreamMessage>): void {
  const frames = new FrameReader();
  socket.addEventListener('message', ({ data }) => {
    const frame = frames.push(String(data));
    if (!frame) return;
    const message = JSON.parse(frame.text) as UpstreamMessage;
    const reply = async (answer: RawAnswer) => sendFrame(socket, frame.id, JSON.stringify(answer));
    messages.put(message.kind === 'request' ? { ...message, reply } : message);
  });
  socket.addEventListener('close', () => messages.end());
}

function sendFrame(socket: WebSocket, id: string, text: string): void {
  try {
    for (const piece of toPieces({ id, text })) socket.send(piece);
  } catch {
    // It broke a moment ago; its close is told on its own.
  }
}

/** A call at the object's end. */
interface Joined {
  frames: FrameReader;
  stream?: SharedStream;
  listener?: Listener;
  open: Map<string, (answer: RawAnswer) => Promise<void>>;
}

/** The object's half. In memory only, as the stream is that it serves. */
export class CallListeners {
  static readonly TAG = 'ear';
  readonly #state: DurableObjectState;
  readonly #streamOf: (serverId: string, sessionId: string) => SharedStream | undefined;
  readonly #joined = new Map<WebSocket, Joined>();
  #asked = 0;

  /** @param streamOf the notification stream of a session, where there is one */
  constructor(
    state: DurableObjectState,
    streamOf: (serverId: string, sessionId: string) => SharedStream | undefined,
  ) {
    this.#state = state;
    this.#streamOf = streamOf;
  }

  /** Whether a request is for the socket of a call. */
  static takes(pathname: string): boolean {
    return pathname === PATH;
  }

  accept(): Response {
    const { 0: worker, 1: object } = new WebSocketPair();
    this.#state.acceptWebSocket(object, [CallListeners.TAG]);
    return new Response(null, { status: 101, webSocket: worker });
  }

  /** What a call is, then its answers. */
  async receive(socket: WebSocket, piece: string): Promise<void> {
    const joined = this.#joined.get(socket) ?? { frames: new FrameReader(), open: new Map() };
    this.#joined.set(socket, joined);
    const frame = joined.frames.push(piece);
    if (!frame) return;
    if (frame.id === '') return this.#join(socket, joined, JSON.parse(frame.text) as Opening);
    const reply = joined.open.get(frame.id);
    joined.open.delete(frame.id);
    await reply?.(JSON.parse(frame.text) as RawAnswer);
  }

  /** The call is over. */
  leave(socket: WebSocket): void {
    const { stream, listener } = this.#joined.get(socket) ?? {};
    this.#joined.delete(socket);
    if (listener) stream?.leave(listener);
  }

  #join(socket: WebSocket, joined: Joined, opening: Opening): void {
    const { serverId, sessionId, capabilities, progressToken } = opening;
    const stream = this.#streamOf(serverId, sessionId);
    // The stream was lost with the object's memory: nothing will be heard.
    if (!stream) return socket.close();
    joined.stream = stream;
    joined.listener = {
      progressToken,
      canBeAsked: method => canBeAsked(capabilities, method),
      put: message => {
        if (message.kind !== 'request') return sendFrame(socket, '', JSON.stringify(message));
        const { reply, ...question } = message;
        this.#asked += 1;
        const key = String(this.#asked);
        if (reply) joined.open.set(key, reply);
        sendFrame(socket, key, JSON.stringify(question));
      },
    };
    stream.join(joined.listener);
  }
}
