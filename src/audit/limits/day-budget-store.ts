/**
 * Counts the calls of one subject on the current day (UTC), in the SQLite of the object named after it: leases of a bucket whose step ends
 * at midnight. A draw is stored before it is reported, so no loss of memory restarts the day.
 *
 * Invariants: a past day never returns, even if the clock goes back; a change of the number of calls keeps what was used.
 */
import { LeaseBook, type Buckets } from './lease-book.ts';
import { DAY_MS, dayOf } from '../../shared/util/utc-day.ts';
import type { Bucket, NamedLimit } from './token-bucket.ts';
import type { Lease, LeaseRequest } from './token-lease.ts';

interface Row extends Record<string, SqlStorageValue> {
  day: number;
  used: number;
}

/** How many refunds are remembered, so that none of them is made twice. */
const KNOWN_REFUNDS = 1_000;

export class DayBudget implements Buckets {
  readonly #sql: SqlStorage;
  readonly #leases = new LeaseBook(this);
  readonly #refunds = new Set<string>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS day_calls (
         one INTEGER PRIMARY KEY CHECK (one = 1), day INTEGER NOT NULL, used INTEGER NOT NULL
       ) WITHOUT ROWID`,
    );
  }

  draw(request: LeaseRequest, now: number): Lease {
    return this.#leases.draw(request, now);
  }

  giveBack(id: string, unspent: number, now: number): void {
    this.#leases.giveBack(id, unspent, now);
  }

  refund(id: string, day: number): void {
    if (this.#refunds.has(id)) return;
    if (this.#refunds.size >= KNOWN_REFUNDS) this.#refunds.clear();
    this.#refunds.add(id);
    this.#sql.exec('UPDATE day_calls SET used = used - 1 WHERE day = ? AND used > 0', day);
  }

  /** Returns the calls of this day. */
  used(now: number): number {
    const row = this.#row();
    return row && row.day >= dayOf(now) ? row.used : 0;
  }

  /** Returns the bucket as last stored; undefined if nothing was drawn yet. */
  find({ burst }: NamedLimit): Bucket | undefined {
    const row = this.#row();
    return row && { tokens: burst - row.used, countedTo: row.day * DAY_MS };
  }

  put({ burst }: NamedLimit, { tokens, countedTo }: Bucket): void {
    this.#sql.exec(
      `INSERT INTO day_calls VALUES (1, ?, ?)
       ON CONFLICT (one) DO UPDATE SET day = max(day, excluded.day), used = excluded.used`,
      dayOf(countedTo),
      burst - tokens,
    );
  }

  #row(): Row | undefined {
    return this.#sql.exec<Row>('SELECT day, used FROM day_calls').toArray()[0];
  }
}
