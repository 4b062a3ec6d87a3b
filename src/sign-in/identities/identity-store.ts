/** The `identities` table. Reads return parsed rows; writes return statements. */
import { ALWAYS } from '../../audit/admin-audit.ts';
import type { Condition } from '../../audit/audit-store.ts';
import { allOf, type RecordTable } from '../../records/record-store.ts';
import { IdentitySchema, type Identity } from './identity-schema.ts';

/** Who a provider says somebody is. */
export type Who = Pick<Identity, 'provider_id' | 'issuer' | 'subject'>;

/** The identity of somebody, or undefined. */
export async function findIdentity(db: D1Database, who: Who): Promise<Identity | undefined> {
  const found = await db
    .prepare('SELECT * FROM identities WHERE issuer = ? AND subject = ? AND provider_id = ?')
    .bind(who.issuer, who.subject, who.provider_id)
    .first();
  return found === null ? undefined : IdentitySchema.parse(found);
}

/** Nobody has this identity yet, and its provider is there. */
export const whenNew = ({ provider_id: providerId, issuer, subject }: Who): Condition => ({
  sql: `NOT EXISTS (SELECT 1 FROM identities WHERE issuer = ? AND subject = ?)
    AND EXISTS (SELECT 1 FROM sign_in_providers WHERE id = ?)`,
  params: [issuer, subject, providerId],
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

/** Write what the provider says of somebody now. @param when what must be true for it */
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
