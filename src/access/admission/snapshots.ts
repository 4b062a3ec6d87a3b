/**
 * The state that a request is decided on: the caller's token, the registry and, in the legacy era, the session. It is read from D1 in at
 * most one batch and remembered in the isolate: token and registry for at most `maxAgeMs`, so that a revocation takes effect within that
 * time; a session somewhat longer, since its token is checked anyway. Under load, one request renews a snapshot in the background before it
 * gets too old, and none waits.
 *
 * Invariants: age counts from before the read was sent; nothing older than its limit is used; no promise of one request is awaited by
 * another.
 */
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import { toCaller, type Caller } from '../policy/caller.ts';
import { Lru } from '../../shared/util/lru.ts';
import { onEitherSchema, type SchemaAge } from '../../shared/util/either-schema.ts';
import { Turns } from '../../shared/util/turns.ts';
import { withAccounts } from '../../servers/registry/own-account.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { parseSessions, selectSessions, type Session } from './session-store.ts';
import { WantedSessions } from './wanted-sessions.ts';
import { SETUP_TOKEN, isTokenForm, type Token } from '../../shared/identity/principal.ts';
import type { AccessState } from '../policy/policy.ts';
import type { DefaultAccess } from '../policy/rule.ts';
import { selectSignedIn } from '../policy/signed-in-store.ts';
import {
  moveToken,
  parseToken,
  selectTokenByHmac,
  TOUCH_MS,
  touchToken,
} from '../policy/token-store.ts';
import {
  changedRegistry,
  selectRegistry,
  selectRegistryChanges,
  toRegistry,
  type Registry,
} from './registry.ts';

export interface Snapshot {
  caller: Caller;
  servers: readonly Server[];
  /** What the caller's decisions depend on beside its token. */
  access: AccessState;
  /** The requested session; undefined where none was requested or it is unknown. */
  session?: Session;
}

export interface SnapshotsOptions {
  db: D1Database;
  keys: KeyRing;
  adminToken?: string | undefined;
  defaultAccess: DefaultAccess;
  maxAgeMs: number;
}

/** A remembered value with the time its read was sent. */
interface Held<T> {
  value: T;
  loadedAt: number;
  renewingSince: number;
}

/** What has to be read. */
interface Wanted {
  token?: string | undefined;
  sessionId?: string | undefined;
}

/** How long a background renewal may take before another request starts one, in milliseconds. */
const RENEWAL_MS = 250;
/** Largest age of a session row that a request is decided on, in milliseconds. */
const SESSION_MAX_AGE_MS = 10_000;
const MAX_REMEMBERED = 10_000;
/** The clocks of two requests differ by less, in milliseconds. */
const SET_BACK_MS = 1_000;
/** Most database reads at the same time, and how long each may take, in milliseconds. */
const READS_AT_ONCE = 4;
const READ_MS = 1_000;
/** One read mostly serves all that wait, so a waiter far back in the queue also polls after a part of its pause; in milliseconds. */
const POLL_MS = { first: 10, part: 0.2 };

const held = <T>(value: T, loadedAt: number): Held<T> => ({ value, loadedAt, renewingSince: 0 });

