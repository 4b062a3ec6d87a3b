/**
 * Stores results in the SQLite of their object: bounded in bytes, the least recently used are evicted. Synchronous. The time of the last
 * use is stored in coarse steps, so that a hit is seldom a write.
 */
import type { Entry } from './cache-port.ts';

interface Row extends Record<string, SqlStorageValue> {
  sealed: string;
  made_at: number;
  used_at: number;
}

/** Precision of the time of the last use, in milliseconds. */
const USED_STEP_MS = 10_000;
/** Approximate bytes of a row besides its result. */
const ROW_BYTES = 128;
/** Results evicted at once when there is no room. */
const EVICTED_AT_ONCE = 16;

export class EntryStore {
  readonly #sql: SqlStorage;
  readonly #maxBytes: number;
  #bytes: number;

  constructor(sql: SqlStorage, maxBytes: number) {
    this.#sql = sql;
    this.#maxBytes = maxBytes;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS entries (
         key TEXT PRIMARY KEY, sealed TEXT NOT NULL, bytes INTEGER NOT NULL, made_at INTEGER NOT NULL,
         expires_at INTEGER NOT NULL, used_at INTEGER NOT NULL
       ) WITHOUT ROWID`,
    );
    sql.exec('CREATE INDEX IF NOT EXISTS entries_used ON entries (used_at)');
    sql.exec('CREATE INDEX IF NOT EXISTS entries_expires ON entries (expires_at)');
    this.#bytes = this.#count('SELECT coalesce(sum(bytes), 0) AS value FROM entries') ?? 0;
  }

  /** Approximate bytes of all results. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns a result that has not expired. */
  find(key: string, now: number): Entry | undefined {
    const [row] = this.#sql
      .exec<Row>(
        'SELECT sealed, made_at, used_at FROM entries WHERE key = ? AND expires_at > ?',
        key,
        now,
      )
      .toArray();
    if (!row) return undefined;
    if (now - row.used_at >= USED_STEP_MS) {
      this.#sql.exec('UPDATE entries SET used_at = ? WHERE key = ?', now, key);
    }
    return { sealed: row.sealed, madeAt: row.made_at };
  }

  /** Stores a result. @returns false if it is larger than the whole cache */
  put(key: string, { sealed, madeAt }: Entry, expiresAt: number, now: number): boolean {
    const bytes = sealed.length + ROW_BYTES;
    if (bytes > this.#maxBytes) return false;
    this.#delete('key = ?', key);
    while (this.#bytes + bytes > this.#maxBytes) {
      const oldest = 'key IN (SELECT key FROM entries ORDER BY used_at, key LIMIT ?)';
      if (this.#delete(oldest, EVICTED_AT_ONCE) === 0) break;
    }
    this.#sql.exec(
      'INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)',
      key,
      sealed,
      bytes,
      madeAt,
      expiresAt,
      now,
    );
    this.#bytes += bytes;
    return true;
  }

  /** Deletes expired results. */
  sweep(now: number): void {
    this.#delete('expires_at <= ?', now);
  }

  /** Returns when the first result expires; undefined if there is none. */
  nextExpiry(): number | undefined {
    return this.#count('SELECT min(expires_at) AS value FROM entries') ?? undefined;
  }

  #delete(where: string, param: SqlStorageValue): number {
    const freed = this.#sql
      .exec<{ bytes: number }>(`DELETE FROM entries WHERE ${where} RETURNING bytes`, param)
      .toArray();
    for (const { bytes } of freed) this.#bytes -= bytes;
    return freed.length;
  }

  #count(query: string): number | null {
    return this.#sql.exec<{ value: number | null }>(query).one().value;
  }
}
