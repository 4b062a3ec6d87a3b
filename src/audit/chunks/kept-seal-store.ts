/** What the object of the chain of chunks keeps in its own SQLite: the last seal, and the last whose chunks were deleted. Synchronous. */
import { NO_SEAL, SealSchema, type Seal } from './seal-store.ts';

export class KeptSealStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS seals
         (name TEXT PRIMARY KEY, seq INTEGER NOT NULL, chunk_id TEXT NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID`,
    );
  }

  find(name: 'sealed' | 'pruned'): Seal {
    const [row] = this.#sql.exec('SELECT * FROM seals WHERE name = ?', name).toArray();
    return row === undefined ? NO_SEAL : SealSchema.parse(row);
  }

  keep(name: 'sealed' | 'pruned', { seq, chunkId, hash }: Seal): void {
    this.#sql.exec('INSERT OR REPLACE INTO seals VALUES (?, ?, ?, ?)', name, seq, chunkId, hash);
  }
}
