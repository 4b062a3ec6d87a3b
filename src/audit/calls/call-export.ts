/**
 * Exports ended calls from their object to the database, in chain order. A row first gets its place, durably, and leaves the object only
 * once the database was seen to have exactly that row. So a repetition changes nothing, and nothing is lost in between.
 */
import { chain, type ChainedEvent, type ChainHead } from '../audit-schema.ts';
import { findHashes, insertMissing } from '../audit-store.ts';
import { toChunks } from '../../shared/util/chunks.ts';
import { onEitherSchema } from '../../shared/util/either-schema.ts';
import { addMissing } from '../usage/usage-store.ts';
import { callShard } from './call-schema.ts';
import type { CallStore, EndedCall } from './call-store.ts';
import type { KeptChains } from '../kept-chain-store.ts';

/** Most rows in one write. */
const BATCH = 200;

export interface CallExportParts {
  db: D1Database;
  calls: CallStore;
  chains: KeptChains;
}

const toJsonText = (value: unknown): string => JSON.stringify(JSON.stringify(value));

export class CallExport {
  readonly #parts: CallExportParts;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: CallExportParts) {
    this.#parts = parts;
  }

  /**
   * Exports every call that has ended; runs never overlap.
   * @returns whether there was any
   * @throws Error if the database cannot be written, or has other rows in these places
   */
  run(): Promise<boolean> {
    const running = this.#turn.then(() => this.#exportAll());
    this.#turn = running.catch(() => {});
    return running;
  }

  async #exportAll(): Promise<boolean> {
    const { calls, chains } = this.#parts;
    const { principalId } = chains;
    if (principalId === undefined) return false;
    for (let isAny = false; ; isAny = true) {
      const ended = calls.listEnded(BATCH);
      if (ended.length === 0) return isAny;
      const rows = await this.#placed(principalId, ended);
      let from = 0;
      // The rows of one write are one parameter, in which their details are JSON within JSON.
      for (const { length } of toChunks(rows.map(({ detail }) => toJsonText(detail)))) {
        await this.#write(rows.slice(from, from + length));
        from += length;
      }
    }
  }

  /** Returns the calls as rows; those without a place get one after the head. */
  async #placed(principalId: string, ended: readonly EndedCall[]): Promise<ChainedEvent[]> {
    const { calls, chains } = this.#parts;
    const shard = callShard(principalId);
    let head: ChainHead = chains.find('head');
    const rows: ChainedEvent[] = [];
    const fresh: ChainedEvent[] = [];
    for (const { place, ...call } of ended) {
      const event = { ...call, principalId };
      const row = place ? { ...event, ...place, shard } : await chain(shard, head, event);
      rows.push(row);
      if (place) continue;
      fresh.push(row);
      head = row;
    }
    // One write: nothing is awaited here.
    for (const row of fresh) calls.place(row.id, row);
    if (fresh.length > 0) chains.set('head', head);
    return rows;
  }

  async #write(rows: readonly ChainedEvent[]): Promise<void> {
    const { db, calls, chains } = this.#parts;
    const [first, last] = [rows[0], rows.at(-1)];
    if (!first || !last) return;
    const found = await onEitherSchema(async age => {
      const results = await db.batch([
        ...(age === 'this' ? [addMissing(db, rows)] : []),
        insertMissing(db, rows),
        findHashes(db, last.shard, first.seq, last.seq),
      ]);
      return results.at(-1)?.results ?? [];
    });
    const hashes = new Set(found.map(row => (row as { hash: unknown }).hash));
    if (!rows.every(({ hash }) => hashes.has(hash))) {
      throw new Error(`The database has other rows in places of ${last.shard}`);
    }
    calls.deleteUpTo(last.seq);
    chains.set('exported', last);
  }
}
