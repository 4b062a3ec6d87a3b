/**
 * The life of a legacy client session: it is opened, found alive, ended. A session is bound to its principal and its endpoint; idle ones
 * end by themselves.
 */
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { Caller } from '../policy/caller.ts';
import type { Snapshots } from './snapshots.ts';
import type { LogLevel } from '../../shared/protocol.ts';
import {
  deleteIdleSessions,
  deleteSession,
  deleteSurplusSessions,
  insertSession,
  parseEnded,
  touchSession,
  updateLogLevel,
  type Session,
} from './session-store.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type { SealedIds, SessionFacts } from './sealed-id.ts';

export interface SessionsOptions {
  db: D1Database;
  sealedIds: SealedIds;
  snapshots: Snapshots;
  config: { readonly sessionIdleMs: number; readonly principalSessions: number };
}

/** The revision that has the HTTP+SSE transport. */
const SSE_VERSION = '2024-11-05';

export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /**
   * Opens a session. Where the principal has too many, the least recently used ones end: a client that never ends its sessions is not
   * refused.
   * @param capabilities what the client can be asked
   * @returns the id to give to the client, and the ids of the sessions that ended
   */
  async open(
    caller: Caller,
    endpoint: string,
    protocolVersion: string,
    capabilities: JsonObject,
  ): Promise<{ sealed: string; ended: string[] }> {
    const { db, sealedIds, snapshots, config } = this.#options;
    const { facts, sealed } = await sealedIds.create(caller.principalId, protocolVersion);
    const now = Date.now();
    const session = {
      id: facts.id,
      principalId: caller.principalId,
      endpoint,
      capabilities,
      createdAt: now,
      lastSeenAt: now,
    };
    const [, , surplus] = await db.batch([
      insertSession(db, session),
      deleteIdleSessions(db, now - config.sessionIdleMs),
      deleteSurplusSessions(db, caller.principalId, config.principalSessions),
    ]);
    const ended = parseEnded(surplus?.results ?? []);
    for (const id of ended) snapshots.forgetSession(id);
    snapshots.holdSession(session);
    return { sealed, ended };
  }

  /** Creates an id for a client of the HTTP+SSE transport, whose stream is its only state. */
  seal(caller: Caller): Promise<{ facts: SessionFacts; sealed: string }> {
    return this.#options.sealedIds.create(caller.principalId, SSE_VERSION);
  }

  /** Returns the facts of a sealed id, or undefined where it was not made here. */
  facts(sealed: string): Promise<SessionFacts | undefined> {
    return this.#options.sealedIds.open(sealed);
  }

  /**
   * Whether a session is alive for this caller on this endpoint; notes that it was used.
   * @param session the row as the snapshot has it
   */
  isAlive(
    session: Session | undefined,
    caller: Caller,
    endpoint: string,
    waitUntil: WaitUntil,
  ): boolean {
    const { db, config } = this.#options;
    const idleMs = config.sessionIdleMs;
    const now = Date.now();
    if (!session || session.principalId !== caller.principalId || session.endpoint !== endpoint) {
      return false;
    }
    if (now - session.lastSeenAt > idleMs) return false;
    if (now - session.lastSeenAt > idleMs / 10) {
      session.lastSeenAt = now;
      waitUntil(touchSession(db, session.id, now).run());
    }
    return true;
  }

  /** Stores which log messages the client of a session wants. */
  async setLogLevel(sessionId: string, level: LogLevel): Promise<void> {
    const { db, snapshots } = this.#options;
    await updateLogLevel(db, sessionId, level).run();
    snapshots.forgetSession(sessionId);
  }

  /** Ends a session; its id is unknown from now on. */
  async end(sessionId: string): Promise<void> {
    const { db, snapshots } = this.#options;
    await deleteSession(db, sessionId).run();
    snapshots.forgetSession(sessionId);
  }
}
