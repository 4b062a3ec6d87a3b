/**
 * Live connections of one client to servers of the HTTP+SSE transport, where the connection is the session. An open stream keeps the object
 * awake, so an unused connection is closed after a while.
 */
import { createDeadline } from '../../http/deadline.ts';
import { renew, type UpstreamEndpoint } from '../endpoint.ts';
import { initializeSse } from '../session/handshake.ts';
import type { SseConnection } from './sse-connection.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type { SessionNotification, SessionServer } from './session-events.ts';
import type { UpstreamClaims } from '../session/session-lock.ts';

/** A connection without a call is closed after this time, in milliseconds. */
const IDLE_MS = 60_000;
const OPEN_MS = 15_000;

export interface SseConnectionsOptions {
  maxBytes: number;
  /** See `SharedStream`. */
  onEvent(message: SessionNotification, by: SessionServer): boolean;
  /** Whether the connection to a server is to stay open though no call uses it. */
  isKeptOpen(serverId: string): boolean;
}

interface Live {
  credentialKey: string;
  connection: SseConnection;
}

export class SseConnections {
  readonly #claims: UpstreamClaims;
  readonly #options: SseConnectionsOptions;
  readonly #live = new Map<string, Live>();

  constructor(claims: UpstreamClaims, options: SseConnectionsOptions) {
    this.#claims = claims;
    this.#options = options;
  }

  /**
   * Returns the connection to a server, opened if need be; one caller at a time opens it.
   * @param capabilities the client capabilities
   * @throws PorticoError with an `upstream_*` code
   */
  async connect(
    upstreamEndpoint: UpstreamEndpoint,
    capabilities: JsonObject,
  ): Promise<SseConnection> {
    const { serverId, credentialKey } = upstreamEndpoint;
    for (;;) {
      const live = this.#live.get(serverId);
      if (live && !live.connection.closed && live.credentialKey === credentialKey) {
        renew(live.connection.upstreamEndpoint, upstreamEndpoint);
        return live.connection;
      }
      const claim = await this.#claims.claim(`sse/${serverId}`);
      if (claim === undefined) continue;
      live?.connection.close();
      try {
        const connection = await this.open(upstreamEndpoint, capabilities);
        this.#live.set(serverId, { credentialKey, connection });
        this.#closeWhenIdle(serverId, connection);
        return connection;
      } finally {
        this.#claims.settle(`sse/${serverId}`, claim);
      }
    }
  }

  /**
   * Opens a connection for one call alone. The transport does not say which call a server request belongs to, so callers who may be
   * different people must not share one.
   * @throws PorticoError with an `upstream_*` code
   */
  async open(upstreamEndpoint: UpstreamEndpoint, capabilities: JsonObject): Promise<SseConnection> {
    const deadline = createDeadline(OPEN_MS);
    try {
      const { maxBytes } = this.#options;
      const onEvent = (message: SessionNotification) =>
        this.#options.onEvent(message, upstreamEndpoint);
      const options = { maxBytes, onEvent };
      const { channel } = await initializeSse(upstreamEndpoint, options, deadline, capabilities);
      return channel;
    } finally {
      deadline.release();
    }
  }

  /** Returns the open connections. */
  live(): SseConnection[] {
    return [...this.#live.values()].map(({ connection }) => connection);
  }

  close(serverId: string): void {
    this.#live.get(serverId)?.connection.close();
    this.#live.delete(serverId);
  }

  closeAll(): void {
    for (const { connection } of this.#live.values()) connection.close();
    this.#live.clear();
  }

  #closeWhenIdle(serverId: string, connection: SseConnection): void {
    let used = connection.served;
    const timer = setInterval(() => {
      const idle = connection.pending === 0 && connection.served === used;
      used = connection.served;
      if (!connection.closed && (!idle || this.#options.isKeptOpen(serverId))) return;
      clearInterval(timer);
      connection.close();
      if (this.#live.get(serverId)?.connection === connection) this.#live.delete(serverId);
    }, IDLE_MS);
  }
}
