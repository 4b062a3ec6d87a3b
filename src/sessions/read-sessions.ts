/**
 * Reads the notification streams of a client's sessions at legacy servers in the Worker where the client's own stream ends: waiting costs
 * nothing there. The client's object says over a WebSocket which sessions to read, and gets the messages; a server's ping is answered here
 * and wakes nobody. The object's half is `own-reader.ts`.
 *
 * Invariants: a session is read only at a server that the client may see; reading ends with the client's stream.
 */
import { createHttpChannel } from '../upstream/session/channel.ts';
import { setLevel } from '../upstream/session/log-levels.ts';
import { postText } from '../upstream/server-messages.ts';
import { renew, type UpstreamEndpoint } from '../upstream/endpoint.ts';
import { toAnswerText, type UpstreamMessage, noteRedacted } from '../upstream/protocol/message.ts';
import type { NotificationSession } from '../upstream/streams/notification-streams.ts';
import { openReading, type StreamState } from '../upstream/streams/stream-reader.ts';
import { keyOf, type ReaderEvent, type ReaderOrder, type SessionPlace } from './own-reader.ts';
import { FrameReader, sendFrame } from './stream-frames.ts';

export interface ReadingTerms {
  /** Returns the current endpoint of a server. @throws PorticoError where the client has none */
  endpointOf(serverId: string): Promise<UpstreamEndpoint>;
  maxBytes: number;
}

/** The sessions that are read for one stream of a client. */
export interface SessionReading {
  /** Stops reading at servers that the client no longer sees, or now reaches with another credential. */
  check(): Promise<void>;
  close(): void;
}

/** Most sessions that are read for one client. */
const MAX_SESSIONS = 200;
/** A server that sends nothing before its first event counts as open after this time, in milliseconds. */
const SLOW_MS = 3_000;
/** Most pings of a server that are answered at the same time. */
const MAX_PONGS = 20;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 300_000;

interface ReadSession extends SessionPlace {
  controller: AbortController;
  endpoint: UpstreamEndpoint;
  /** Pings that are being answered. */
  pongs: number;
  /** State last reported to the object. */
  reported?: StreamState;
}

/** @param socket connects to the client's object; not yet accepted */
export function readSessions(socket: WebSocket, terms: ReadingTerms): SessionReading {
  const reader = new SessionReader(socket, terms);
  const frames = new FrameReader();
  socket.addEventListener('message', ({ data }) => {
    const frame = frames.push(String(data));
    if (frame) void reader.obey(JSON.parse(frame.text) as ReaderOrder).catch(() => {});
  });
  socket.addEventListener('close', () => reader.rest());
  socket.addEventListener('error', () => reader.rest());
  socket.accept();
  return {
    check: () => reader.check(),
    close() {
      reader.rest();
      if (socket.readyState === WebSocket.OPEN) socket.close();
    },
  };
}

class SessionReader {
  readonly #socket: WebSocket;
  readonly #terms: ReadingTerms;
  readonly #read = new Map<string, ReadSession>();
  /** Sessions whose server is being looked up. */
  readonly #begun = new Map<string, AbortController>();

  constructor(socket: WebSocket, terms: ReadingTerms) {
    this.#socket = socket;
    this.#terms = terms;
  }

  async obey(order: ReaderOrder): Promise<void> {
    if (order.kind === 'hear') return this.#begin(order);
    if (order.kind === 'leave') return this.#leave(keyOf(order.serverId, order.sessionId));
    if (order.kind === 'rest') return this.rest();
    if (order.kind === 'post') {
      const endpoint = await this.#terms.endpointOf(order.serverId);
      return postText(endpoint, protocolOf(order.session), order.text);
    }
    const { maxBytes } = this.#terms;
    const channels = [...this.#read.values()].map(({ endpoint, session }) =>
      createHttpChannel(endpoint, protocolOf(session), maxBytes),
    );
    await Promise.allSettled(channels.map(channel => setLevel(channel, order.level)));
  }

