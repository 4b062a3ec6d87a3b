/** The `ask_allowlist` table: the conditions for its rows, and which of them apply to a principal. */
import { whenSubjectExists } from '../../access/policy/rule-store.ts';
import { allOf, type RecordTable } from '../../records/record-store.ts';
import type { AllowEntry } from './allow-list.ts';
import { StoredEntrySchema, type StoredEntry } from './allowlist-schema.ts';

/** Most entries of a deployment: each decision may compare all of them. */
export const MAX_ENTRIES = 1_000;

const hasRoom = { sql: `(SELECT count(*) FROM ask_allowlist) < ${MAX_ENTRIES}`, params: [] };

export const ASK_ALLOWLIST: RecordTable<StoredEntry> = {
  name: 'ask_allowlist',
  row: StoredEntrySchema,
  whenPossible: entry => allOf(hasRoom, whenSubjectExists(entry)),
};

const AllowedSchema = StoredEntrySchema.pick({ server: true, tool: true, side_effects: true });

/**
 * Returns the entries that apply to a principal: those for everyone, its own, and those for its groups, given by hand or by an
 * identity.
 */
export async function listAllowed(db: D1Database, principalId: string): Promise<AllowEntry[]> {
  const { results } = await db
    .prepare(
      `SELECT server, tool, side_effects FROM ask_allowlist
       WHERE subject_kind = 'everyone' OR (subject_kind = 'principal' AND subject = ?1)
         OR (subject_kind = 'group' AND subject IN (
           SELECT value FROM json_each((SELECT groups FROM principals WHERE id = ?1))
           UNION SELECT g.value FROM identities AS i, json_each(i.groups) AS g
             WHERE i.principal_id = ?1 AND i.expires_at > unixepoch('subsec') * 1000))
       ORDER BY id`,
    )
    .bind(principalId)
    .all();
  return results.map(row => {
    const { side_effects: sideEffects, ...entry } = AllowedSchema.parse(row);
    return { ...entry, sideEffects };
  });
}
