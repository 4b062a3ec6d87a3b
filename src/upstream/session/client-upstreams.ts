/**
 * What one client has at its upstreams, in the client's object: the notification streams of its sessions, its HTTP+SSE connections, the
 * calls that an object has to make, the subscriptions in its own sessions, and what servers send there beside their answers.
 */
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import { inEra } from '../../servers/registry/in-era.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { ResourceEvent } from '../../shared/events.ts';
import type { UpstreamClaims } from './session-lock.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { JsonObject, LogLevel } from '../../shared/protocol.ts';
import { keepsSessions } from '../../servers/registry/keeps-sessions.ts';
import { acquireSession, type SessionHolder, type UpstreamSession } from './acquire-session.ts';
import type { CallContext } from '../protocol/call.ts';
import { needsOwnSession, maySuspend } from '../protocol/wire-request.ts';
import { createHttpChannel } from './channel.ts';
import type { UpstreamEndpoint, UpstreamEndpoints } from '../endpoint.ts';
import { setLevel } from './log-levels.ts';
import {
  takeEvent,
  type SessionNotification,
  type SessionServer,
} from '../streams/session-events.ts';
import { SessionSubscriptions, type OpenSession } from './session-subscriptions.ts';
import { pacedWakes } from '../server-messages.ts';
import { SseConnections } from '../streams/sse-connections.ts';
import { NotificationStreams, type OwnReader } from '../streams/notification-streams.ts';
import { Upstreams, type CallSession, type SessionNeeds } from '../upstream-client.ts';

export interface ClientUpstreamsSettings {
  callTimeoutMs: number;
  questionTimeoutMs: number;
  maxAnswerBytes: number;
  notificationStreamMs: number;
}

export interface ClientUpstreamsPorts {
  /** Where the client's sessions are stored. */
  holder: SessionHolder & { forget(serverId: string, sessionId: string): Promise<void> };
  storage: DurableObjectStorage;
  claims: UpstreamClaims;
  /** Returns the stored session at a server. */
  findSession(serverId: string): Promise<UpstreamSession | undefined>;
  endpoints: UpstreamEndpoints;
  findServer(serverId: string): Promise<Server | undefined>;
  /** Called if a server offers no notification stream in a stored session, so that this is remembered. */
  onNone(serverId: string, sessionId: string): Promise<unknown>;
  /** The Worker in which the client's own stream ends. */
  own: OwnReader;
  /** Whether the client has a stream of its own open. */
  isOpen(): boolean;
  /** Notifies an object of a changed resource. */
  notify(owner: string, change: ResourceEvent): Promise<unknown>;
  /** @returns whether the client's own stream takes a log message */
  onLog(serverId: string, text: string): boolean;
  wake(serverId: string): Promise<unknown>;
  waitUntil: WaitUntil;
  /** See `SessionSubscriptions`. */
  onKept(): Promise<unknown>;
}

/** Shortest time between two wakes of a server's monitor, in milliseconds. */
const WAKE_GAP_MS = 1_000;

export class ClientUpstreams {
  readonly connections: SseConnections;
  readonly streams: NotificationStreams;
  readonly subscriptions: SessionSubscriptions;
  /** The client for calls that are made inside the object, whose sessions are at hand. */
  readonly calls: Upstreams;
  readonly #ports: ClientUpstreamsPorts;
  readonly #settings: ClientUpstreamsSettings;
  readonly #wake: (serverId: string) => Promise<void>;

  constructor(ports: ClientUpstreamsPorts, settings: ClientUpstreamsSettings) {
    this.#ports = ports;
    this.#settings = settings;
    this.#wake = pacedWakes(ports.wake, WAKE_GAP_MS, ms => scheduler.wait(ms));
    const { maxAnswerBytes: maxBytes, notificationStreamMs: holdMs } = settings;
    const onEvent = (notification: SessionNotification, by: SessionServer) =>
      this.#takeEvent(notification, by);
    const isWanted = () => ports.isOpen() || this.subscriptions.isForOthers;
    const isKeptOpen = (serverId: string) => isWanted() && this.subscriptions.isAt(serverId);
    const watching = { maxBytes, onEvent, isKeptOpen };
    this.connections = new SseConnections(ports.claims, watching);
    this.streams = new NotificationStreams({
      ...watching,
      own: ports.own,
      holdMs,
      onNone: (serverId, session) => ports.onNone(serverId, session.sessionId),
    });
    this.subscriptions = new SessionSubscriptions({
      storage: ports.storage,
      openSession: (serverId, capabilities) => this.#openSession(serverId, capabilities),
      findSession: serverId => this.#findSession(serverId),
      waitUntil: ports.waitUntil,
      onKept: () => ports.onKept(),
    });
    this.calls = this.#createCalls();
  }

  /** Sets the log level that the client wants in the sessions whose streams are open. */
  async setLevel(level: LogLevel): Promise<void> {
    const { maxAnswerBytes } = this.#settings;
    const channels = this.streams.held().map(({ endpoint, session }) => {
      const protocol = { era: 'legacy' as const, ...session };
      return createHttpChannel(endpoint, protocol, maxAnswerBytes);
    });
    const all = [...channels, ...this.connections.live()];
    await Promise.allSettled(all.map(channel => setLevel(channel, level)));
  }

