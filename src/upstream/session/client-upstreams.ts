/**
 * What one client has at its upstreams, in the client's object: its sessions' standing streams, its
 * HTTP+SSE connections, the calls an object has to make, what it subscribed to in its own sessions,
 * and what servers tell there beside their answers.
 */
import { inEra } from '../../servers/registry/in-era.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { ResourceNews } from '../../shared/events.ts';
import type { UpstreamClaims } from './session-lock.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { JsonObject, LogLevel } from '../../shared/protocol.ts';
import { keepsSessions } from '../../servers/registry/keeps-sessions.ts';
import { acquireSession, type SessionHolder, type UpstreamSession } from './acquire-session.ts';
import type { CallContext } from '../protocol/call.ts';
import { hearsInObject, mayPark } from '../call-traits.ts';
import { createHttpChannel } from './channel.ts';
import type { Destination, Destinations } from '../endpoint.ts';
import { setLevel } from './log-levels.ts';
import { takeNews, type Told, type ToldBy } from '../streams/session-events.ts';
import { SessionSubscriptions, type HeardSession } from './session-subscriptions.ts';
import { SseConnections } from '../streams/sse-connections.ts';
import { StandingStreams } from '../streams/notification-streams.ts';
import { Upstreams, type CallSession, type Hearing } from '../upstream-client.ts';

export interface ClientUpstreamsSettings {
  callTimeoutMs: number;
  questionTimeoutMs: number;
  maxAnswerBytes: number;
  standingStreamMs: number;
}

export interface ClientUpstreamsPorts {
  /** Where the client's sessions are stored. */
  holder: SessionHolder & { forget(serverId: string, sessionId: string): Promise<void> };
  storage: DurableObjectStorage;
  claims: UpstreamClaims;
  destinations: Destinations;
  findServer(serverId: string): Promise<Server | undefined>;
  /** A server offers no standing stream in a stored session; worth remembering. */
  onNone(serverId: string, sessionId: string): Promise<unknown>;
  /** Whether the client has a stream of its own open. */
  isOpen(): boolean;
  /** Tell an object of a resource. */
  tell(owner: string, news: ResourceNews): Promise<unknown>;
  /** @returns whether the client's own stream takes a log message */
  onLog(serverId: string, text: string): boolean;
  /** Have the server looked at. */
  poke(serverId: string): Promise<unknown>;
  defer(work: Promise<unknown>): void;
  /** See `SessionSubscriptions`. */
  onKept(): Promise<void>;
}

/** A server is looked at this often at most because a session was told of a change, in milliseconds. */
const POKE_GAP_MS = 1_000;

export class ClientUpstreams {
  readonly connections: SseConnections;
  readonly standing: StandingStreams;
  readonly subscriptions: SessionSubscriptions;
  /** The path of a call as it is inside of the object, whose sessions are at hand. */
  readonly calls: Upstreams;
  readonly #ports: ClientUpstreamsPorts;
  readonly #settings: ClientUpstreamsSettings;
  readonly #pokedAt = new Map<string, number>();

  constructor(ports: ClientUpstreamsPorts, settings: ClientUpstreamsSettings) {
    this.#ports = ports;
    this.#settings = settings;
    const { maxAnswerBytes: maxBytes, standingStreamMs: holdMs } = settings;
    const onNews = (told: Told, by: ToldBy) => this.#takeNews(told, by);
    const isHeard = () => ports.isOpen() || this.subscriptions.isForOthers;
    const isPinned = (serverId: string) => isHeard() && this.subscriptions.isAt(serverId);
    const watching = { maxBytes, onNews, isPinned };
    this.connections = new SseConnections(ports.claims, watching);
    this.standing = new StandingStreams({
      ...watching,
      holdMs,
      isHeard,
      onNone: (serverId, session) => ports.onNone(serverId, session.sessionId),
    });
    this.subscriptions = new SessionSubscriptions({
      storage: ports.storage,
      hear: (serverId, capabilities) => this.#hear(serverId, capabilities),
      onKept: () => ports.onKept(),
    });
    this.calls = this.#createCalls();
  }

