/**
 * The notification streams of one client's sessions at legacy servers, in its object.
 *
 * A session of a legacy client is its own: a server request on its stream goes to one of its calls. Callers without sessions of their own
 * share one: they may be different people and must not get each other's server requests, so a call has such a session to itself while it
 * runs, if the server has a notification stream. Simultaneous calls get sessions beside the stored one, which are kept until they are idle.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import { renew, type UpstreamEndpoint } from '../endpoint.ts';
import { joinStream, type ListenerTerms } from './call-listener.ts';
import { endSession } from '../session/end-session.ts';
import { openSession } from '../session/acquire-session.ts';
import type { SessionNotification, SessionServer } from './session-events.ts';
import { NotificationStream } from './notification-stream.ts';
import type { SharedStream } from './shared-stream.ts';
import type { StreamState } from './stream-reader.ts';
import type { UpstreamMessage } from '../protocol/message.ts';
import type { CallSession } from '../upstream-client.ts';

/** The part of a session that its stream needs. */
export interface NotificationSession {
  sessionId: string;
  protocolVersion: string;
  credentialKey: string;
  /** The server said that it has no such stream. */
  hasNoStream?: boolean;
}

/** The Worker in which the client's own stream ends, as it reads streams of sessions for the client's object. */
export interface OwnReader {
  /** Makes it read the stream of a session. @returns undefined if the client has no stream of its own */
  read(serverId: string, session: NotificationSession): Promise<StreamState | undefined>;
  leave(serverId: string, sessionId: string): void;
  /** @returns false if the client has no stream of its own */
  post(serverId: string, session: NotificationSession, text: string): boolean;
}

export interface NotificationStreamsOptions {
  own: OwnReader;
  holdMs: number;
  maxBytes: number;
  /** See `SharedStream`. */
  onEvent(message: SessionNotification, by: SessionServer): boolean;
  /** Whether the stream of the stored session at a server is to stay open. */
  isKeptOpen(serverId: string): boolean;
  /** Called if a server offers no notification stream in a stored session, so that this is remembered. */
  onNone(serverId: string, session: NotificationSession): Promise<unknown>;
}

interface Held {
  serverId: string;
  session: NotificationSession;
  /** Opened beside the stored session, for one call at a time. */
  isExtra: boolean;
  stream: NotificationStream;
}

/** Most streams one client may have open at once. */
const MAX_STREAMS = 200;
/** Longest time a call waits for a stream; the second if a call waited in vain before, in milliseconds. */
const WAIT_MS = 3_000;
const WAIT_AGAIN_MS = 100;
/** Time a server request waits for its call, which a Worker makes and which may come later, in milliseconds. */
const GRACE_MS = 5_000;

const keyOf = (serverId: string, sessionId: string) => `${serverId} ${sessionId}`;

export class NotificationStreams {
  readonly #options: NotificationStreamsOptions;
  readonly #held = new Map<string, Held>();
  /** Servers that are slow to open a stream, by id: some send nothing before their first event. */
  readonly #slow = new Set<string>();

  constructor(options: NotificationStreamsOptions) {
    this.#options = options;
  }

  /** Returns the stream of a session, if it is held. */
  find(serverId: string, sessionId: string): NotificationStream | undefined {
    return this.#held.get(keyOf(serverId, sessionId))?.stream;
  }

