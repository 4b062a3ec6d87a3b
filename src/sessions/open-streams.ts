/**
 * The open streams of one client, in its object. Each is a hibernating WebSocket to the Worker where the client's event stream ends. No
 * timer and no pending request keeps the object awake; state that must outlive its memory is stored before it is sent.
 *
 * A legacy session's stream is logged and can be resumed (`session-stream.ts`); of several connections the newest gets an event. A modern
 * listener gets events while it is connected; nothing is replayed. When a list changes, the object asks the Worker to check, since the
 * Worker knows what the client sees; so hidden changes cause no notification. The table `open_streams` names this object while it wants to
 * be notified of changes.
 */
import { requestRecheck, newId, type Connected } from './connected-stream.ts';
import type { LogLimits } from './event-log.ts';
import {
  changedSince,
  changedText,
  mayReceive,
  updatedTexts,
  type Audience,
  type ChangeEvent,
  type ResourceEvent,
  type Subscription,
} from '../shared/events.ts';
import { createUpdates, updateKey } from './notifications/updates.ts';
import { SessionStream } from './session-stream.ts';
import { sendFrame } from './stream-frames.ts';
import { deleteOpenStream, upsertOpenStream } from './notifications/stream-store.ts';
import type { Stored } from './client-object.ts';
import {
  logId,
  recheckText,
  type OpenStream,
  type StreamOpening,
  type StreamView,
} from './stream-opening.ts';

export interface OpenStreamsOptions {
  db: D1Database;
  limits: LogLimits;
  /** How long events of a session are logged after its last connection closed, in milliseconds. */
  resumeMs: number;
  /** Called when no stream of this object wants these resources any more. */
  onUnwanted(owner: string, resources: readonly Subscription[]): Promise<unknown>;
}

export const STREAM_TAG = 'stream';
const OWNER = 'stream-owner';
const PREFIX = 'stream/';
/** Most log messages that wait to be sent; further ones are dropped. */
const MAX_LOGGING = 200;

export class OpenStreams {
  readonly #ctx: DurableObjectState;
  readonly #options: OpenStreamsOptions;
  readonly #session: SessionStream;
  #turn: Promise<unknown> = Promise.resolve();
  /** Number of log messages being sent. */
  #logging = 0;
  readonly #updates = createUpdates(change => this.#notify(change));
  /** Name of this object, once a caller has passed it. */
  #owner = '';

  constructor(ctx: DurableObjectState, options: OpenStreamsOptions) {
    this.#ctx = ctx;
    this.#options = options;
    this.#session = new SessionStream(ctx.storage, options.limits, options.resumeMs);
  }

  /** Accepts a socket; its first message says what it is for. */
  accept(): Response {
    const { 0: worker, 1: object } = new WebSocketPair();
    this.#ctx.acceptWebSocket(object, [STREAM_TAG]);
    return new Response(null, { status: 101, webSocket: worker });
  }

  get isOpen(): boolean {
    return this.#ctx.getWebSockets(STREAM_TAG).length > 0;
  }

