/** The buckets of one principal, in the SQLite of its object. Synchronous: between two calls of a method nothing else happens. */
import { draw, refill, type Bucket, type NamedLimit } from './token-bucket.ts';

interface Row extends Record<string, SqlStorageValue> {
  tokens: number;
  counted_to: number;
}

export class BucketStore {
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

  /**
   * Take a token of every bucket, or of none.
   * @returns the time until there may be one in each, in milliseconds; undefined where they were taken
   */
  draw(limits: readonly NamedLimit[], now: number): number | undefined {
    const drawn = limits.map(limit => ({ limit, ...draw(this.#find(limit.name), limit, now) }));
    const waits = drawn.flatMap(each => ('retryAfterMs' in each ? [each.retryAfterMs] : []));
    if (waits.length > 0) return Math.max(...waits);
    for (const each of drawn) {
      if (!('bucket' in each)) continue;
      const { name, perMinute, burst } = each.limit;
      const { tokens, countedTo } = each.bucket;
      this.#sql.exec(
        'INSERT OR REPLACE INTO buckets VALUES (?, ?, ?, ?, ?)',
        name,
        tokens,
        countedTo,
        perMinute,
        burst,
      );
    }
    return undefined;
  }

  /** Forget buckets that are full again. */
  sweep(now: number): void {
    for (const row of this.#sql.exec('SELECT * FROM buckets').toArray()) {
      const { name, tokens, counted_to: countedTo, per_minute: perMinute, burst } = row;
      const limit = { perMinute: Number(perMinute), burst: Number(burst) };
      const bucket = { tokens: Number(tokens), countedTo: Number(countedTo) };
      if (!refill(bucket, limit, now)) this.#sql.exec('DELETE FROM buckets WHERE name = ?', name);
    }
  }

  #find(name: string): Bucket | undefined {
    const [row] = this.#sql
      .exec<Row>('SELECT tokens, counted_to FROM buckets WHERE name = ?', name)
      .toArray();
    return row && { tokens: row.tokens, countedTo: row.counted_to };
  }
}