  /** Returns the shared stream of a session that the client's own Worker reads, even if this object lost its memory meanwhile. */
  workerStream(serverId: string, session: NotificationSession): SharedStream {
    const known = this.find(serverId, session.sessionId);
    return (known ?? this.#create(serverId, undefined, session, GRACE_MS).stream).shared;
  }

  /** Takes a message that the client's own Worker read. */
  take(serverId: string, session: NotificationSession, message: UpstreamMessage): void {
    this.workerStream(serverId, session).take(message);
  }

  /** The client's own Worker came or went. */
  async changeHands(): Promise<void> {
    const own = [...this.#held.values()].filter(({ isExtra }) => !isExtra);
    await Promise.allSettled(own.map(({ stream }) => stream.changeHands()));
  }

  /** Opens the stream of a session for a call that the Worker makes. */
  async hold(endpoint: UpstreamEndpoint, session: NotificationSession): Promise<StreamState> {
    if (session.hasNoStream) return 'none';
    const { serverId } = endpoint;
    const known = this.#known(endpoint, session);
    if (!known && this.#held.size >= MAX_STREAMS) return 'closed';
    const { stream } = known ?? this.#create(serverId, endpoint, session, GRACE_MS);
    const state = await stream.hold();
    if (state === 'none') {
      stream.close();
      await this.#options.onNone(serverId, session);
    }
    return state;
  }

  /**
   * Returns a session for one call of a client that answers with its next request.
   * @param session the stored one
   * @throws PorticoError with an `upstream_*` code if another one cannot be opened
   */
  async acquire(
    endpoint: UpstreamEndpoint,
    session: NotificationSession,
    terms: ListenerTerms,
  ): Promise<CallSession> {
    if (session.hasNoStream) return session;
    const { serverId } = endpoint;
    const stored = this.#known(endpoint, session) ?? this.#create(serverId, endpoint, session, 0);
    const state = await stored.stream.hold();
    if (state === 'none') {
      stored.stream.close();
      await this.#options.onNone(serverId, session);
      return session;
    }
    const free = [stored, ...this.#extras(endpoint)].find(({ stream }) => stream.shared.size === 0);
    if (free && !free.stream.isClosed) {
      const listener = joinStream(free.stream.shared, terms);
      if (free !== stored) await free.stream.hold();
      return { ...free.session, listener };
    }
    if (this.#held.size >= MAX_STREAMS) throw new PorticoError('too_many_calls');
    const extra = await this.#openExtra(endpoint, terms.capabilities);
    const listener = joinStream(extra.stream.shared, terms);
    await extra.stream.hold();
    return { ...extra.session, listener };
  }

  /** Drops a session that its server forgot. */
  forget(serverId: string, sessionId: string): void {
    this.#options.own.leave(serverId, sessionId);
    this.find(serverId, sessionId)?.close();
  }

  /** Closes the streams at a server, except that of one session and those of single calls. */
  leave(serverId: string, sessionId?: string): void {
    for (const held of this.#held.values()) {
      const isOther = !held.isExtra && held.session.sessionId !== sessionId;
      if (held.serverId === serverId && isOther) held.stream.close();
    }
  }

  /** Returns the sessions whose streams this object reads. */
  held(): { endpoint: UpstreamEndpoint; session: NotificationSession }[] {
    return [...this.#held.values()].flatMap(({ session, stream }) => {
      const { endpoint, opening } = stream;
      return endpoint && opening ? [{ endpoint, session }] : [];
    });
  }

  closeAll(): void {
    for (const { stream } of this.#held.values()) stream.close();
  }

  /** Returns the stream of a session, with the newest access token. */
  #known(endpoint: UpstreamEndpoint, { sessionId }: NotificationSession): Held | undefined {
    const held = this.#held.get(keyOf(endpoint.serverId, sessionId));
    if (held?.stream.endpoint) renew(held.stream.endpoint, endpoint);
    else if (held) held.stream.endpoint = endpoint;
    return held;
  }

  #extras({ serverId, credentialKey }: UpstreamEndpoint): Held[] {
    return [...this.#held.values()].filter(
      held =>
        held.isExtra && held.serverId === serverId && held.session.credentialKey === credentialKey,
    );
  }

  async #openExtra(endpoint: UpstreamEndpoint, capabilities: JsonObject): Promise<Held> {
    const session = await openSession(endpoint, capabilities, this.#options.maxBytes);
    return this.#create(endpoint.serverId, endpoint, session, 0, true);
  }

  #create(
    serverId: string,
    endpoint: UpstreamEndpoint | undefined,
    session: NotificationSession,
    graceMs: number,
    isExtra = false,
  ): Held {
    const { own, holdMs, maxBytes, onEvent, isKeptOpen } = this.#options;
    const { sessionId, protocolVersion } = session;
    const key = keyOf(serverId, sessionId);
    const stream: NotificationStream = new NotificationStream(endpoint, {
      protocol: { era: 'legacy', protocolVersion, sessionId },
      holdMs,
      maxBytes,
      graceMs,
      waitMs: this.#slow.has(serverId) ? WAIT_AGAIN_MS : WAIT_MS,
      onSlow: () => this.#slow.add(serverId),
      onEvent: message => onEvent(message, stream.endpoint ?? { serverId, hidden: [] }),
      readElsewhere: async () => (isExtra ? undefined : own.read(serverId, session)),
      postElsewhere: text => !isExtra && own.post(serverId, session, text),
      isKeptOpen: () => !isExtra && isKeptOpen(serverId),
      onClose: () => {
        this.#held.delete(key);
        if (isExtra && stream.endpoint) void endSession(stream.endpoint, session);
      },
    });
    const held = { serverId, session, isExtra, stream };
    this.#held.set(key, held);
    return held;
  }
}
