/**
 * The sessions that clients have with one run of a legacy child. The child sees only one client, so the state of each client is kept here.
 * Sessions are limited in number and idle time, and all end with the run.
 */
import { randomBytes } from 'node:crypto';
import type { JsonObject, LogLevel } from '../../../src/shared/protocol.ts';
import type { EventStream } from './event-stream.ts';
import type { Limits } from './limits.ts';

export interface Session {
  id: string;
  /** The capabilities that its client declared. */
  capabilities: JsonObject;
  /** The notification stream while it is open. */
  stream?: EventStream | undefined;
  /** Resources that it subscribed to. */
  uris: Set<string>;
  logLevel?: LogLevel;
  /** Ids of URL elicitations that were sent to it. */
  elicitations: Set<string>;
  usedAt: number;
}

export interface SessionsOptions {
  limits: Pick<Limits, 'sessions' | 'idleMs'>;
  isBusy(session: Session): boolean;
  onEnd(session: Session): void;
}

export class Sessions {
  readonly #options: SessionsOptions;
  /** The least recently used first. */
  readonly #sessions = new Map<string, Session>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** @returns undefined where there are too many and all are busy */
  open(capabilities: JsonObject, now: number): Session | undefined {
    this.#endIdle(now);
    if (this.#sessions.size >= this.#options.limits.sessions) {
      const idle = this.all().find(session => !this.#isBusy(session));
      if (!idle) return undefined;
      this.end(idle);
    }
    const id = randomBytes(24).toString('base64url');
    const uris = new Set<string>();
    const session = { id, capabilities, uris, elicitations: new Set<string>(), usedAt: now };
    this.#sessions.set(id, session);
    return session;
  }

  /** @returns undefined where there is none with this id, or it has ended */
  find(id: string, now: number): Session | undefined {
    this.#endIdle(now);
    const session = this.#sessions.get(id);
    if (!session) return undefined;
    session.usedAt = now;
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  /** Returns the session without counting this as use. */
  peek(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  end(session: Session): void {
    if (!this.#sessions.delete(session.id)) return;
    session.stream?.end();
    session.stream = undefined;
    this.#options.onEnd(session);
  }

  all(): Session[] {
    return [...this.#sessions.values()];
  }

  close(): void {
    for (const session of this.#sessions.values()) session.stream?.end();
    this.#sessions.clear();
  }

  #isBusy(session: Session): boolean {
    return session.stream !== undefined || this.#options.isBusy(session);
  }

  /** Sessions are in order of use, so the first one that is not idle long enough ends the loop. */
  #endIdle(now: number): void {
    for (const session of this.#sessions.values()) {
      if (now - session.usedAt < this.#options.limits.idleMs) return;
      if (this.#isBusy(session)) session.usedAt = now;
      else this.end(session);
    }
  }
}
