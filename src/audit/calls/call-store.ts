/**
 * Calls of one principal in the SQLite of its object: open ones, and ended ones until the database has them.
 * Synchronous: each method is one write.
 *
 * Invariants: a call has one end, the first; a row that has a number never changes.
 */
import { z } from 'zod';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { AuditOutcomeSchema, type AuditEvent, type AuditOutcome } from '../audit-schema.ts';
import type { CallEnd, StartedCall } from './call-schema.ts';

/** A row's place in the chain, once it has one. */
export interface CallPlace {
  seq: number;
  previousHash: string;
  hash: string;
}

export type EndedCall = Omit<AuditEvent, 'principalId'> & { place?: CallPlace };

const EndedRowSchema = z
  .object({
    id: z.string(),
    at: z.number(),
    token_id: z.string(),
    action: z.string(),
    subject: z.string(),
    detail: z.string(),
    outcome: AuditOutcomeSchema,
    code: z.string().nullable(),
    result: z.string(),
    seq: z.number().nullable(),
    previous_hash: z.string().nullable(),
    hash: z.string().nullable(),
  })
  .transform(
    ({ token_id: tokenId, detail, result, seq, previous_hash, hash, ...rest }): EndedCall => {
      const event = { ...rest, tokenId, detail: { ...parse(detail), ...parse(result) } };
      if (seq === null || previous_hash === null || hash === null) return event;
      return { ...event, place: { seq, previousHash: previous_hash, hash } };
    },
  );

function parse(text: string): JsonObject {
  const parsed: unknown = JSON.parse(text);
  return isObject(parsed) ? parsed : {};
}

export class CallStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS calls (
         id TEXT PRIMARY KEY, at INTEGER NOT NULL, token_id TEXT NOT NULL, action TEXT NOT NULL,
         subject TEXT NOT NULL, detail TEXT NOT NULL, lease_until INTEGER, outcome TEXT, code TEXT,
         result TEXT, seq INTEGER, previous_hash TEXT, hash TEXT
       ) WITHOUT ROWID`,
    );
  }

  /** Stores a call that leaves, or, with an end, one that does not. @returns whether it is new */
  insert(call: StartedCall, leaseUntil: number, end?: Omit<CallEnd, 'id'>): boolean {
    const { id, at, tokenId, action, subject, detail } = call;
    const written = this.#sql.exec(
      `INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL)
       ON CONFLICT DO NOTHING`,
      id,
      at,
      tokenId,
      action,
      subject,
      detail,
      end ? null : leaseUntil,
      end?.outcome ?? null,
      end?.code ?? null,
      end ? JSON.stringify(end.detail) : null,
    );
    return written.rowsWritten > 0;
  }

  /** Ends a call that was just stored as rate-limited, whatever its end would have been. */
  limit(id: string): void {
    this.#sql.exec(
      `UPDATE calls SET outcome = 'denied', code = 'rate_limited', result = '{}', lease_until = NULL
       WHERE id = ?`,
      id,
    );
  }

  isLimited(id: string): boolean {
    const rows = this.#sql.exec("SELECT 1 FROM calls WHERE id = ? AND code = 'rate_limited'", id);
    return rows.toArray().length > 0;
  }

  /** Stores the end of a call. @returns whether the call was open */
  end({ id, outcome, code, detail }: CallEnd): boolean {
    const written = this.#sql.exec(
      `UPDATE calls SET outcome = ?, code = ?, result = ?, lease_until = NULL
       WHERE id = ? AND outcome IS NULL`,
      outcome,
      code,
      JSON.stringify(detail),
      id,
    );
    return written.rowsWritten > 0;
  }

  renew(id: string, leaseUntil: number): void {
    this.#sql.exec(
      'UPDATE calls SET lease_until = ? WHERE id = ? AND outcome IS NULL',
      leaseUntil,
      id,
    );
  }

  /** Ends open calls whose lease has run out. */
  endForgotten(now: number): void {
    const outcome: AuditOutcome = 'unknown';
    this.#sql.exec(
      `UPDATE calls SET outcome = ?, result = '{}', lease_until = NULL
       WHERE outcome IS NULL AND lease_until <= ?`,
      outcome,
      now,
    );
  }

  /** Returns ended calls that the database may not have: those with a place first, in chain order. */
  listEnded(limit: number): EndedCall[] {
    return this.#sql
      .exec(
        `SELECT * FROM calls WHERE outcome IS NOT NULL
         ORDER BY seq IS NULL, seq, at, id LIMIT ?`,
        limit,
      )
      .toArray()
      .map(row => EndedRowSchema.parse(row));
  }

  /** Gives an ended call its place in the chain. */
  place(id: string, { seq, previousHash, hash }: CallPlace): void {
    this.#sql.exec(
      'UPDATE calls SET seq = ?, previous_hash = ?, hash = ? WHERE id = ? AND seq IS NULL',
      seq,
      previousHash,
      hash,
      id,
    );
  }

  /** Deletes the rows up to this number, which the database has. */
  deleteUpTo(seq: number): void {
    this.#sql.exec('DELETE FROM calls WHERE seq <= ?', seq);
  }

  /** Returns when the next lease runs out; undefined if no call is open. */
  nextLeaseEnd(): number | undefined {
    const [row] = this.#sql
      .exec('SELECT min(lease_until) AS at FROM calls WHERE outcome IS NULL')
      .toArray();
    return typeof row?.['at'] === 'number' ? row['at'] : undefined;
  }
}
