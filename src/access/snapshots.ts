/**
 * What a request is decided on: the caller's token, the registry and, in the legacy era, the
 * session. Read from D1 in one batch at most and remembered in the isolate for at most
 * `maxAgeMs`, so a revocation bites within that time. Under load a snapshot is renewed by one
 * request in the background before it gets too old, and nobody waits.
 *
 * Invariants: age counts from before the read was sent; nothing older than `maxAgeMs` is used;
 * no promise of one request is awaited by another.
 */
import { Lru } from '../lib/lru.ts';
import { parseServers, selectServers } from '../registry/server-store.ts';
import type { Server } from '../registry/server-schema.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { parseSession, selectSession, type Session } from '../session/session-store.ts';
import { SETUP_ADMIN, toCaller, type Caller } from './principal.ts';
import { parseToken, selectTokenByHmac } from './token-store.ts';

/** A remembered value with its age. */
interface Held<T> {
  value: T;
  loadedAt: number;
  refreshingSince: number;
}

export interface Snapshot {
  caller: Caller;
  servers: readonly Server[];
  /** The session asked for; undefined where none was asked for or it is unknown. */
  session?: Session;
}

/** Runs work that outlives the response (`ctx.waitUntil`). */
export type Defer = (work: Promise<unknown>) => void;

export interface SnapshotsOptions {
  db: D1Database;
  keys: KeyRing;
  adminToken?: string | undefined;
  maxAgeMs: number;
}

/** How long a background renewal may take before another request tries. */
const RENEWAL_MS = 250;
const MAX_TOKENS = 10_000;

export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #tokens = new Lru<string, Held<Caller>>(MAX_TOKENS);
  readonly #sessions = new Lru<string, Held<Session | null>>(MAX_TOKENS);
  #servers: Held<readonly Server[]> | undefined;

  constructor(options: SnapshotsOptions) {
    this.#options = options;
  }

  /** The registry was just changed here. */
  forgetServers(): void {
    this.#servers = undefined;
  }

  /** A token was just revoked here. */
  forgetTokens(): void {
    this.#tokens.clear();
  }

  /** Drop a session that was just ended or changed here. */
  forgetSession(id: string): void {
    this.#sessions.delete(id);
  }

  /**
   * The snapshot for one request, or undefined where the token stands for nobody.
   * @param token text of token form
   * @param sessionId id of a legacy session (opened, not sealed)
   */
  async load(token: string, sessionId: string | undefined, defer: Defer) {
    const now = Date.now();
    const caller = this.#tokens.get(token);
    const session = sessionId === undefined ? undefined : this.#sessions.get(sessionId);
    const held = [caller, this.#servers, ...(sessionId === undefined ? [] : [session])];
    const { maxAgeMs } = this.#options;
    if (held.every(entry => entry !== undefined && now - entry.loadedAt <= maxAgeMs)) {
      this.#renewBeforeTooOld(held as Held<unknown>[], token, sessionId, now, defer);
      return this.#take(token, sessionId);
    }
    await this.#read(token, sessionId, now);
    return this.#take(token, sessionId);
  }

  #take(token: string, sessionId: string | undefined): Snapshot | undefined {
    const caller = this.#tokens.get(token);
    if (!caller || !this.#servers) return undefined;
    const session = sessionId === undefined ? undefined : this.#sessions.get(sessionId)?.value;
    return { caller: caller.value, servers: this.#servers.value, ...(session ? { session } : {}) };
  }

  #renewBeforeTooOld(
    held: Held<unknown>[],
    token: string,
    sessionId: string | undefined,
    now: number,
    defer: Defer,
  ): void {
    const half = this.#options.maxAgeMs / 2;
    const due = held.some(
      entry => now - entry.loadedAt > half && now - entry.refreshingSince > RENEWAL_MS,
    );
    if (!due) return;
    for (const entry of held) entry.refreshingSince = now;
    defer(this.#read(token, sessionId, now));
  }

  /** One D1 batch for all that a request needs. */
  async #read(token: string, sessionId: string | undefined, now: number): Promise<void> {
    const { db, keys, adminToken } = this.#options;
    const hmacs = await keys.hmacs('token', token);
    const isAdmin =
      adminToken !== undefined && (await keys.hmacs('token', adminToken))[0] === hmacs[0];
    const statements = [selectServers(db), selectTokenByHmac(db, hmacs)];
    if (sessionId !== undefined) statements.push(selectSession(db, sessionId));
    const [servers, tokens, sessions] = await db.batch(statements);
    const found = parseToken(tokens?.results ?? []);
    const caller = isAdmin ? SETUP_ADMIN : found && toCaller(found);
    const fresh = { loadedAt: now, refreshingSince: 0 };
    this.#servers = { value: parseServers(servers?.results ?? []), ...fresh };
    if (caller) this.#tokens.set(token, { value: caller, ...fresh });
    else this.#tokens.delete(token);
    if (sessionId !== undefined) {
      const session = parseSession(sessions?.results ?? []) ?? null;
      this.#sessions.set(sessionId, { value: session, ...fresh });
    }
  }
}
