/**
 * The notification streams of one client's sessions at legacy servers, as its object has them.
 *
 * A session of a legacy client is its own: a question on its stream goes to one of its calls. A
 * session that callers without one share is not: people who may be different must not get each
 * other's questions, so a call has such a session to itself while it runs, where the server has a
 * notification stream. Calls side by side get sessions beside the stored one, kept until they are idle.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import { renew, type UpstreamEndpoint } from '../endpoint.ts';
import { joinStream, type ListenerTerms } from './call-listener.ts';
import { endSession } from '../session/end-session.ts';
import { openSession } from '../session/acquire-session.ts';
import type { Told, ToldBy } from './session-events.ts';
import { NotificationStream } from './notification-stream.ts';
import type { SharedStream } from './shared-stream.ts';
import type { StreamState } from './stream-reader.ts';
import type { UpstreamMessage } from '../protocol/message.ts';
import type { CallSession } from '../upstream-client.ts';

/** A session as far as its stream needs it. */
export interface NotificationSession {
  sessionId: string;
  protocolVersion: string;
  credentialKey: string;
  /** The server said that it has no such stream. */
  hasNoStream?: boolean;
}

/** The Worker in which the client's own stream ends, as it hears sessions for the client's object. */
export interface OwnHearing {
  /** Has it hear a session. @returns undefined where the client has no stream of its own */
  hear(serverId: string, session: NotificationSession): Promise<StreamState | undefined>;
  leave(serverId: string, sessionId: string): void;
  /** @returns false where the client has no stream of its own */
  post(serverId: string, session: NotificationSession, text: string): boolean;
}

export interface NotificationStreamsOptions {
  own: OwnHearing;
  holdMs: number;
  maxBytes: number;
  /** See `SharedStream`. */
  onEvent(message: Told, by: ToldBy): boolean;
  /** Whether the stream of the stored session at a server is to stay. */
  isPinned(serverId: string): boolean;
  /** A server offers no notification stream in a stored session; worth remembering. */
  onNone(serverId: string, session: NotificationSession): Promise<unknown>;
}

interface Held {
  serverId: string;
  session: NotificationSession;
  /** Opened beside the stored one, for one call at a time. */
  isExtra: boolean;
  stream: NotificationStream;
}

/** Most streams one client may have open at once. */
const MAX_STREAMS = 200;
/** Longest time a call waits for a stream; the second where that was in vain before, in milliseconds. */
const WAIT_MS = 3_000;
const WAIT_AGAIN_MS = 100;
/** A question may be faster than the call it belongs to, which a Worker makes, in milliseconds. */
const GRACE_MS = 5_000;

const keyOf = (serverId: string, sessionId: string) => `${serverId} ${sessionId}`;

export class NotificationStreams {
  readonly #options: NotificationStreamsOptions;
  readonly #held = new Map<string, Held>();
  /** Servers that are slow to open a stream, by id: some say nothing before their first event. */
  readonly #slow = new Set<string>();

  constructor(options: NotificationStreamsOptions) {
    this.#options = options;
  }

  /** The stream of a session, where it is held. */
  find(serverId: string, sessionId: string): NotificationStream | undefined {
    return this.#held.get(keyOf(serverId, sessionId))?.stream;
  }

  /** What is said in a session that the client's own Worker hears, though this object may have lost its memory meanwhile. */
  heard(serverId: string, session: NotificationSession): SharedStream {
    const known = this.find(serverId, session.sessionId);
    return (known ?? this.#create(serverId, undefined, session, GRACE_MS).stream).shared;
  }

  /** A message that the client's own Worker heard. */
  take(serverId: string, session: NotificationSession, message: UpstreamMessage): void {
    this.heard(serverId, session).take(message);
  }

  /** The client's own Worker is there, or gone. */
  async changeHands(): Promise<void> {
    const own = [...this.#held.values()].filter(({ isExtra }) => !isExtra);
    await Promise.allSettled(own.map(({ stream }) => stream.changeHands()));
  }

  /** Have the stream of a session open for a call that the Worker makes. */
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
   * A session for one call of a client that answers with its next request.
   * @param session the stored one
   * @throws PorticoError with an `upstream_*` code where another one cannot be opened
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

  /** A session is forgotten by its server. */
  forget(serverId: string, sessionId: string): void {
    this.#options.own.leave(serverId, sessionId);
    this.find(serverId, sessionId)?.close();
  }

  /** Close the streams at a server but that of one session, and those which single calls have. */
  leave(serverId: string, sessionId?: string): void {
    for (const held of this.#held.values()) {
      const isOther = !held.isExtra && held.session.sessionId !== sessionId;
      if (held.serverId === serverId && isOther) held.stream.close();
    }
  }

  /** The sessions whose streams this object reads. */
  held(): { endpoint: UpstreamEndpoint; session: NotificationSession }[] {
    return [...this.#held.values()].flatMap(({ session, stream }) => {
      const { endpoint, opening } = stream;
      return endpoint && opening ? [{ endpoint, session }] : [];
    });
  }

  closeAll(): void {
    for (const { stream } of this.#held.values()) stream.close();
  }

  /** The stream of a session, which goes on with the newest access token. */
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
    const { own, holdMs, maxBytes, onEvent, isPinned } = this.#options;
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
      hearElsewhere: async () => (isExtra ? undefined : own.hear(serverId, session)),
      postElsewhere: text => !isExtra && own.post(serverId, session, text),
      isPinned: () => !isExtra && isPinned(serverId),
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
