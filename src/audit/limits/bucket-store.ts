/** The buckets of one principal, in the SQLite of its object. Synchronous: nothing runs between two calls of its methods. */
import type { Buckets } from './lease-book.ts';
import { refill, type Bucket, type NamedLimit } from './token-bucket.ts';

interface Row extends Record<string, SqlStorageValue> {
  tokens: number;
  counted_to: number;
}

export class BucketStore implements Buckets {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS buckets (
         name TEXT PRIMARY KEY, tokens REAL NOT NULL, counted_to REAL NOT NULL,
         per_minute REAL NOT NULL, burst REAL NOT NULL
       ) WITHOUT ROWID`,
    );
  }

  /** Returns a bucket as last stored; undefined if it is full. */
  find({ name }: NamedLimit): Bucket | undefined {
    const [row] = this.#sql
      .exec<Row>('SELECT tokens, counted_to FROM buckets WHERE name = ?', name)
      .toArray();
    return row && { tokens: row.tokens, countedTo: row.counted_to };
  }

  put({ name, perMinute, burst }: NamedLimit, { tokens, countedTo }: Bucket): void {
    this.#sql.exec(
      'INSERT OR REPLACE INTO buckets VALUES (?, ?, ?, ?, ?)',
      name,
      tokens,
      countedTo,
      perMinute,
      burst,
    );
  }

  /** Deletes buckets that are full again. */
  sweep(now: number): void {
    for (const row of this.#sql.exec('SELECT * FROM buckets').toArray()) {
      const { name, tokens, counted_to: countedTo, per_minute: perMinute, burst } = row;
      const limit = { perMinute: Number(perMinute), burst: Number(burst) };
      const bucket = { tokens: Number(tokens), countedTo: Number(countedTo) };
      if (!refill(bucket, limit, now)) this.#sql.exec('DELETE FROM buckets WHERE name = ?', name);
    }
  }
}
