/** The `identities` table. Reads return parsed rows; writes return statements. */
import { ALWAYS } from '../../audit/admin-audit.ts';
import type { Condition } from '../../audit/audit-store.ts';
import { allOf, type RecordTable } from '../../records/record-store.ts';
import { IdentitySchema, type Identity } from './identity-schema.ts';

/** A person at a provider. */
export type Who = Pick<Identity, 'provider_id' | 'issuer' | 'subject'>;

/**
 * Finds the identity of a person, or returns undefined. The issuer of a provider that signs its tokens may be written differently than
 * administrators wrote it, by a slash at the end: an identity that they created has theirs.
 */
export async function findIdentity(db: D1Database, who: Who): Promise<Identity | undefined> {
  const found = await db
    .prepare(
      `SELECT * FROM identities WHERE issuer IN (?1, (SELECT issuer FROM sign_in_providers WHERE id = ?3))
         AND subject = ?2 AND provider_id = ?3 ORDER BY issuer <> ?1 LIMIT 1`,
    )
    .bind(who.issuer, who.subject, who.provider_id)
    .first();
  return found === null ? undefined : IdentitySchema.parse(found);
}

/** Condition: nobody has this identity yet, and its provider exists. */
export const whenNew = ({ provider_id: providerId, issuer, subject }: Who): Condition => ({
  sql: `NOT EXISTS (SELECT 1 FROM identities WHERE subject = ? AND (issuer = ? OR provider_id = ?))
    AND EXISTS (SELECT 1 FROM sign_in_providers WHERE id = ?)`,
  params: [subject, issuer, providerId, providerId],
});

export const IDENTITIES: RecordTable<Identity> = {
  name: 'identities',
  row: IdentitySchema,
  whenPossible: identity =>
    allOf(whenNew(identity), {
      sql: 'EXISTS (SELECT 1 FROM principals WHERE id = ?)',
      params: [identity.principal_id],
    }),
};

/** Writes the provider's current claims about a person. @param when condition for the write */
export const renewIdentity = (
  db: D1Database,
  { id, name, email, groups, signed_in_at: at, expires_at: until }: Identity,
  when: Condition = ALWAYS,
): D1PreparedStatement =>
  db
    .prepare(
      `UPDATE identities SET name = ?, email = ?, groups = ?, signed_in_at = ?, expires_at = ?
       WHERE id = ? AND ${when.sql}`,
    )
    .bind(name, email, JSON.stringify(groups), at, until, id, ...when.params);