  /** Opens a stream on the first message of its socket, and informs the Worker. */
  open(socket: WebSocket, { lastEventId, ...opening }: StreamOpening): Promise<void> {
    return this.#inTurn(async () => {
      const { owner, kind, audience, seen } = opening;
      const connected = await this.#connected();
      const openedAt = Date.now();
      await this.#register(owner, openedAt);
      const connection = newId();
      const { stream, events } =
        kind === 'session'
          ? await this.#session.open(audience, seen, lastEventId)
          : { stream: newId(), events: [{ id: '', text: '' }] };
      const replaced = connected.filter(known => known.stream.id === stream);
      const record: OpenStream = { ...opening, id: stream, connection, openedAt };
      await this.#ctx.storage.put(PREFIX + stream, record);
      socket.serializeAttachment(connection);
      for (const known of replaced) known.socket.close(1001, 'replaced');
      for (const event of events) sendFrame(socket, event);
      // Have the Worker check what changed while nothing was connected.
      const change = kind === 'session' ? await this.#session.pending() : [];
      if (opening.lists.length > 0) sendFrame(socket, { id: '', text: recheckText(change) });
    }).catch((thrown: unknown) => {
      // Its client would wait for events that never come; so it opens another stream.
      socket.close(1011, 'failed');
      throw thrown;
    });
  }

  /** Takes the current lists of a stream's client and notifies it of those that changed. */
  recheck(socket: WebSocket, { seen, told: reported }: StreamView): Promise<void> {
    const connection: unknown = socket.deserializeAttachment();
    return this.#inTurn(async () => {
      const connected = await this.#connected();
      const stream = connected.find(known => known.stream.connection === connection)?.stream;
      if (!stream) return;
      if (stream.kind === 'session') {
        const newest = connected.find(known => known.stream.kind === 'session');
        const events = newest ? await this.#session.recheck(seen, reported, newest.stream.id) : [];
        for (const event of events) sendFrame(newest?.socket ?? socket, event);
        return;
      }
      await this.#ctx.storage.put<OpenStream>(PREFIX + stream.id, { ...stream, seen });
      const wanted = reported.filter(list => stream.lists.includes(list));
      for (const list of changedSince(stream.seen, seen, wanted)) {
        sendFrame(socket, { id: '', text: changedText(list) });
      }
    });
  }

  /** A socket has closed. */
  close(socket: WebSocket): Promise<void> {
    const connection: unknown = socket.deserializeAttachment();
    return this.#inTurn(async () => {
      for (const [key, stream] of await this.#stored()) {
        if (stream.connection !== connection) continue;
        await this.#ctx.storage.delete(key);
        await this.#settle([stream]);
      }
    });
  }

  /**
   * Notifies the streams that a change concerns.
   * @param owner name of this object
   * @returns false where no stream here wants to know any more
   */
  announce(owner: string, change: ChangeEvent): Promise<boolean> {
    this.#owner = owner;
    return 'uri' in change ? this.#updates.add(updateKey(change), change) : this.#notify([change]);
  }

  #notify(all: readonly ChangeEvent[]): Promise<boolean> {
    return this.#inTurn(async () => {
      const connected = await this.#connected();
      const isSession = await this.#session.isWanted();
      for (const change of all) await this.#notifyOne(change, connected, isSession);
      if (isSession || connected.length > 0) return true;
      await deleteOpenStream(this.#options.db, this.#owner).run();
      return false;
    });
  }

  async #notifyOne(
    change: ChangeEvent,
    connected: readonly Connected[],
    isSession: boolean,
  ): Promise<void> {
    if ('uri' in change) await this.#notifyResource(change, connected, isSession);
    else if (!requestRecheck(change, connected) && isSession) await this.#session.remember(change);
  }

  /**
   * Sends a log message on the session's newest connection; it is not logged here, so nothing replays it.
   * @returns whether there is a connection
   */
  log(serverId: string, text: string): boolean {
    if (!this.isOpen) return false;
    if (this.#logging >= MAX_LOGGING) return true;
    this.#logging += 1;
    const sending = this.#inTurn(async () => {
      const newest = (await this.#connected()).find(
        ({ stream }) => stream.kind === 'session' && mayReceive(stream.audience, serverId),
      );
      if (newest) sendFrame(newest.socket, { id: logId(serverId), text });
    });
    this.#ctx.waitUntil(sending.finally(() => (this.#logging -= 1)));
    return true;
  }

  /** Subscribes the session to a resource. */
  subscribe(owner: string, audience: Audience, subscription: Subscription): Promise<Stored> {
    return this.#inTurn(async () => {
      await this.#register(owner, Date.now());
      return this.#session.subscribe(audience, subscription);
    });
  }

  /** Ends the session's subscription to a resource where it was made. @param isMoved it is made where this one says, and goes on there */
  unsubscribe(owner: string, subscription: Subscription, isMoved = false): Promise<void> {
    return this.#inTurn(async () => {
      const session = this.#session;
      const over = await (isMoved ? session.move(subscription) : session.unsubscribe(subscription));
      if (over) await this.#options.onUnwanted(owner, [over]);
    });
  }

  /** The client is gone for good: closes its streams. The caller deletes the storage. */
  end(): Promise<void> {
    return this.#inTurn(async () => {
      const owner = await this.#ctx.storage.get<string>(OWNER);
      if (owner === undefined) return;
      const unwanted = await this.#session.subscriptions();
      for (const stream of (await this.#stored()).values()) unwanted.push(...stream.resources);
      for (const socket of this.#ctx.getWebSockets(STREAM_TAG)) socket.close(1000, 'ended');
      await deleteOpenStream(this.#options.db, owner).run();
      if (unwanted.length > 0) await this.#options.onUnwanted(owner, unwanted);
    });
  }

  /** Registers this object to be notified of changes. */
  async #register(owner: string, now: number): Promise<void> {
    // The row first: a row without a stored name is deleted at the first notification; a stored name without a row would never be notified.
    await upsertOpenStream(this.#options.db, owner, now).run();
    await this.#ctx.storage.put(OWNER, owner);
  }

  async #notifyResource(
    change: ResourceEvent,
    connected: readonly Connected[],
    isSession: boolean,
  ): Promise<void> {
    const receiving = connected.filter(({ stream }) =>
      mayReceive(stream.audience, change.serverId),
    );
    for (const { stream, socket } of receiving) {
      if (stream.kind === 'session') continue;
      for (const text of updatedTexts(change, stream.resources))
        sendFrame(socket, { id: '', text });
    }
    if (!isSession) return;
    const streams = receiving.filter(({ stream }) => stream.kind === 'session');
    const open = streams.map(({ stream }) => stream.id);
    for (const event of await this.#session.logUpdates(change, open)) {
      if (streams[0]) sendFrame(streams[0].socket, event);
    }
  }

  #stored(): Promise<Map<string, OpenStream>> {
    return this.#ctx.storage.list<OpenStream>({ prefix: PREFIX });
  }

  /** Returns the streams with a live socket, newest first; streams whose socket was lost unnoticed are cleaned up. */
  async #connected(): Promise<Connected[]> {
    const sockets = new Map<unknown, WebSocket>(
      this.#ctx
        .getWebSockets(STREAM_TAG)
        .filter(socket => socket.readyState === WebSocket.OPEN)
        .map(socket => [socket.deserializeAttachment(), socket]),
    );
    const live: Connected[] = [];
    const lost: OpenStream[] = [];
    for (const [key, stream] of await this.#stored()) {
      const socket = sockets.get(stream.connection);
      if (socket) live.push({ stream, socket });
      else {
        await this.#ctx.storage.delete(key);
        lost.push(stream);
      }
    }
    await this.#settle(lost);
    return live.toSorted((a, b) => b.stream.openedAt - a.stream.openedAt);
  }

  /**
   * Cleans up after streams that have gone: reports resources that only they wanted, and unregisters the object where no stream is left.
   */
  async #settle(gone: readonly OpenStream[]): Promise<void> {
    const [first] = gone;
    if (!first) return;
    const left = [...(await this.#stored()).values()];
    const isSession = (stream: OpenStream) => stream.kind === 'session';
    if (gone.some(isSession) && !left.some(isSession)) await this.#session.close();
    const wanted = left.flatMap(({ resources }) => resources);
    const unwanted = gone
      .flatMap(({ resources }) => resources)
      .filter(
        a => !wanted.some(b => a.serverId === b.serverId && a.uri === b.uri && a.at === b.at),
      );
    if (unwanted.length > 0) await this.#options.onUnwanted(first.owner, unwanted);
    if (left.length === 0 && !(await this.#session.isWanted())) {
      await deleteOpenStream(this.#options.db, first.owner).run();
    }
  }

  /** Runs one piece of work after the other, so that none sees another half done. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }
}
