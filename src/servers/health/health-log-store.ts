/**
 * The history of one server's health, in its monitor's own database: the last checks, and the sums of the last hour's calls. Bounded; each
 * write deletes what is too old.
 */
import { z } from 'zod';
import { CHECK_WAYS, FINDING_KINDS, type Finding } from './finding.ts';
import type { CallSums } from './call-report.ts';
import { addSums, KEPT_MS, NO_CALLS, slotOf } from './windows.ts';

/** A check in the history. */
export interface LoggedCheck extends Omit<Finding, 'reason' | 'detail'> {
  /** Grows with each check of the server. */
  id: number;
  at: number;
  reason: string | null;
}

/** Totals of calls since the server was registered. */
export interface CallTotals {
  callsTotal: number;
  errorsTotal: number;
  /** Time of the last good message; null if there was none. */
  lastGoodAt: number | null;
}

const TotalsSchema = z.object({
  generation: z.number(),
  callsTotal: z.number(),
  errorsTotal: z.number(),
  lastGoodAt: z.number().nullable(),
});

/** Maximum number of checks that are kept. */
export const MAX_CHECKS = 500;

const CheckRowSchema = z
  .object({
    id: z.number(),
    at: z.number(),
    kind: z.enum(FINDING_KINDS),
    way: z.enum(CHECK_WAYS),
    reason: z.string().nullable(),
    response_time_ms: z.number().nullable(),
  })
  .transform(({ response_time_ms: responseTimeMs, ...row }): LoggedCheck => ({
    ...row,
    responseTimeMs,
  }));

const SlotRowSchema = z
  .object({
    calls: z.number(),
    errors: z.number(),
    total_ms: z.number(),
    latencies: z.string(),
    reasons: z.string(),
  })
  .transform(({ calls, errors, ...row }): CallSums => ({
    calls,
    errors,
    totalMs: row.total_ms,
    latencies: JSON.parse(row.latencies) as number[],
    reasons: JSON.parse(row.reasons) as Record<string, number>,
  }));

export class HealthLog {
  readonly #sql: SqlStorage;
  #isReady = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  addCheck(at: number, { kind, way, reason, responseTimeMs }: Finding): void {
    const sql = this.#ready();
    sql.exec(
      'INSERT INTO checks (at, kind, way, reason, response_time_ms) VALUES (?, ?, ?, ?, ?)',
      at,
      kind,
      way,
      reason,
      responseTimeMs,
    );
    sql.exec('DELETE FROM checks WHERE id <= (SELECT MAX(id) FROM checks) - ?', MAX_CHECKS);
  }

  /** @param before id of a check; returns the checks before it */
  listChecks(before: number | undefined, limit: number): LoggedCheck[] {
    const rows = this.#ready().exec(
      'SELECT * FROM checks WHERE id < ? ORDER BY id DESC LIMIT ?',
      before ?? Number.MAX_SAFE_INTEGER,
      limit,
    );
    return rows.toArray().map(row => CheckRowSchema.parse(row));
  }

  /** Adds calls made at one generation of the server; writes one row. @param totals including these calls */
  addCalls(now: number, generation: number, sums: CallSums, totals: CallTotals): void {
    const sql = this.#ready();
    const slot = slotOf(now);
    const before = sql
      .exec('SELECT * FROM call_slots WHERE slot = ? AND generation = ?', slot, generation)
      .toArray()
      .map(row => SlotRowSchema.parse(row));
    const { calls, errors, totalMs, latencies, reasons } = addSums(before[0] ?? NO_CALLS, sums);
    sql.exec(
      `INSERT INTO call_slots (slot, generation, calls, errors, total_ms, latencies, reasons, calls_total,
         errors_total, last_good_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (slot, generation) DO UPDATE SET calls = excluded.calls, errors = excluded.errors,
         total_ms = excluded.total_ms, latencies = excluded.latencies, reasons = excluded.reasons,
         calls_total = excluded.calls_total, errors_total = excluded.errors_total,
         last_good_at = excluded.last_good_at`,
      slot,
      generation,
      calls,
      errors,
      totalMs,
      JSON.stringify(latencies),
      JSON.stringify(reasons),
      totals.callsTotal,
      totals.errorsTotal,
      totals.lastGoodAt,
    );
    sql.exec('DELETE FROM call_slots WHERE slot < ?', slotOf(now - KEPT_MS));
  }

  /** Totals as of the last counted calls, and the generation at which those were made. */
  lastTotals(): (CallTotals & { generation: number }) | undefined {
    const rows = this.#ready().exec(
      `SELECT generation, calls_total AS callsTotal, errors_total AS errorsTotal, last_good_at AS lastGoodAt
       FROM call_slots ORDER BY slot DESC, calls_total DESC LIMIT 1`,
    );
    return rows.toArray().map(row => TotalsSchema.parse(row))[0];
  }

  /** Sums the calls of the last `windowMs`, of one generation of the server or of all. */
  sumCalls(now: number, windowMs: number, generation?: number): CallSums {
    const rows = this.#ready().exec(
      'SELECT * FROM call_slots WHERE slot > ?1 AND (?2 IS NULL OR generation = ?2)',
      slotOf(now - windowMs),
      generation ?? null,
    );
    return rows
      .toArray()
      .map(row => SlotRowSchema.parse(row))
      .reduce(addSums, NO_CALLS);
  }

  /** Call after the storage was emptied. */
  forget(): void {
    this.#isReady = false;
  }

  #ready(): SqlStorage {
    if (!this.#isReady) {
      this.#sql.exec(
        `CREATE TABLE IF NOT EXISTS checks (id INTEGER PRIMARY KEY, at INTEGER NOT NULL,
           kind TEXT NOT NULL, way TEXT NOT NULL, reason TEXT, response_time_ms REAL) STRICT`,
      );
      // WITHOUT ROWID avoids a separate index, which would cost a second row with each write.
      this.#sql.exec(
        `CREATE TABLE IF NOT EXISTS call_slots (slot INTEGER NOT NULL, generation INTEGER NOT NULL,
           calls INTEGER NOT NULL, errors INTEGER NOT NULL, total_ms REAL NOT NULL, latencies TEXT NOT NULL,
           reasons TEXT NOT NULL, calls_total INTEGER NOT NULL, errors_total INTEGER NOT NULL,
           last_good_at INTEGER, PRIMARY KEY (slot, generation)) STRICT, WITHOUT ROWID`,
      );
      // Table of an older version; it held at most an hour of calls.
      this.#sql.exec('DROP TABLE IF EXISTS slots');
      this.#isReady = true;
    }
    return this.#sql;
  }
}