  /** The upstream forgot a session. */
  forget(serverId: string, sessionId: string): void {
    this.streams.forget(serverId, sessionId);
    this.subscriptions.forgot(serverId);
    if (this.subscriptions.isAt(serverId)) this.#ports.waitUntil(this.subscriptions.keep());
  }

  close(): void {
    this.subscriptions.clear();
    this.connections.closeAll();
    this.streams.closeAll();
  }

  #takeEvent(notification: SessionNotification, by: SessionServer): boolean {
    const { waitUntil, notify, onLog } = this.#ports;
    return takeEvent(notification, by, {
      onLog,
      onListChanged: serverId => waitUntil(this.#wake(serverId)),
      onUpdated: (serverId, uri, params) => {
        const notifying = async () => {
          const owners = await this.subscriptions.ownersOf(serverId, uri);
          await Promise.allSettled(owners.map(owner => notify(owner, { serverId, uri, params })));
        };
        waitUntil(notifying());
      },
    });
  }

  /** Returns the client's session at a server, opened if there is none, with its stream open. */
  async #openSession(serverId: string, capabilities: JsonObject): Promise<OpenSession> {
    const { endpoints, holder } = this.#ports;
    const server = await this.#findServer(serverId);
    if (!server) {
      this.streams.leave(serverId);
      this.connections.close(serverId);
      throw new PorticoError('server_disconnected');
    }
    const endpoint = await endpoints.of(server);
    if (server.verdict?.transport === 'sse') {
      const channel = await this.connections.connect(endpoint, capabilities);
      const forget = () => Promise.resolve(channel.close());
      const { hidden } = endpoint;
      return { name: server.name, key: channel, channel, hidden, forget };
    }
    const { maxAnswerBytes } = this.#settings;
    const opening = acquireSession(holder, endpoint, capabilities, maxAnswerBytes);
    const session = await opening.catch((error: unknown) => {
      const isRefused = error instanceof PorticoError && error.code === 'upstream_4xx';
      throw isRefused ? new PorticoError('upstream_session', error.message) : error;
    });
    this.streams.leave(serverId, session.sessionId);
    await this.streams.hold(endpoint, session);
    return this.#toOpen(endpoint, session);
  }

  /** Returns the client's stored session at a server, whatever has become of its stream. */
  async #findSession(serverId: string): Promise<OpenSession | undefined> {
    const server = await this.#findServer(serverId);
    const stored = await this.#ports.findSession(serverId);
    if (!server || !stored) return undefined;
    const endpoint = await this.#ports.endpoints.of(server);
    const isSame = stored.credentialKey === endpoint.credentialKey;
    return isSame ? this.#toOpen(endpoint, stored) : undefined;
  }

  /** Returns a server if it keeps sessions of clients in the legacy era. */
  async #findServer(serverId: string): Promise<Server | undefined> {
    const found = await this.#ports.findServer(serverId);
    const server = found && inEra(found, 'legacy');
    return server && keepsSessions(server) ? server : undefined;
  }

  #toOpen(
    endpoint: UpstreamEndpoint,
    { sessionId, protocolVersion }: UpstreamSession,
  ): OpenSession {
    const { serverId, name, hidden } = endpoint;
    const protocol = { era: 'legacy' as const, protocolVersion, sessionId };
    return {
      name,
      key: this.streams.find(serverId, sessionId)?.opening ?? sessionId,
      channel: createHttpChannel(endpoint, protocol, this.#settings.maxAnswerBytes),
      hidden,
      forget: () => this.#ports.holder.forget(serverId, sessionId),
    };
  }

  /** Returns the session for a call that is made here, with a listener if messages can come outside the call's own stream. */
  async #acquire(
    context: CallContext,
    endpoint: UpstreamEndpoint,
    needs: SessionNeeds,
  ): Promise<CallSession> {
    const { capabilities } = context;
    const { maxAnswerBytes } = this.#settings;
    const { holder } = this.#ports;
    const session: UpstreamSession = await acquireSession(
      holder,
      endpoint,
      capabilities,
      maxAnswerBytes,
    );
    if (!needsOwnSession(context, needs.wantsLogs)) return session;
    const terms = { capabilities, progressToken: needs.progressToken() };
    return this.streams.acquire(endpoint, session, terms);
  }

  #createCalls(): Upstreams {
    const { callTimeoutMs, questionTimeoutMs, maxAnswerBytes } = this.#settings;
    const { endpoints, holder } = this.#ports;
    return new Upstreams({
      endpoints,
      callTimeoutMs,
      questionTimeoutMs,
      maxAnswerBytes,
      sessions: {
        acquire: (context, endpoint, needs) => this.#acquire(context, endpoint, needs),
        forget: (_context, { serverId }, sessionId) => holder.forget(serverId, sessionId),
      },
      connectSse: (endpoint, context) =>
        maySuspend(context)
          ? this.connections.open(endpoint, context.capabilities)
          : this.connections.connect(endpoint, context.capabilities),
      requestRecheck: this.#wake,
    });
  }
}