  async check(): Promise<void> {
    for (const [key, reading] of this.#read) {
      const { serverId, endpoint } = reading;
      const now = await this.#terms.endpointOf(serverId).catch(() => undefined);
      if (now?.credentialKey === endpoint.credentialKey) renew(endpoint, now);
      else {
        // The object asks again once it needs the stream, since the server may come back.
        this.#report(reading, 'closed');
        this.#leave(key);
      }
    }
  }

  rest(): void {
    for (const key of [...this.#begun.keys(), ...this.#read.keys()]) this.#leave(key);
  }

  #leave(key: string): void {
    this.#begun.get(key)?.abort();
    this.#begun.delete(key);
    this.#read.get(key)?.controller.abort();
    this.#read.delete(key);
  }

  async #begin({ serverId, session }: SessionPlace): Promise<void> {
    const key = keyOf(serverId, session.sessionId);
    const known = this.#read.get(key);
    // A stream that is still being opened is reported once it is open.
    if (known)
      return (
        known.reported && this.#send({ kind: 'state', state: known.reported, serverId, session })
      );
    if (this.#begun.has(key)) return;
    const controller = new AbortController();
    this.#begun.set(key, controller);
    const endpoint = await this.#terms.endpointOf(serverId).catch(() => undefined);
    if (controller.signal.aborted) return;
    this.#begun.delete(key);
    const isOther = endpoint?.credentialKey !== session.credentialKey;
    if (!endpoint || isOther || this.#read.size >= MAX_SESSIONS) {
      return this.#send({ kind: 'state', state: 'closed', serverId, session });
    }
    const reading: ReadSession = { serverId, session, endpoint, controller, pongs: 0 };
    this.#read.set(key, reading);
    await this.#open(reading, RETRY_MS);
  }

  /** Opens a stream; a failed attempt is repeated after a growing delay. */
  async #open(reading: ReadSession, retryMs: number): Promise<void> {
    const { serverId, session, endpoint, controller } = reading;
    const { signal } = controller;
    const over = (state: StreamState) => {
      this.#report(reading, state);
      this.#leave(keyOf(serverId, session.sessionId));
    };
    const slow = setTimeout(() => this.#report(reading, 'open'), SLOW_MS);
    const state = await openReading({
      endpoint: () => endpoint,
      protocol: protocolOf(session),
      maxBytes: this.#terms.maxBytes,
      take: message => this.#take(reading, message),
      maxFailures: Infinity,
      maxRestMs: MAX_RETRY_MS,
      signal,
      onEnd: () => over('closed'),
    });
    clearTimeout(slow);
    if (state === 'none') return over(state);
    this.#report(reading, state);
    if (state === 'open' || signal.aborted) return;
    const again = () => void this.#open(reading, Math.min(retryMs * 2, MAX_RETRY_MS));
    const timer = setTimeout(again, retryMs);
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  }

  /** Reports only changes to the object, so that nothing else wakes it. */
  #report(reading: ReadSession, state: StreamState): void {
    if (reading.controller.signal.aborted || reading.reported === state) return;
    reading.reported = state;
    const { serverId, session } = reading;
    this.#send({ kind: 'state', state, serverId, session });
  }

  #take(reading: ReadSession, message: UpstreamMessage): void {
    const { serverId, session, endpoint } = reading;
    if (message.kind === 'request' && message.method === 'ping') {
      if (reading.pongs >= MAX_PONGS) return;
      reading.pongs += 1;
      const pong = toAnswerText(message.id, { result: '{}' });
      const answering = postText(endpoint, protocolOf(session), pong);
      void answering.finally(() => (reading.pongs -= 1));
      return;
    }
    if (message.kind !== 'request' && message.kind !== 'notification') return;
    const redacted =
      message.kind === 'notification'
        ? { ...message, text: noteRedacted(message.text, endpoint.hidden) }
        : message;
    this.#send({ kind: 'message', message: redacted, serverId, session });
  }

  #send(event: ReaderEvent): void {
    sendFrame(this.#socket, { id: '', text: JSON.stringify(event) });
  }
}

const protocolOf = ({ protocolVersion, sessionId }: NotificationSession) => {
  return { era: 'legacy' as const, protocolVersion, sessionId };
};
