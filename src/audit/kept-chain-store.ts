/**
 * What an audit object keeps of chains, in its own SQLite: which shard is its own, where that shard's chain ends, how much of it the
 * database has, and how far each of its shards was pruned. Someone who rewrites the database cannot change this.
 */
import { z } from 'zod';
import { GENESIS, type ChainHead } from './audit-schema.ts';

/** `head` and `exported` belong to the object's own shard; `pruned` to each shard that it prunes. */
type Mark = 'head' | 'exported' | `pruned:${string}`;

const MarkSchema = z.object({ seq: z.number(), hash: z.string() });

export class KeptChains {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(
      'CREATE TABLE IF NOT EXISTS marks (name TEXT PRIMARY KEY, seq INTEGER, hash TEXT) WITHOUT ROWID',
    );
    sql.exec('CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID');
  }

  find(mark: Mark): ChainHead {
    const [row] = this.#sql.exec('SELECT seq, hash FROM marks WHERE name = ?', mark).toArray();
    return row === undefined ? GENESIS : MarkSchema.parse(row);
  }

  set(mark: Mark, { seq, hash }: ChainHead): void {
    this.#sql.exec('INSERT OR REPLACE INTO marks VALUES (?, ?, ?)', mark, seq, hash);
  }

  /** The principal whose calls the object holds; undefined if it holds none. */
  get principalId(): string | undefined {
    return this.#fact('principal');
  }

  set principalId(id: string) {
    this.#setFact('principal', id);
  }

  /** When to look for old rows next. */
  get pruneAt(): number | undefined {
    const value = this.#fact('prune_at');
    return value === undefined ? undefined : Number(value);
  }

  set pruneAt(at: number) {
    this.#setFact('prune_at', String(at));
  }

  #fact(name: string): string | undefined {
    const [row] = this.#sql.exec('SELECT value FROM facts WHERE name = ?', name).toArray();
    return row === undefined ? undefined : String(row['value']);
  }

  #setFact(name: string, value: string): void {
    this.#sql.exec('INSERT OR REPLACE INTO facts VALUES (?, ?)', name, value);
  }
}
