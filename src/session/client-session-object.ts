/**
 * ClientSession: the state of one client that must outlive a request. Owns the sessions this client
 * has at legacy upstreams, and live HTTP+SSE connections. Makes no Streamable HTTP request itself;
 * the Worker does. Keyed by `session:{id}` for a legacy client, `principal:{id}` for callers
 * without a session.
 *
 * Invariants: an upstream session is stored before it is used; an object nobody used for the idle
 * time deletes itself; the methods are reachable only through the binding.
 */
import { DurableObject } from 'cloudflare:workers';
import { parseConfig, type Env } from '../env.ts';
import { PorticoError } from '../errors/portico-error.ts';
import type { ErrorCode } from '../errors/table.ts';
import { createDeadline } from '../upstream/deadline.ts';
import { initializeParams, parseInitializeResult } from '../upstream/handshake.ts';
import { openSse, type SseConnection } from '../upstream/sse-connection.ts';
import type { Destination } from '../upstream/destination.ts';
import { UpstreamClaims } from './upstream-claims.ts';

/** A session at an upstream, as it is stored. */
export interface UpstreamSession {
  sessionId: string;
  protocolVersion: string;
  /** The address and credential it was opened with; another one needs another session. */
  credentialKey: string;
}

/** A session to be ended at its server. */
export interface EndedSession {
  serverId: string;
  session: UpstreamSession;
}

export type Acquired = { session: UpstreamSession } | { claim: string };

/**
 * An answer that can cross the binding, where thrown errors lose their class: the raw result or
 * error of the server, or why there is none.
 */
export type SseAnswer =
  { result: string } | { error: string } | { code: ErrorCode; detail: string };

/** Longest time one caller may take to open an upstream session. */
const CLAIM_LIMIT_MS = 15_000;
/** A live HTTP+SSE connection without a call is closed after this time. */
const SSE_IDLE_MS = 60_000;

const storageKey = (serverId: string) => `upstream/${serverId}`;

export class ClientSession extends DurableObject<Env> {
  readonly #claims = new UpstreamClaims(CLAIM_LIMIT_MS);
  readonly #connections = new Map<string, { credentialKey: string; connection: SseConnection }>();
  readonly #calls = new Map<string, AbortController>();
  readonly #config = parseConfig(this.env);
  #touchedAt = 0;

  /** The session at a server, or the right to open it; waits while another caller opens it. */
  async acquire(serverId: string, credentialKey: string): Promise<Acquired> {
    await this.#touch();
    for (;;) {
      const session = await this.ctx.storage.get<UpstreamSession>(storageKey(serverId));
      if (session?.credentialKey === credentialKey) return { session };
      const claim = await this.#claims.claim(serverId);
      if (claim !== undefined) return { claim };
    }
  }

  /** Store the session a claim was for; without one the next caller tries. */
  async settle(serverId: string, claim: string, session?: UpstreamSession): Promise<boolean> {
    if (!this.#claims.holds(serverId, claim)) return false;
    if (session) await this.ctx.storage.put(storageKey(serverId), session);
    return this.#claims.settle(serverId, claim);
  }

  /** The upstream forgot this session; a newer one stays. */
  async forget(serverId: string, sessionId: string): Promise<void> {
    const stored = await this.ctx.storage.get<UpstreamSession>(storageKey(serverId));
    if (stored?.sessionId === sessionId) await this.ctx.storage.delete(storageKey(serverId));
  }

  /** Put one request to a server of the HTTP+SSE transport, on this client's own connection. */
  async callSse(
    destination: Destination,
    method: string,
    params: [string, string][],
    timeoutMs: number,
    callId: string,
  ): Promise<SseAnswer> {
    await this.#touch();
    const client = new AbortController();
    const deadline = createDeadline(timeoutMs, client.signal);
    this.#calls.set(callId, client);
    try {
      const connection = await this.#connect(destination, timeoutMs);
      const response = await connection.request(method, new Map(params), deadline);
      return 'result' in response ? { result: response.result } : { error: response.error };
    } catch (error) {
      if (!(error instanceof PorticoError)) throw error;
      return { code: error.code, detail: error.message };
    } finally {
      deadline.release();
      this.#calls.delete(callId);
    }
  }

  /** The client of a call over HTTP+SSE went away. */
  cancelSse(callId: string): void {
    this.#calls.get(callId)?.abort();
  }

  /** The client ended its session: forget everything. Returns what to end at the upstreams. */
  async end(): Promise<EndedSession[]> {
    const stored = await this.ctx.storage.list<UpstreamSession>({ prefix: 'upstream/' });
    for (const { connection } of this.#connections.values()) connection.close();
    this.#connections.clear();
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    return [...stored].map(([key, session]) => ({
      serverId: key.slice('upstream/'.length),
      session,
    }));
  }

  override async alarm(): Promise<void> {
    const touchedAt = (await this.ctx.storage.get<number>('touchedAt')) ?? 0;
    const idleAt = Math.max(touchedAt, this.#touchedAt) + this.#config.sessionIdleMs;
    if (idleAt > Date.now()) await this.ctx.storage.setAlarm(idleAt);
    else await this.end();
  }

  /** Note that the client is alive; written rarely, since it only has to be roughly right. */
  async #touch(): Promise<void> {
    const now = Date.now();
    if (now - this.#touchedAt < this.#config.sessionIdleMs / 10) return;
    this.#touchedAt = now;
    await this.ctx.storage.put('touchedAt', now);
    if ((await this.ctx.storage.getAlarm()) === null) {
      await this.ctx.storage.setAlarm(now + this.#config.sessionIdleMs);
    }
  }

  async #connect(destination: Destination, timeoutMs: number): Promise<SseConnection> {
    for (;;) {
      const held = this.#connections.get(destination.serverId);
      if (held && !held.connection.closed && held.credentialKey === destination.credentialKey) {
        return held.connection;
      }
      const claim = await this.#claims.claim(`sse/${destination.serverId}`);
      if (claim === undefined) continue;
      held?.connection.close();
      try {
        const connection = await this.#open(destination, timeoutMs);
        this.#connections.set(destination.serverId, {
          credentialKey: destination.credentialKey,
          connection,
        });
        this.#closeWhenIdle(destination.serverId, connection);
        return connection;
      } finally {
        this.#claims.settle(`sse/${destination.serverId}`, claim);
      }
    }
  }

  async #open(destination: Destination, timeoutMs: number): Promise<SseConnection> {
    const deadline = createDeadline(Math.min(timeoutMs, CLAIM_LIMIT_MS));
    try {
      const options = { maxBytes: this.#config.maxAnswerBytes };
      const connection = await openSse(destination, options, deadline);
      parseInitializeResult(await connection.request('initialize', initializeParams(), deadline));
      await connection.notify('notifications/initialized', deadline);
      return connection;
    } finally {
      deadline.release();
    }
  }

  /** A stream keeps this object awake, so it is closed once nobody has called for a while. */
  #closeWhenIdle(serverId: string, connection: SseConnection): void {
    let used = connection.served;
    const timer = setInterval(() => {
      const idle = connection.pending === 0 && connection.served === used;
      used = connection.served;
      if (!connection.closed && !idle) return;
      clearInterval(timer);
      connection.close();
      if (this.#connections.get(serverId)?.connection === connection) {
        this.#connections.delete(serverId);
      }
    }, SSE_IDLE_MS);
  }
}