  /** The sessions whose streams are open log from now on as the client wants it. */
  async setLevel(level: LogLevel): Promise<void> {
    const { maxAnswerBytes } = this.#settings;
    const channels = this.standing.held().map(({ destination, session }) => {
      const manner = { era: 'legacy' as const, ...session };
      return createHttpChannel(destination, manner, maxAnswerBytes);
    });
    const all = [...channels, ...this.connections.live()];
    await Promise.allSettled(all.map(channel => setLevel(channel, level)));
  }

  /** The upstream forgot a session. */
  forget(serverId: string, sessionId: string): void {
    this.standing.forget(serverId, sessionId);
    this.subscriptions.forgot(serverId);
    if (this.subscriptions.isAt(serverId)) this.#ports.defer(this.subscriptions.keep());
  }

  close(): void {
    this.subscriptions.clear();
    this.connections.closeAll();
    this.standing.closeAll();
  }

  #takeNews(told: Told, by: ToldBy): boolean {
    const { defer, poke, tell, onLog } = this.#ports;
    return takeNews(told, by, {
      onLog,
      onListChanged: serverId => {
        const now = Date.now();
        if (now - (this.#pokedAt.get(serverId) ?? 0) < POKE_GAP_MS) return;
        this.#pokedAt.set(serverId, now);
        defer(poke(serverId));
      },
      onUpdated: (serverId, uri, params) => {
        const telling = async () => {
          const owners = await this.subscriptions.ownersOf(serverId, uri);
          await Promise.allSettled(owners.map(owner => tell(owner, { serverId, uri, params })));
        };
        defer(telling());
      },
    });
  }

  /** The client's session at a server, opened where there is none, with its stream open. */
  async #hear(serverId: string, capabilities: JsonObject): Promise<HeardSession> {
    const { findServer, destinations, holder } = this.#ports;
    const found = await findServer(serverId);
    const server = found && inEra(found, 'legacy');
    if (!server || !keepsSessions(server)) {
      this.standing.leave(serverId);
      this.connections.close(serverId);
      throw new PorticoError('server_disconnected');
    }
    const destination = await destinations.of(server);
    if (server.verdict?.transport === 'sse') {
      const channel = await this.connections.connect(destination, capabilities);
      const forget = () => Promise.resolve(channel.close());
      return { name: server.name, key: channel, channel, forget };
    }
    const { maxAnswerBytes } = this.#settings;
    const opening = acquireSession(holder, destination, capabilities, maxAnswerBytes);
    const session = await opening.catch((error: unknown) => {
      const isRefused = error instanceof PorticoError && error.code === 'upstream_4xx';
      throw isRefused ? new PorticoError('upstream_session', error.message) : error;
    });
    const { sessionId, protocolVersion } = session;
    this.standing.leave(serverId, session.sessionId);
    await this.standing.hold(destination, session);
    const stream = this.standing.find(serverId, sessionId);
    const manner = { era: 'legacy' as const, protocolVersion, sessionId };
    return {
      name: server.name,
      key: stream?.opening ?? sessionId,
      channel: createHttpChannel(destination, manner, maxAnswerBytes),
      forget: () => holder.forget(serverId, sessionId),
    };
  }

  /** The session of a call that is made here, and what it hears beside its own stream. */
  async #seat(
    context: CallContext,
    destination: Destination,
    hearing: Hearing,
  ): Promise<CallSession> {
    const { capabilities } = context;
    const { maxAnswerBytes } = this.#settings;
    const { holder } = this.#ports;
    const session: UpstreamSession = await acquireSession(
      holder,
      destination,
      capabilities,
      maxAnswerBytes,
    );
    if (!hearsInObject(context, hearing.wantsLogs)) return session;
    const terms = { capabilities, progressToken: hearing.progressToken() };
    return this.standing.seat(destination, session, terms);
  }

  #createCalls(): Upstreams {
    const { callTimeoutMs, questionTimeoutMs, maxAnswerBytes } = this.#settings;
    const { destinations, holder, poke } = this.#ports;
    return new Upstreams({
      destinations,
      callTimeoutMs,
      questionTimeoutMs,
      maxAnswerBytes,
      sessions: {
        acquire: (context, destination, hearing) => this.#seat(context, destination, hearing),
        forget: (_context, { serverId }, sessionId) => holder.forget(serverId, sessionId),
      },
      connectSse: (destination, context) =>
        mayPark(context)
          ? this.connections.open(destination, context.capabilities)
          : this.connections.connect(destination, context.capabilities),
      onSuspect: poke,
    });
  }
}
