/**
 * Administrative acts: each is done together with its audit row, in one batch, or not at all. An act that is refused or
 * fails gets a row too. The scope is checked here, so that no verb can forget it or its row.
 *
 * Invariants: exactly one row for each act; a row that says `done` exists exactly where the change does.
 */
import {
  requireScope,
  requireServerScope,
  type Actor,
  type Scope,
} from '../shared/identity/principal.ts';
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import type { JsonObject } from '../shared/protocol.ts';
import { chain, type AuditEvent } from './audit-schema.ts';
import { findHead, insertEvent, type Condition } from './audit-store.ts';
import { markOwner } from './owner-store.ts';

/** What is done, and to what. */
export interface Act {
  /** Noun and verb: `server.create`. */
  action: string;
  /** Id of what is acted on, or its name where it has none yet. */
  subject: string;
  /** It concerns single servers, and finds only those that the caller administers; else a token with limits is refused. */
  isOfServers?: true;
}

/** Statements that belong to an act, and what must be true for it. */
export interface Change {
  when: Condition;
  statements: readonly D1PreparedStatement[];
  /** What the row tells of it. Never a secret. */
  detail?: JsonObject;
}

/** Makes the change with its row. @returns whether the condition held; nothing was written where it did not */
export type Commit = (change: Change) => Promise<boolean>;

/** The condition of an act that is always possible. */
export const ALWAYS: Condition = { sql: '1', params: [] };

/** The shard of administrative acts; acts at the same time spread over the overflow shards, named `admin-1` and so on. */
export const ADMIN_SHARD = 'admin';
export const OVERFLOW_SHARDS = 31;
/** Verbs whose subject is a record that belongs to the owner they are done for. */
const OWNING_VERBS: ReadonlySet<string> = new Set(['create', 'update', 'put']);
const MAX_TRIES = 50;
const MAX_WAIT_MS = 40;

/** Told of acts this often at most, in milliseconds. */
const WAKE_GAP_MS = 3_600_000;

export class AdminAudit {
  readonly #db: D1Database;
  readonly #wake: (() => Promise<unknown>) | undefined;
  #wokenAt = Number.NEGATIVE_INFINITY;

  /** @param wake wakes who prunes the chains of acts; called now and then */
  constructor(db: D1Database, wake?: () => Promise<unknown>) {
    this.#db = db;
    this.#wake = wake;
  }

  /**
   * Do an act for a caller who holds the scope.
   * @param work commits once; what it throws before that is told by the row
   * @throws PorticoError `forbidden`, `busy`, and what `work` throws
   */
  async perform<T>(
    caller: Actor,
    scope: Scope,
    act: Act,
    work: (commit: Commit) => Promise<T>,
  ): Promise<T> {
    let isDone = false;
    try {
      if (act.isOfServers) requireServerScope(caller, scope);
      else requireScope(caller, scope);
      return await work(async change => {
        const detail = { ...change.detail, ...caller.owner };
        const event = toEvent(caller, act, { outcome: 'done', detail });
        // Before the change, while its condition still says whether it is made.
        const statements = [...this.#own(caller, act, change.when), ...change.statements];
        isDone = await this.#write(event, change.when, statements);
        return isDone;
      });
    } catch (thrown) {
      if (!isDone) {
        const { code } = toPorticoError(thrown);
        const outcome = code === 'forbidden' ? 'denied' : 'failed';
        await this.#write(toEvent(caller, act, { outcome, code }), ALWAYS, []);
      }
      throw thrown;
    }
  }

  /** A record that is written for an owner is its own. The database forgets it with the record. */
  #own({ owner }: Actor, { action, subject }: Act, when: Condition): D1PreparedStatement[] {
    const [kind = '', verb = ''] = action.split('.');
    const isOwned = owner && OWNING_VERBS.has(verb);
    return isOwned ? [markOwner(this.#db, kind, subject, owner, when)] : [];
  }

  /** Write behind the head of a chain; who finds the place taken looks for another chain. */
  async #write(
    event: AuditEvent,
    when: Condition,
    statements: readonly D1PreparedStatement[],
  ): Promise<boolean> {
    if (this.#wake && Date.now() - this.#wokenAt > WAKE_GAP_MS) {
      this.#wokenAt = Date.now();
      await this.#wake().catch(() => {});
    }
    let shard = ADMIN_SHARD;
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const head = await findHead(this.#db, shard);
      const row = insertEvent(this.#db, await chain(shard, head, event), when);
      try {
        // The condition is judged before the statements change what it is about.
        const [inserted] = await this.#db.batch([row, ...statements]);
        return inserted?.meta.changes !== 0;
      } catch (error) {
        if ((await findHead(this.#db, shard)).seq === head.seq) throw error;
        shard = `${ADMIN_SHARD}-${1 + Math.floor(Math.random() * OVERFLOW_SHARDS)}`;
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