export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #tokens = new Lru<string, Held<Token>>(MAX_REMEMBERED);
  readonly #callers = new WeakMap<AccessState, WeakMap<Token, Caller>>();
  readonly #sessions = new Lru<string, Held<Session | undefined>>(MAX_REMEMBERED);
  /** Sessions that queued requests wait for. */
  readonly #wanted = new WantedSessions(READ_MS);
  readonly #reads = new Turns(READS_AT_ONCE, READ_MS);
  #registry: Held<Registry> | undefined;
  /** Counts the changes made here: a read that was sent before one is already too old. */
  #changes = 0;
  /** Counts the sessions forgotten here, in the same way, and says for each which of them it was. */
  #forgotten = 0;
  readonly #forgottenAs = new Lru<string, number>(MAX_REMEMBERED);

  constructor(options: SnapshotsOptions) {
    this.#options = options;
  }

  /** The registry was just changed here. */
  forgetServers(): void {
    this.#changes += 1;
    if (this.#registry) this.#registry.loadedAt = -Infinity;
  }

  /** A token was just revoked here. */
  forgetTokens(): void {
    this.#changes += 1;
    this.#tokens.clear();
  }

  /** Reads the registry now, for work without a token. */
  async registry(): Promise<Registry> {
    const { db, defaultAccess } = this.#options;
    return toRegistry(await wholeOf(db), defaultAccess);
  }

  /** Remembers a session just opened here, so that its first request need not look it up. */
  holdSession(session: Session): void {
    this.#sessions.set(session.id, held(session, session.createdAt));
  }

  /** Forgets a session just ended here. */
  forgetSession(id: string): void {
    this.#forgotten += 1;
    this.#forgottenAs.set(id, this.#forgotten);
    this.#sessions.delete(id);
  }

  /**
   * Returns the snapshot for one request, or undefined where the token is not valid.
   * @param token text of token form, or the value of the cookie of a browser in which somebody is signed in
   * @param sessionId id of a legacy session (opened, not sealed)
   * @param maxAgeMs largest age of policy and registry to decide on, where that is less than usual
   * @param sessionAgeMs largest age of the session's row to decide on
   */
  async load(
    token: string,
    sessionId: string | undefined,
    waitUntil: WaitUntil,
    maxAgeMs = this.#options.maxAgeMs,
    sessionAgeMs = SESSION_MAX_AGE_MS,
  ): Promise<Snapshot | undefined> {
    const now = Date.now();
    const missing = (): Wanted => ({
      token: this.#policyAge(token, now) <= maxAgeMs ? undefined : token,
      sessionId: this.#sessionAge(sessionId, now) <= sessionAgeMs ? undefined : sessionId,
    });
    if (isWanted(missing())) {
      await this.#readInTurn(missing, waitUntil);
    } else if (
      this.#policyAge(token, now) > maxAgeMs / 2 &&
      mayRenew(this.#tokens.get(token), now)
    ) {
      waitUntil(this.#read({ token }, now, waitUntil));
    }
    return this.#take(token, sessionId);
  }

  /**
   * Reads what is missing. Of many requests at once a few read, together with the sessions that all of them need; each takes what others
   * have read meanwhile.
   */
  async #readInTurn(missing: () => Wanted, waitUntil: WaitUntil): Promise<void> {
    const turn = this.#reads.join();
    const until = Date.now() + READ_MS;
    const { sessionId } = missing();
    const mustWait = () => this.#wanted.want(sessionId) || !turn.isUp();
    try {
      while (mustWait() && Date.now() < until) {
        await after(Math.min(turn.pauseMs, POLL_MS.first + POLL_MS.part * turn.pauseMs));
        if (!isWanted(missing())) return;
      }
      await this.#read(missing(), Date.now(), waitUntil);
    } finally {
      turn.leave();
    }
  }

  #policyAge(token: string, now: number): number {
    return Math.max(ageOf(this.#tokens.get(token), now), ageOf(this.#registry, now));
  }

  #sessionAge(sessionId: string | undefined, now: number): number {
    return sessionId === undefined ? 0 : ageOf(this.#sessions.get(sessionId), now);
  }

  #take(token: string, sessionId: string | undefined): Snapshot | undefined {
    const known = this.#tokens.get(token)?.value;
    const registry = this.#registry?.value;
    if (!known || !registry || (known.expiresAt ?? Infinity) <= Date.now()) return undefined;
    const { access, hasAccounts } = registry;
    const servers = hasAccounts ? withAccounts(registry.servers, known.accounts) : registry.servers;
    const caller = this.#callerOf(known, access);
    const session = sessionId === undefined ? undefined : this.#sessions.get(sessionId)?.value;
    const snapshot = { caller, servers, access };
    return session ? { ...snapshot, session } : snapshot;
  }

  /** Returns the caller of a token under the given access state: the same object for the same token and state. */
  #callerOf(token: Token, access: AccessState): Caller {
    let callers = this.#callers.get(access);
    if (!callers) this.#callers.set(access, (callers = new WeakMap()));
    let caller = callers.get(token);
    if (!caller) callers.set(token, (caller = toCaller(token, access)));
    return caller;
  }

  /** Reads what is wanted in one batch; of the registry only what changed. */
  async #read({ token, sessionId }: Wanted, now: number, waitUntil: WaitUntil): Promise<void> {
    const { db, keys, defaultAccess } = this.#options;
    const [changes, forgotten] = [this.#changes, this.#forgotten];
    const before = this.#registry?.value;
    const isSignIn = token !== undefined && !isTokenForm(token);
    const hmacs =
      token === undefined ? [] : await keys.hmacs(isSignIn ? 'sign-in' : 'token', token);
    const registry = (age: SchemaAge) =>
      before ? selectRegistryChanges(db, before) : selectRegistry(db, age);
    const ids = sessionId === undefined ? [] : this.#wanted.take(sessionId);
    const session = ids.length === 0 ? [] : [selectSessions(db, ids)];
    const policy = (age: SchemaAge) =>
      token === undefined
        ? []
        : [(isSignIn ? selectSignedIn : selectTokenByHmac)(db, hmacs, now, age), ...registry(age)];
    const reading = onEitherSchema(age => rowsOf(db, [...policy(age), ...session]));
    const rows = await reading.finally(() => this.#wanted.leave(ids));
    if (ids.length > 0) {
      const found = new Map(parseSessions(rows.pop() ?? []).map(known => [known.id, known]));
      for (const id of ids) {
        const isStale = (this.#forgottenAs.get(id) ?? 0) > forgotten;
        this.#sessions.set(id, held(found.get(id), isStale ? -Infinity : now));
      }
    }
    if (token === undefined) return;
    const [tokens = [], ...read] = rows;
    const after = before ? changedRegistry(before, read) : toRegistry(read, defaultAccess);
    const whole = after ?? toRegistry(await wholeOf(db), defaultAccess);
    const loadedAt = changes === this.#changes ? now : -Infinity;
    this.#holdRegistry(whole, loadedAt);
    const isAdmin = !isSignIn && (await this.#isAdmin(hmacs));
    const found = isAdmin ? SETUP_TOKEN : parseToken(tokens);
    const move = isSignIn ? undefined : moveToken(db, tokens, hmacs[0] ?? '', keys.active);
    if (move) waitUntil(move.run());
    this.#hold(token, found, { now, loadedAt }, waitUntil);
  }

  /** Of two reads, the one that was sent later wins, unless the clock was set back after it. */
  #holdRegistry(registry: Registry, loadedAt: number): void {
    if (this.#registry && this.#registry.loadedAt > loadedAt && !isAhead(this.#registry)) return;
    this.#registry = held(registry, loadedAt);
  }

  #hold(
    value: string,
    token: Token | undefined,
    { now, loadedAt }: { now: number; loadedAt: number },
    waitUntil: WaitUntil,
  ): void {
    if (!token) return void this.#tokens.delete(value);
    const before = this.#tokens.get(value)?.value;
    const isSame = before && JSON.stringify(before) === JSON.stringify(token);
    this.#tokens.set(value, held(isSame ? before : token, loadedAt));
    const isTouched = token !== SETUP_TOKEN && isTokenForm(value);
    if (!isTouched || now - (token.lastUsedAt ?? 0) < TOUCH_MS) return;
    waitUntil(touchToken(this.#options.db, token, now).run());
  }

  async #isAdmin(hmacs: readonly string[]): Promise<boolean> {
    const { keys, adminToken } = this.#options;
    return adminToken !== undefined && (await keys.hmacs('token', adminToken))[0] === hmacs[0];
  }
}

async function rowsOf(db: D1Database, statements: D1PreparedStatement[]): Promise<unknown[][]> {
  return (await db.batch(statements)).map(({ results }) => results);
}

/** The rows of the whole registry. */
const wholeOf = (db: D1Database): Promise<unknown[][]> =>
  onEitherSchema(age => rowsOf(db, selectRegistry(db, age)));

/** Whether the clock was set back after the read, so that nothing is known of its age. */
const isAhead = ({ loadedAt }: Held<unknown>) => loadedAt > Date.now() + SET_BACK_MS;

const ageOf = (entry: Held<unknown> | undefined, now: number): number =>
  entry === undefined || isAhead(entry) ? Infinity : now - entry.loadedAt;

const isWanted = ({ token, sessionId }: Wanted) => token !== undefined || sessionId !== undefined;

const after = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms));

/** Whether this request shall renew the entry; if so, notes that. */
function mayRenew(entry: Held<unknown> | undefined, now: number): boolean {
  if (!entry || now - entry.renewingSince <= RENEWAL_MS) return false;
  entry.renewingSince = now;
  return true;
}
