/**
 * The chain of chunks, as its object makes it: every few minutes it writes a seal over the chunks that came since the previous one. The
 * object keeps its state outside of the database, so someone who rewrites the database cannot change it.
 *
 * Invariants: a seal is kept here before it is written to the database; a chunk is sealed only once no other chunk can come before it.
 */
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { firstIdAt } from '../../shared/util/time-id.ts';
import { ALWAYS, type AdminAudit } from '../admin-audit.ts';
import { findEnds } from '../audit-list-store.ts';
import { CALLS_SHARD } from '../audit-schema.ts';
import { RETENTION } from '../pruning.ts';
import { addUpPart } from '../usage/usage-roll-up.ts';
import { listSealable, WRITABLE_MS } from './chunk-store.ts';
import { KeptSealStore } from './kept-seal-store.ts';
import { deleteChunks, insertSeal, listSeals, notePrunedSeal, type Seal } from './seal-store.ts';

export interface CallChainParts {
  db: D1Database;
  sql: SqlStorage;
  adminAudit: AdminAudit;
}

/** What the object knows of the chain. */
export interface KeptSeals {
  /** The last seal. */
  sealed: Seal;
  /** The last seal whose chunks were deleted because of their age. */
  pruned: Seal;
}

/** Most chunks under one seal. */
const BATCH = 2_000;
/** Most seals whose chunks are deleted at once. */
const SEALS_AT_ONCE = 20;
/** Most parts that are added up in one run. */
const MAX_PARTS = 40;
/** Chunks are sealed from this age on, in milliseconds: rather late than too early, as clocks may differ; see `WRITABLE_MS`. */
const MARGIN_MS = 2 * WRITABLE_MS;

/** A part that is being added up: its upper bound of chunk ids, and whether more may be left up to there. */
interface Adding {
  upTo: string;
  isMore: Promise<boolean>;
}

export class CallChain {
  readonly #parts: Omit<CallChainParts, 'sql'>;
  readonly #kept: KeptSealStore;
  #turn: Promise<unknown> = Promise.resolve();
  #adding: Adding | undefined;

  constructor({ sql, ...parts }: CallChainParts) {
    this.#parts = parts;
    this.#kept = new KeptSealStore(sql);
  }

  get kept(): KeptSeals {
    return { sealed: this.#kept.find('sealed'), pruned: this.#kept.find('pruned') };
  }

  /**
   * Seals what can be sealed, one seal after the other, since two at once would continue from the same seal.
   * @param forMs begins another seal only within this time
   * @returns whether there may be more
   * @throws Error if the database cannot be read or written
   */
  async seal(forMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const until = Date.now() + forMs;
    for (;;) {
      const sealing = this.#turn.then(() => this.#sealNext());
      this.#turn = sealing.catch(() => {});
      if (!(await sealing)) return false;
      if (Date.now() >= until) return true;
    }
  }

  /**
   * Adds up the sealed calls by day, part by part. A caller that comes while a part is being added up waits for it first, since two at once
   * would add up the same part.
   * @param forMs begins another part only within this time
   * @returns whether there may be more
   */
  async addUp(forMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const until = Date.now() + forMs;
    const { chunkId } = this.#kept.find('sealed');
    for (let parts = 0; parts < MAX_PARTS; parts += 1) {
      const { upTo, isMore } = (this.#adding ??= this.#addNext(chunkId));
      if (!(await isMore) && upTo >= chunkId) return false;
      if (Date.now() >= until) return true;
    }
    return true;
  }

  #addNext(upTo: string): Adding {
    const isMore = addUpPart(this.#parts.db, upTo).finally(() => (this.#adding = undefined));
    return { upTo, isMore };
  }

  /** @returns whether there may be more */
  async #sealNext(): Promise<boolean> {
    const { db } = this.#parts;
    const before = this.#kept.find('sealed');
    // The last run may have been cut off before the database had this seal.
    if (before.seq > 0) await insertSeal(db, before).run();
    const chunks = await listSealable(db, before.chunkId, BATCH, MARGIN_MS);
    const last = chunks.at(-1);
    if (!last) return false;
    const seq = before.seq + chunks.length;
    const hash = await sealHash(before.hash, chunks);
    const seal = { seq, chunkId: last.id, hash };
    this.#kept.keep('sealed', seal);
    await insertSeal(db, seal).run();
    return chunks.length === BATCH;
  }

  /**
   * Deletes chunks whose calls are all older than a time, and records that in a row.
   * @returns whether there may be more
   */
  async prune(before: number): Promise<boolean> {
    const { db, adminAudit } = this.#parts;
    // The object may have kept a seal whose deletion then failed, so the database says how far it went.
    const { pruned: last } = await findEnds(db, CALLS_SHARD);
    const next = await listSeals(db, last.seq, SEALS_AT_ONCE);
    const old = next.filter(({ chunkId }) => chunkId < firstIdAt(before));
    const seal = old.at(-1);
    if (!seal) return false;
    if (seal.seq > this.#kept.find('pruned').seq) this.#kept.keep('pruned', seal);
    const detail = {
      chunks: seal.seq - last.seq,
      up_to: seal.seq,
      hash: seal.hash,
      before: new Date(before).toISOString(),
    };
    const statements = [...notePrunedSeal(db, CALLS_SHARD, seal), ...deleteChunks(db, seal)];
    const act = { action: 'audit.prune', subject: CALLS_SHARD };
    await adminAudit.perform(RETENTION, 'admin', act, commit =>
      commit({ when: ALWAYS, statements, detail }),
    );
    return old.length === SEALS_AT_ONCE;
  }
}

/** Returns the hash of a seal: over the previous seal's hash and the chunks since, in their order. */
export const sealHash = (
  previousHash: string,
  chunks: readonly { id: string; hash: string }[],
): Promise<string> =>
  sha256Hex(JSON.stringify([previousHash, ...chunks.map(({ id, hash }) => [id, hash])]));
