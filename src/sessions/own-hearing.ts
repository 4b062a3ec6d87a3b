/**
 * How a client's sessions at legacy servers are heard while the client has a stream of its own: their
 * notification streams end in the Worker where that stream ends, which passes on to the client's object
 * what is said, over a WebSocket that lets the object sleep. This is the object's half; the Worker's is
 * `hear-sessions.ts`.
 *
 * Invariants: of several such Workers the newest hears; what one says is of the session that it names,
 * so that an object that lost its memory goes on.
 */
import type { LogLevel } from '../shared/protocol.ts';
import type { UpstreamMessage } from '../upstream/protocol/message.ts';
import type { NotificationSession, OwnHearing } from '../upstream/streams/notification-streams.ts';
import type { StreamState } from '../upstream/streams/stream-reader.ts';
import { FrameReader, sendFrame } from './stream-frames.ts';

/** A session and where it is. */
export interface SessionPlace {
  serverId: string;
  session: NotificationSession;
}

/** What the object has the Worker do. */
export type HearingOrder =
  | ({ kind: 'hear' } & SessionPlace)
  | { kind: 'leave'; serverId: string; sessionId: string }
  | ({ kind: 'post'; text: string } & SessionPlace)
  | { kind: 'level'; level: LogLevel }
  /** Another Worker hears from now on. */
  | { kind: 'rest' };

/** What the Worker tells. */
export type HearingEvent =
  | ({ kind: 'state'; state: StreamState } & SessionPlace)
  | ({ kind: 'message'; message: UpstreamMessage } & SessionPlace);

export interface OwnHearingPorts {
  /** The client's sessions. */
  sessions(): Promise<SessionPlace[]>;
  onMessage(place: SessionPlace, message: UpstreamMessage): void;
  onState(place: SessionPlace, state: StreamState): void;
  /** The Worker that hears is another one, or none. */
  onChange(): Promise<unknown>;
}

/** Longest time a call waits for the Worker to open a stream, in milliseconds. */
const ANSWER_MS = 4_000;

/** By which both halves know a session. */
export const keyOf = (serverId: string, sessionId: string) => `${serverId} ${sessionId}`;

interface Asked {
  state: Promise<StreamState>;
  settle(state: StreamState): void;
}

export class OwnStreamHearing implements OwnHearing {
  static readonly TAG = 'hearing';
  static readonly PATH = '/hearing';
  readonly #state: DurableObjectState;
  readonly #ports: OwnHearingPorts;
  readonly #frames = new WeakMap<WebSocket, FrameReader>();
  readonly #asked = new Map<string, Asked>();

  constructor(state: DurableObjectState, ports: OwnHearingPorts) {
    this.#state = state;
    this.#ports = ports;
  }

  /** Whether the client has a stream of its own, whose Worker hears. */
  get isThere(): boolean {
    return this.#newest() !== undefined;
  }

  /** Take the socket of a Worker, which hears from now on. */
  async accept(): Promise<Response> {
    const { 0: worker, 1: object } = new WebSocketPair();
    const before = this.#newest();
    if (before) send(before, { kind: 'rest' });
    this.#state.acceptWebSocket(object, [OwnStreamHearing.TAG]);
    object.serializeAttachment(before ? orderOf(before) + 1 : 1);
    await this.#begin(object);
    return new Response(null, { status: 101, webSocket: worker });
  }

  /** A piece of what a Worker tells. */
  receive(socket: WebSocket, piece: string): void {
    const reader = this.#frames.get(socket) ?? new FrameReader();
    this.#frames.set(socket, reader);
    const frame = reader.push(piece);
    if (!frame) return;
    const told = JSON.parse(frame.text) as HearingEvent;
    if (told.kind === 'message') return this.#ports.onMessage(told, told.message);
    const key = keyOf(told.serverId, told.session.sessionId);
    this.#asked.get(key)?.settle(told.state);
    // What cannot be opened now is asked for again.
    if (told.state === 'closed') this.#asked.delete(key);
    this.#ports.onState(told, told.state);
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

  async hear(serverId: string, session: NotificationSession): Promise<StreamState | undefined> {
    const socket = this.#newest();
    return socket && this.#ask(socket, { serverId, session });
  }

  leave(serverId: string, sessionId: string): void {
    this.#asked.delete(keyOf(serverId, sessionId));
    const socket = this.#newest();
    if (socket) send(socket, { kind: 'leave', serverId, sessionId });
  }

  post(serverId: string, session: NotificationSession, text: string): boolean {
    const socket = this.#newest();
    if (socket) send(socket, { kind: 'post', serverId, session, text });
    return socket !== undefined;
  }

  /** The client wants other log messages in the sessions that are heard. */
  setLevel(level: LogLevel): void {
    const socket = this.#newest();
    if (socket) send(socket, { kind: 'level', level });
  }

  async #begin(socket: WebSocket): Promise<void> {
    this.#forget();
    await this.#ports.onChange();
    const places = await this.#ports.sessions();
    for (const place of places) if (!place.session.hasNoStream) void this.#ask(socket, place);
  }

  #ask(socket: WebSocket, place: SessionPlace): Promise<StreamState> {
    const key = keyOf(place.serverId, place.session.sessionId);
    const known = this.#asked.get(key);
    if (known) return known.state;
    const { promise: state, resolve } = Promise.withResolvers<StreamState>();
    const timer = setTimeout(() => resolve('closed'), ANSWER_MS);
    const settle = (given: StreamState) => {
      clearTimeout(timer);
      resolve(given);
    };
    this.#asked.set(key, { state, settle });
    send(socket, { kind: 'hear', ...place });
    return state;
  }

  #forget(): void {
    for (const { settle } of this.#asked.values()) settle('closed');
    this.#asked.clear();
  }

  #newest(): WebSocket | undefined {
    return this.#state
      .getWebSockets(OwnStreamHearing.TAG)
      .filter(({ readyState }) => readyState === WebSocket.OPEN)
      .toSorted((a, b) => orderOf(b) - orderOf(a))[0];
  }
}

const orderOf = (socket: WebSocket): number => Number(socket.deserializeAttachment() ?? 0);

function send(socket: WebSocket, order: HearingOrder): void {
  sendFrame(socket, { id: '', text: JSON.stringify(order) });
}
