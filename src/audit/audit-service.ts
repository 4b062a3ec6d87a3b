/**
 * Searches and exports the audit: callers who do not administer the whole deployment get only their own rows.
 * Administrators can also verify that nobody changed it. Only reads.
 */
import { type Actor, administersAll, requireScope } from '../shared/identity/principal.ts';
import { fieldProblem } from '../shared/errors/field-problems.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { toListPage, type ListPage } from '../shared/util/page.ts';
import {
  findEnds,
  findPosition,
  listEvents,
  listShards,
  type ChainEnds,
  type ShardEnds,
} from './audit-list-store.ts';
import { countAudit, type AuditCounts } from './audit-counts.ts';
import type { CountSpan } from './audit-count-store.ts';
import { toFilter, withNames, type AuditQuery, type NamedEvent } from './audit-names.ts';
import {
  CALLS_SHARD,
  type AuditOrder,
  type AuditPosition,
  type ChainHead,
  type OwnRows,
  type PlacedEvent,
} from './audit-schema.ts';
import { listChain } from './audit-store.ts';
import { findOwnRows, isOwnCall } from './own-rows-store.ts';
import { isCallShard, type KeptChain } from './calls/call-schema.ts';
import { findBrokenEnd, walk } from './chain-check.ts';
import type { KeptSeals } from './chunks/call-chain.ts';
import { checkChunks } from './chunks/check-chunks.ts';
import { compare, findCall, positionOf, readCalls } from './chunks/read-calls.ts';

/** Result of checking a part of a chain. */
export interface Verification {
  /** Number of rows checked. In the shard `calls` all numbers count chunks. */
  rows: number;
  isIntact: boolean;
  /** Number of the first row that is missing or changed. */
  firstBrokenSeq?: number;
  /** Where the next check continues; absent at the end. */
  nextFrom?: number;
  /** The current head of the shard. */
  head: ChainHead;
  /** The last row that was deleted because of its age. */
  pruned: ChainHead;
}

/** The scope for reading audit rows: every caller who may use tools has it. */
export const AUDIT_SCOPE = 'tools:read';
/** Rows read at once. */
const CHUNK = 500;
/** Most checks of one verification: rows may be pruned again while it is repeated. */
const MAX_CHECKS = 5;

export class AuditService {
  readonly #db: D1Database;
  readonly #kept: (shard: string) => Promise<KeptChain>;
  readonly #keptCalls: () => Promise<KeptSeals>;

  /**
   * @param kept returns what the object of a principal's calls knows of their chain
   * @param keptCalls returns what the object of all chunks knows of their chain
   */
  constructor(
    db: D1Database,
    kept: (shard: string) => Promise<KeptChain>,
    keptCalls: () => Promise<KeptSeals>,
  ) {
    this.#db = db;
    this.#kept = kept;
    this.#keptCalls = keptCalls;
  }

