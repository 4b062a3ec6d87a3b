/** The `record_owners` table: which records belong to an owner. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { OwnedKind, RecordOwner } from '../shared/identity/record-owner.ts';
import type { Condition } from './audit-store.ts';

const OwnedSchema = z.object({
  kind: z.string(),
  record_id: z.string(),
  owner: z.string(),
  key: z.string(),
});
export type Owned = z.infer<typeof OwnedSchema>;

/** Where the records of each kind are, and the column that identifies them. */
const RECORDS: Readonly<Record<OwnedKind, readonly [table: string, column: string]>> = {
  secret: ['secrets', 'name'],
  connector: ['connectors', 'id'],
  server: ['servers', 'id'],
  principal: ['principals', 'id'],
  rule: ['access_rules', 'id'],
  budget: ['budgets', 'id'],
  toolset: ['toolsets', 'id'],
  cache_rule: ['cache_rules', 'id'],
  ask_allowlist: ['ask_allowlist', 'id'],
};

/** The record exists. */
export function whenThere(kind: OwnedKind, id: string): Condition {
  const [table, column] = RECORDS[kind];
  return { sql: `EXISTS (SELECT 1 FROM ${table} WHERE ${column} = ?)`, params: [id] };
}

/** Gives a record to an owner; it becomes the only record with its key. */
export function markOwner(
  db: D1Database,
  kind: string,
  recordId: string,
  { owner, key }: RecordOwner,
  when: Condition,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT OR REPLACE INTO record_owners (kind, record_id, owner, key) SELECT ?, ?, ?, ? WHERE ${when.sql}`,
    )
    .bind(kind, recordId, owner, key, ...when.params);
}

/** Returns owned records in the order of kind and id. @param after the last record of the previous page */
export async function listOwned(
  db: D1Database,
  limit: number,
  after: readonly [kind: string, id: string] = ['', ''],
): Promise<Owned[]> {
  const { results } = await db
    .prepare(
      `SELECT * FROM record_owners WHERE (kind, record_id) > (?, ?) ORDER BY kind, record_id LIMIT ?`,
    )
    .bind(...after, limit)
    .all();
  return results.map(row => OwnedSchema.parse(row));
}
