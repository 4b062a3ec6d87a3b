/** The `sign_in_providers` table, and the conditions for its rows. */
import type { Condition } from '../../audit/audit-store.ts';
import type { EditedTable } from '../../records/record-store.ts';
import { ProviderSchema, type Provider } from './providers-schema.ts';

/** Maximum number of providers: each is a button on the sign-in page. */
export const MAX_PROVIDERS = 20;

/** Condition: its name and issuer are free, and the limit is not reached. */
const whenPossible = ({ id, name, issuer }: Provider): Condition => ({
  sql: `NOT EXISTS (SELECT 1 FROM sign_in_providers WHERE (name = ? COLLATE NOCASE OR issuer = ?) AND id <> ?)
    AND (SELECT count(*) FROM sign_in_providers WHERE id <> ?) < ${MAX_PROVIDERS}`,
  params: [name, issuer, id, id],
});

export const PROVIDERS: EditedTable<Provider> = {
  name: 'sign_in_providers',
  row: ProviderSchema,
  isByName: true,
  hasNameAsKey: true,
  edited: ['name', 'client_id', 'client_secret', 'settings', 'updated_at'],
  whenPossible,
  whenEditable: whenPossible,
};

/** Lists the providers of kind `access`, or all others, by name. */
export async function listProviders(
  db: D1Database,
  which: 'access' | 'others',
): Promise<Provider[]> {
  const { results } = await db
    .prepare("SELECT * FROM sign_in_providers WHERE (kind = 'access') = ? ORDER BY name")
    .bind(Number(which === 'access'))
    .all();
  return results.map(row => ProviderSchema.parse(row));
}

/** Finds the OpenID provider with this issuer, if its assertions are accepted. */
export async function findAsserting(db: D1Database, issuer: string): Promise<Provider | undefined> {
  const found = await db
    .prepare("SELECT * FROM sign_in_providers WHERE issuer = ? AND kind = 'oidc'")
    .bind(issuer)
    .first();
  const provider = found === null ? undefined : ProviderSchema.parse(found);
  return provider?.settings.takes_assertions === true ? provider : undefined;
}

/** Condition: the provider's assertions are accepted. */
export const whenAsserting = (id: string): Condition => ({
  sql: `EXISTS (SELECT 1 FROM sign_in_providers WHERE id = ? AND json_extract(settings, '$.takes_assertions') IS 1)`,
  params: [id],
});

/** Deletes the grants that came from a provider's assertions, if those are no longer accepted. Such grants have no code. */
export function endAsserted(db: D1Database, id: string): D1PreparedStatement {
  const { sql, params } = whenAsserting(id);
  return db
    .prepare(
      `DELETE FROM oauth_grants WHERE code_hmac IS NULL
         AND identity_id IN (SELECT id FROM identities WHERE provider_id = ?) AND NOT ${sql}`,
    )
    .bind(id, ...params);
}