  /** Returns one page of the events, with names. Where much has to be read it is not full, and others follow all the same. */
  async list(
    caller: Actor,
    query: AuditQuery,
    order: AuditOrder,
    limit: number,
    after?: AuditPosition,
  ): Promise<ListPage<NamedEvent>> {
    const own = await this.#ownRows(caller);
    const filter = await toFilter(this.#db, query, own);
    const [rows, { calls, readTo }] = await Promise.all([
      listEvents(this.#db, filter, order, limit + 1, after),
      readCalls(this.#db, filter, order, limit + 1, after),
    ]);
    const all: PlacedEvent[] = [...rows, ...calls];
    const sorted = all.toSorted((a, b) => compare(order, positionOf(a), positionOf(b)));
    // What comes after calls that were not read is for a later page too.
    const read = readTo
      ? sorted.filter(row => compare(order, positionOf(row), readTo) < 0)
      : sorted;
    const { items, next = readTo } = toListPage(read, limit, positionOf);
    return { items: await withNames(this.#db, items, own), ...(next ? { next } : {}) };
  }

  /** Counts the events by time and outcome. */
  async counts(caller: Actor, query: AuditQuery, span: CountSpan): Promise<AuditCounts> {
    const own = await this.#ownRows(caller);
    return countAudit(this.#db, await toFilter(this.#db, query, own), span);
  }

  /** Returns the rows that a caller is restricted to; undefined: all. @throws PorticoError `forbidden` */
  async #ownRows(caller: Actor): Promise<OwnRows | undefined> {
    requireScope(caller, AUDIT_SCOPE);
    return administersAll(caller) ? undefined : findOwnRows(this.#db, caller);
  }

  /** Returns the position of a row among all. @throws PorticoError `not_found` */
  async positionOf(caller: Actor, id: string): Promise<AuditPosition> {
    const own = await this.#ownRows(caller);
    const call = await findCall(this.#db, id);
    const isTheirs = call !== undefined && (own === undefined || isOwnCall(own, call));
    const position = isTheirs ? positionOf(call) : await findPosition(this.#db, id, { own });
    if (!position) throw new PorticoError('not_found', 'There is no row with this id');
    return position;
  }

  /** Returns the shards, and where their chains begin and end. */
  async shards(caller: Actor, limit: number, after?: string): Promise<ListPage<ShardEnds>> {
    requireScope(caller, 'admin');
    return listShards(this.#db, limit, after);
  }

  /**
   * Checks a shard's chain as it is at this moment. A chain of calls is also compared with what its object knows.
   * @param from number of the first row to check; the row before it is trusted
   * @param limit most rows to check
   */
  async verify(caller: Actor, shard: string, from: number, limit: number): Promise<Verification> {
    requireScope(caller, 'admin');
    let found = await this.#check(shard, from, limit);
    // To a check that runs meanwhile, rows that are deleted because of their age are missing.
    for (let checks = 1; !found.isIntact && checks < MAX_CHECKS; checks += 1) {
      const { seq } = found.pruned;
      found = await this.#check(shard, from, limit);
      if (found.pruned.seq === seq) break;
    }
    return found;
  }

  async #check(shard: string, from: number, limit: number): Promise<Verification> {
    if (shard === CALLS_SHARD) return this.#verifyCalls(from, limit);
    const kept = isCallShard(shard) ? await this.#kept(shard) : undefined;
    const ends = await findEnds(this.#db, shard);
    const { head, lastSeq, pruned } = ends;
    if (from > Math.max(head.seq, lastSeq, kept?.exported.seq ?? 0) + 1) {
      throw fieldProblem('from', `is beyond the end of the chain, which is ${head.seq}`);
    }
    const first = Math.max(from, pruned.seq + 1);
    const broken = (rows: number, seq: number): Verification => {
      return { rows, isIntact: false, firstBrokenSeq: seq, head, pruned };
    };
    // More was deleted than the object decided to delete.
    if (kept && pruned.seq > kept.pruned.seq) return broken(0, kept.pruned.seq + 1);
    const start = await this.#headBefore(shard, first, pruned);
    if (!start) return broken(0, first - 1);
    const last = Math.min(head.seq, first + limit - 1);
    let at = start;
    while (at.seq < last) {
      const wanted = Math.min(CHUNK, last - at.seq);
      const rows = await listChain(this.#db, shard, at.seq + 1, wanted);
      const walked = await walk(at, rows);
      if ('brokenSeq' in walked) return broken(walked.brokenSeq - first, walked.brokenSeq);
      if (rows.length < wanted) return broken(walked.head.seq + 1 - first, walked.head.seq + 1);
      at = walked.head;
    }
    const rows = at.seq + 1 - first;
    if (at.seq < head.seq) return { rows, isIntact: true, nextFrom: at.seq + 1, head, pruned };
    const end = await this.#brokenEnd(shard, at, ends, kept);
    return end === undefined ? { rows, isIntact: true, head, pruned } : broken(rows, end);
  }

  async #verifyCalls(from: number, limit: number): Promise<Verification> {
    const kept = await this.#keptCalls();
    const check = await checkChunks(this.#db, kept, from, limit);
    const { chunks, brokenSeq, nextFrom, head } = check;
    return {
      rows: chunks,
      isIntact: brokenSeq === undefined,
      ...(brokenSeq === undefined ? {} : { firstBrokenSeq: brokenSeq }),
      ...(nextFrom === undefined ? {} : { nextFrom }),
      head,
      pruned: kept.pruned,
    };
  }

  /** Returns the number of the first broken row at the end of a chain that was walked to its head. */
  async #brokenEnd(
    shard: string,
    walked: ChainHead,
    { head, lastSeq }: ChainEnds,
    kept: KeptChain | undefined,
  ): Promise<number | undefined> {
    if (lastSeq > head.seq) return head.seq + 1;
    const end = findBrokenEnd(walked, head);
    if (end !== undefined || !kept) return end;
    const { exported } = kept;
    if (head.seq < exported.seq) return head.seq + 1;
    if (exported.seq > kept.pruned.seq) {
      const [row] = await listChain(this.#db, shard, exported.seq, 1);
      if (row?.hash !== exported.hash) return exported.seq;
    }
    // Calls may have ended since the object was first asked.
    const now = head.seq > exported.seq ? await this.#kept(shard) : kept;
    return head.seq > now.exported.seq ? now.exported.seq + 1 : undefined;
  }

  /** Returns the row before `from`, on which a check builds, or undefined if it is missing. */
  async #headBefore(
    shard: string,
    from: number,
    pruned: ChainHead,
  ): Promise<ChainHead | undefined> {
    if (from === pruned.seq + 1) return pruned;
    const [row] = await listChain(this.#db, shard, from - 1, 1);
    return row?.seq === from - 1 ? { seq: row.seq, hash: row.hash } : undefined;
  }
}
