/**
 * The sessions that clients have with one run of a legacy child. The child knows of one client only; what differs between
 * clients is kept here. Bounded in number and in idle time; they all end with the run.
 */
import { randomBytes } from 'node:crypto';
import type { JsonObject, LogLevel } from '../../../src/shared/protocol.ts';
import type { EventStream } from './event-stream.ts';
import type { Limits } from './limits.ts';

export interface Session {
  id: string;
  /** What its client declared. */
  capabilities: JsonObject;
  /** The notification stream, while it is open. */
  stream?: EventStream | undefined;
  /** Resources whose updates it wants. */
  uris: Set<string>;
  logLevel?: LogLevel;
  /** Elicitations by URL that it was asked for. */
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
  /** The one used longest ago first. */
  readonly #sessions = new Map<string, Session>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** @returns undefined where there are too many, and all of them busy */
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

  /** @returns undefined where there is none, or none any more */
  find(id: string, now: number): Session | undefined {
    this.#endIdle(now);
    const session = this.#sessions.get(id);
    if (!session) return undefined;
    session.usedAt = now;
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  /** The session, which is not used by that. */
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

  /** They are in the order of their use, so that the first one that is young ends the search. */
  #endIdle(now: number): void {
    for (const session of this.#sessions.values()) {
      if (now - session.usedAt < this.#options.limits.idleMs) return;
      if (this.#isBusy(session)) session.usedAt = now;
      else this.end(session);
    }
  }
}
