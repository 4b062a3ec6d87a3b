/**
 * While a client has a stream of its own, the notification streams of its sessions at legacy servers are read in the Worker where that
 * stream ends. The Worker passes the messages to the client's object over a WebSocket that lets the object sleep. This is the object's
 * half; the Worker's is `read-sessions.ts`.
 *
 * Invariants: of several such Workers the newest reads; each message names its session, so that an object that lost its memory can go on.
 */
import type { LogLevel } from '../shared/protocol.ts';
import type { UpstreamMessage } from '../upstream/protocol/message.ts';
import type { NotificationSession, OwnReader } from '../upstream/streams/notification-streams.ts';
import type { StreamState } from '../upstream/streams/stream-reader.ts';
import { FrameReader, sendFrame } from './stream-frames.ts';

/** A session and its server. */
export interface SessionPlace {
  serverId: string;
  session: NotificationSession;
}

/** What the object orders the Worker to do. */
export type ReaderOrder =
  | ({ kind: 'hear' } & SessionPlace)
  | { kind: 'leave'; serverId: string; sessionId: string }
  | ({ kind: 'post'; text: string } & SessionPlace)
  | { kind: 'level'; level: LogLevel }
  /** Another Worker reads from now on. */
  | { kind: 'rest' };

/** What the Worker reports. */
export type ReaderEvent =
  | ({ kind: 'state'; state: StreamState } & SessionPlace)
  | ({ kind: 'message'; message: UpstreamMessage } & SessionPlace);

export interface OwnReaderPorts {
  /** Returns the client's sessions. */
  sessions(): Promise<SessionPlace[]>;
  onMessage(place: SessionPlace, message: UpstreamMessage): void;
  onState(place: SessionPlace, state: StreamState): void;
  /** The Worker that reads has changed, or is gone. */
  onChange(): Promise<unknown>;
}

/** Longest time that a call waits for the Worker to open a stream, in milliseconds. */
const ANSWER_MS = 4_000;

/** The key by which both halves know a session. */
export const keyOf = (serverId: string, sessionId: string) => `${serverId} ${sessionId}`;

interface Requested {
  state: Promise<StreamState>;
  settle(state: StreamState): void;
}

export class OwnStreamReader implements OwnReader {
  static readonly TAG = 'hearing';
  static readonly PATH = '/hearing';
  readonly #state: DurableObjectState;
  readonly #ports: OwnReaderPorts;
  readonly #frames = new WeakMap<WebSocket, FrameReader>();
  readonly #requested = new Map<string, Requested>();

  constructor(state: DurableObjectState, ports: OwnReaderPorts) {
    this.#state = state;
    this.#ports = ports;
  }

  /** Whether the client has a stream of its own, whose Worker reads. */
  get isThere(): boolean {
    return this.#newest() !== undefined;
  }

  /** Accepts the socket of a Worker, which reads from now on. */
  accept(): Response {
    const { 0: worker, 1: object } = new WebSocketPair();
    const before = this.#newest();
    if (before) send(before, { kind: 'rest' });
    this.#state.acceptWebSocket(object, [OwnStreamReader.TAG]);
    object.serializeAttachment(before ? orderOf(before) + 1 : 1);
    // Not awaited: the Worker answers orders only once it has its end of the socket.
    this.#state.waitUntil(this.#begin(object));
    return new Response(null, { status: 101, webSocket: worker });
  }

  /** Receives a piece of a Worker's report. */
  receive(socket: WebSocket, piece: string): void {
    const reader = this.#frames.get(socket) ?? new FrameReader();
    this.#frames.set(socket, reader);
    const frame = reader.push(piece);
    if (!frame) return;
    const event = JSON.parse(frame.text) as ReaderEvent;
    if (event.kind === 'message') return this.#ports.onMessage(event, event.message);
    const key = keyOf(event.serverId, event.session.sessionId);
    const { state } = event;
    const requested = this.#requested.get(key);
    requested?.settle(state);
    // Forget the attempt, so that a later one asks again.
    if (state === 'closed') this.#requested.delete(key);
    // The report may come after the wait for it was over.
    else if (requested) requested.state = Promise.resolve(state);
    this.#ports.onState(event, state);
  }

  /** A socket has closed. */
  async leftBy(socket: WebSocket): Promise<void> {
    const newest = this.#newest();
    if (newest && orderOf(newest) > orderOf(socket)) return;
    if (newest) await this.#begin(newest);
    else {
      this.#forget();
      await this.#ports.onChange();
    }
  }

  async read(serverId: string, session: NotificationSession): Promise<StreamState | undefined> {
    const socket = this.#newest();
    return socket && this.#request(socket, { serverId, session });
  }

  leave(serverId: string, sessionId: string): void {
    this.#requested.delete(keyOf(serverId, sessionId));
    const socket = this.#newest();
    if (socket) send(socket, { kind: 'leave', serverId, sessionId });
  }

  post(serverId: string, session: NotificationSession, text: string): boolean {
    const socket = this.#newest();
    if (socket) send(socket, { kind: 'post', serverId, session, text });
    return socket !== undefined;
  }

  /** Sets the client's log level in the sessions that are read. */
  setLevel(level: LogLevel): void {
    const socket = this.#newest();
    if (socket) send(socket, { kind: 'level', level });
  }

  async #begin(socket: WebSocket): Promise<void> {
    this.#forget();
    await this.#ports.onChange();
    const places = await this.#ports.sessions();
    const newest = this.#newest();
    // Another Worker may read by now.
    if (newest && orderOf(newest) > orderOf(socket)) return;
    for (const place of places) if (!place.session.hasNoStream) void this.#request(socket, place);
  }

  #request(socket: WebSocket, place: SessionPlace): Promise<StreamState> {
    const key = keyOf(place.serverId, place.session.sessionId);
    const known = this.#requested.get(key);
    if (known) return known.state;
    const { promise: state, resolve } = Promise.withResolvers<StreamState>();
    const timer = setTimeout(() => resolve('closed'), ANSWER_MS);
    const settle = (given: StreamState) => {
      clearTimeout(timer);
      resolve(given);
    };
    this.#requested.set(key, { state, settle });
    send(socket, { kind: 'hear', ...place });
    return state;
  }

  #forget(): void {
    for (const { settle } of this.#requested.values()) settle('closed');
    this.#requested.clear();
  }

  #newest(): WebSocket | undefined {
    return this.#state
      .getWebSockets(OwnStreamReader.TAG)
      .filter(({ readyState }) => readyState === WebSocket.OPEN)
      .toSorted((a, b) => orderOf(b) - orderOf(a))[0];
  }
}

const orderOf = (socket: WebSocket): number => Number(socket.deserializeAttachment() ?? 0);

function send(socket: WebSocket, order: ReaderOrder): void {
  sendFrame(socket, { id: '', text: JSON.stringify(order) });
}
