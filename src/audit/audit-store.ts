/** The tables `audit_events` and `audit_heads`. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import { isObject, type JsonObject } from '../shared/protocol.ts';
import { AuditOutcomeSchema, GENESIS, type ChainedEvent, type ChainHead } from './audit-schema.ts';
import { tryJson } from '../shared/json/json-spans.ts';

/** The condition for a change, as SQL; it is evaluated in the same transaction. */
export interface Condition {
  sql: string;
  params: readonly (string | number | null)[];
}

const COLUMNS = `shard, seq, id, at, principal_id, token_id, action, subject,
  outcome, code, detail, previous_hash, hash`;

/** Returns an event's values in the order of the columns. */
const valuesOf = (event: ChainedEvent): (string | number | null)[] => [
  event.shard,
  event.seq,
  event.id,
  event.at,
  event.principalId,
  event.tokenId,
  event.action,
  event.subject,
  event.outcome,
  event.code,
  JSON.stringify(event.detail),
  event.previousHash,
  event.hash,
];

const HeadSchema = z.object({ seq: z.number(), hash: z.string() });

const RowSchema = z
  .object({
    shard: z.string(),
    seq: z.number(),
    id: z.string(),
    at: z.number(),
    principal_id: z.string(),
    token_id: z.string(),
    action: z.string(),
    subject: z.string(),
    outcome: AuditOutcomeSchema,
    code: z.string().nullable(),
    detail: z.string(),
    previous_hash: z.string(),
    hash: z.string(),
  })
  .transform((row): ChainedEvent => ({
    shard: row.shard,
    seq: row.seq,
    id: row.id,
    at: row.at,
    principalId: row.principal_id,
    tokenId: row.token_id,
    action: row.action,
    subject: row.subject,
    outcome: row.outcome,
    code: row.code,
    detail: parseDetail(row.detail),
    previousHash: row.previous_hash,
    hash: row.hash,
  }));

/** Details that are not a JSON object were not written by us: they are shown as unreadable, and the row's hash does not match. */
function parseDetail(text: string): JsonObject {
  const parsed = tryJson(text);
  return isObject(parsed) ? parsed : { unreadable: true };
}

/** Parses rows of `audit_events` into events. */
export function parseEvents(rows: readonly unknown[]): ChainedEvent[] {
  return rows.map(row => RowSchema.parse(row));
}

/** Returns the head of a shard's chain. */
export async function findHead(db: D1Database, shard: string): Promise<ChainHead> {
  const row = await db
    .prepare('SELECT seq, hash FROM audit_heads WHERE shard = ?')
    .bind(shard)
    .first();
  return row === null ? GENESIS : HeadSchema.parse(row);
}

/** Whether there is a row with this id. */
export async function hasEvent(db: D1Database, id: string): Promise<boolean> {
  return (await db.prepare('SELECT 1 FROM audit_events WHERE id = ?').bind(id).first()) !== null;
}

/** Condition: there is no row with this id. */
export const whenNoEvent = (id: string): Condition => ({
  sql: 'NOT EXISTS (SELECT 1 FROM audit_events WHERE id = ?)',
  params: [id],
});

/** Inserts an event if the condition holds. If the place in the chain is taken, the statement and its whole batch fail. */
export function insertEvent(
  db: D1Database,
  event: ChainedEvent,
  when: Condition,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO audit_events (${COLUMNS})
       SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE ${when.sql}`,
    )
    .bind(...valuesOf(event), ...when.params);
}

/** Returns events of a shard from a number on, in chain order. */
export async function listChain(
  db: D1Database,
  shard: string,
  fromSeq: number,
  limit: number,
): Promise<ChainedEvent[]> {
  const { results } = await db
    .prepare('SELECT * FROM audit_events WHERE shard = ? AND seq >= ? ORDER BY seq LIMIT ?')
    .bind(shard, fromSeq, limit)
    .all();
  return parseEvents(results);
}

/** Inserts rows of calls in chain order; rows whose place or id is taken are skipped. */
export function insertMissing(
  db: D1Database,
  events: readonly ChainedEvent[],
): D1PreparedStatement {
  const rows = events.map(valuesOf);
  const columns = rows[0]?.map((_, i) => `value ->> ${i}`).join(', ');
  return db
    .prepare(
      `INSERT INTO audit_events (${COLUMNS})
       SELECT ${columns} FROM json_each(?) WHERE true ORDER BY key ON CONFLICT DO NOTHING`,
    )
    .bind(JSON.stringify(rows));
}

/** Selects the hashes of a part of a shard's chain. */
export function findHashes(
  db: D1Database,
  shard: string,
  fromSeq: number,
  toSeq: number,
): D1PreparedStatement {
  return db
    .prepare('SELECT hash FROM audit_events WHERE shard = ? AND seq BETWEEN ? AND ?')
    .bind(shard, fromSeq, toSeq);
}

const OldestSchema = HeadSchema.extend({ at: z.number() });

/** Returns the first rows of a shard, in chain order. */
export async function listOldest(
  db: D1Database,
  shard: string,
  limit: number,
): Promise<z.infer<typeof OldestSchema>[]> {
  const { results } = await db
    .prepare('SELECT seq, hash, at FROM audit_events WHERE shard = ? ORDER BY seq LIMIT ?')
    .bind(shard, limit)
    .all();
  return results.map(row => OldestSchema.parse(row));
}

/** Records the last row of a shard that is deleted because of its age. */
export function notePruned(
  db: D1Database,
  shard: string,
  { seq, hash }: ChainHead,
): D1PreparedStatement {
  return db
    .prepare('UPDATE audit_heads SET pruned_seq = ?, pruned_hash = ? WHERE shard = ?')
    .bind(seq, hash, shard);
}

/** Deletes the rows of a shard up to a number. */
export function deleteUpTo(db: D1Database, shard: string, seq: number): D1PreparedStatement {
  return db.prepare('DELETE FROM audit_events WHERE shard = ? AND seq <= ?').bind(shard, seq);
}
