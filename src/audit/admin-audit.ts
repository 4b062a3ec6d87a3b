/**
 * Administrative acts. Each act and its audit row are written in one batch, or neither is. An act that is refused or
 * fails gets a row too. The scope is checked here, so that no verb can omit the check or the row.
 *
 * Invariants: exactly one row for each act; a row that says `done` exists exactly if the change does. Of a caller without the right, only the
 * first acts of a while get a row: any member could otherwise fill the database.
 */
import {
  requireScope,
  requireServerScope,
  type Actor,
  type Scope,
} from '../shared/identity/principal.ts';
import { OWNED_KINDS } from '../shared/identity/record-owner.ts';
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import type { JsonObject } from '../shared/protocol.ts';
import { chain, type AuditEvent } from './audit-schema.ts';
import { findHead, hasEvent, insertEvent, whenNoEvent, type Condition } from './audit-store.ts';
import { markOwner } from './owner-store.ts';

/** An action and its subject. */
export interface Act {
  /** Noun and verb: `server.create`. */
  action: string;
  /** Id of the subject, or what names it until `work` knows the id and sets it. */
  subject: string;
  /** The act concerns single servers, and `work` finds only those that the caller administers; otherwise a token with limits is refused. */
  isOfServers?: true;
}

/** The statements of an act, and the condition for them. */
export interface Change {
  when: Condition;
  statements: readonly D1PreparedStatement[];
  /** Details for the audit row. Never a secret. */
  detail?: JsonObject;
}

/** Writes the change with its row. @returns whether the condition held; if not, nothing was written */
export type Commit = (change: Change) => Promise<boolean>;

/** The condition of an act that is always possible. */
export const ALWAYS: Condition = { sql: '1', params: [] };

/** The shard of administrative acts; simultaneous acts spread over the overflow shards, named `admin-1` and so on. */
export const ADMIN_SHARD = 'admin';
export const OVERFLOW_SHARDS = 31;
/** Verbs after which the subject belongs to the owner that the act is done for. */
const OWNING_VERBS: ReadonlySet<string> = new Set(['create', 'update', 'put']);
const OWNED: ReadonlySet<string> = new Set(OWNED_KINDS);
const MAX_TRIES = 50;
const MAX_WAIT_MS = 40;

/** Most refused acts of one caller that get a row within this time, in milliseconds, and most callers counted; each isolate counts its own. */
const DENIED = { most: 200, withinMs: 600_000, callers: 1_000 };

/** Shortest time between two wakes of the pruning object, in milliseconds. */
const WAKE_GAP_MS = 3_600_000;

export class AdminAudit {
  readonly #db: D1Database;
  readonly #wake: (() => Promise<unknown>) | undefined;
  #wokenAt = Number.NEGATIVE_INFINITY;
  #denied = new Map<string, number>();
  #deniedSince = 0;

  /** @param wake wakes the object that prunes the chains of acts; called from time to time */
  constructor(db: D1Database, wake?: () => Promise<unknown>) {
    this.#db = db;
    this.#wake = wake;
  }

  /**
   * Runs an act for a caller who holds the scope.
   * @param work commits once; the row records an error that it throws before that
   * @throws PorticoError `forbidden`, `rate_limited` where it was refused too often, `busy`, and what `work` throws
   */
  async perform<T>(
    caller: Actor,
    scope: Scope,
    act: Act,
    work: (commit: Commit) => Promise<T>,
  ): Promise<T> {
    let isDone = false;
    let committed: AuditEvent | undefined;
    const place = { shard: ADMIN_SHARD };
    try {
      if (act.isOfServers) requireServerScope(caller, scope);
      else requireScope(caller, scope);
      return await work(async change => {
        const detail = { ...change.detail, ...caller.owner };
        const event = toEvent(caller, act, { outcome: 'done', detail });
        committed = event;
        // Marked before the change, while the condition still tells whether the change will be made.
        const statements = [...this.#own(caller, act, change.when), ...change.statements];
        isDone = await this.#write(event, change.when, statements, place);
        return isDone;
      });
    } catch (thrown) {
      if (!isDone) {
        const { code } = toPorticoError(thrown);
        const outcome = code === 'forbidden' ? 'denied' : 'failed';
        if (outcome === 'denied') this.#countDenied(caller);
        // The change may have been made although no answer came: then its row exists, or takes the place of this one.
        const when = committed ? whenNoEvent(committed.id) : ALWAYS;
        await this.#write(toEvent(caller, act, { outcome, code }), when, [], place);
      }
      throw thrown;
    }
  }

  /** @throws PorticoError `rate_limited` */
  #countDenied({ principalId }: Actor): void {
    const now = Date.now();
    const isOver = now - this.#deniedSince >= DENIED.withinMs;
    if (isOver || this.#denied.size >= DENIED.callers) {
      this.#denied.clear();
      this.#deniedSince = now;
    }
    const count = this.#denied.get(principalId) ?? 0;
    if (count >= DENIED.most) {
      const retryAfterSeconds = Math.ceil((this.#deniedSince + DENIED.withinMs - now) / 1_000);
      throw new PorticoError('rate_limited', 'Refused too often', { retryAfterSeconds });
    }
    this.#denied.set(principalId, count + 1);
  }

  /** Marks a record that is written for an owner as the owner's, if its kind can have one. The database removes the mark with the record. */
  #own({ owner }: Actor, { action, subject }: Act, when: Condition): D1PreparedStatement[] {
    const [kind = '', verb = ''] = action.split('.');
    const isOwned = owner && OWNED.has(kind) && OWNING_VERBS.has(verb);
    return isOwned ? [markOwner(this.#db, kind, subject, owner, when)] : [];
  }

  /** Appends to the head of a chain; if that place is already taken, tries another chain. @param place the chain that was tried last */
  async #write(
    event: AuditEvent,
    when: Condition,
    statements: readonly D1PreparedStatement[],
    place: { shard: string },
  ): Promise<boolean> {
    if (this.#wake && Date.now() - this.#wokenAt > WAKE_GAP_MS) {
      this.#wokenAt = Date.now();
      await this.#wake().catch(() => {});
    }
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const { shard } = place;
      const head = await findHead(this.#db, shard);
      const row = insertEvent(this.#db, await chain(shard, head, event), when);
      try {
        // The condition is evaluated before the statements change what it refers to.
        const [inserted] = await this.#db.batch([row, ...statements]);
        return inserted?.meta.changes !== 0;
      } catch (error) {
        if ((await findHead(this.#db, shard)).seq === head.seq) throw error;
        // The batch may have been made although its answer was lost.
        if (await hasEvent(this.#db, event.id)) return true;
        place.shard = `${ADMIN_SHARD}-${1 + Math.floor(Math.random() * OVERFLOW_SHARDS)}`;
        await scheduler.wait(Math.random() * Math.min(tries, MAX_WAIT_MS));
      }
    }
    throw new PorticoError('busy', 'Too many changes at once; try again');
  }
}

function toEvent(
  caller: Actor,
  { action, subject }: Act,
  { code = null, detail = {}, ...rest }: Pick<AuditEvent, 'outcome'> & Partial<AuditEvent>,
): AuditEvent {
  const { principalId, tokenId } = caller;
  const id = crypto.randomUUID();
  return { id, at: Date.now(), principalId, tokenId, action, subject, code, detail, ...rest };
}
