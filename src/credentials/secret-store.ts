/** The `secrets` table, and the servers and sign-in providers that use its rows. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { Condition } from '../audit/audit-store.ts';
import type { SchemaAge } from '../shared/util/either-schema.ts';
import { allOf } from '../records/record-store.ts';
import { parseCredentialView, sentToOf } from './credential-schema.ts';
import { SecretSchema, type Secret, type SecretUser } from './secret-schema.ts';

const UserSchema = z
  .object({ id: z.string(), name: z.string(), url: z.string(), credential_view: z.string() })
  .transform(({ credential_view: text, url, ...row }): SecretUser => {
    const { secrets, auth } = parseCredentialView(text);
    const ofAuth = auth ? sentToOf(url, auth) : undefined;
    const sent = [
      { url, names: secrets.headers },
      ...(ofAuth === undefined ? [] : [{ url: ofAuth, names: secrets.auth }]),
    ];
    const sentTo = sent.map(({ url: to, names }) => ({ origin: new URL(to).origin, names }));
    return { ...row, names: [...secrets.headers, ...secrets.auth], sentTo };
  });

/** Lists all secrets ordered by name. */
export async function listSecrets(db: D1Database): Promise<Secret[]> {
  const { results } = await db.prepare('SELECT * FROM secrets ORDER BY name').all();
  return results.map(row => SecretSchema.parse(row));
}

/** Finds those of the named secrets that exist. */
export async function findSecrets(db: D1Database, names: readonly string[]): Promise<Secret[]> {
  const { results } = await db
    .prepare('SELECT * FROM secrets WHERE name IN (SELECT value FROM json_each(?))')
    .bind(JSON.stringify(names))
    .all();
  return results.map(row => SecretSchema.parse(row));
}

/** Lists every server that refers to a secret. */
export async function listSecretUsers(db: D1Database): Promise<SecretUser[]> {
  const { results } = await db
    .prepare(
      `SELECT id, name, url, credential_view FROM servers
       WHERE credential_view IS NOT NULL ORDER BY name`,
    )
    .all();
  return results.map(row => UserSchema.parse(row)).filter(({ names }) => names.length > 0);
}

/** Counts the secrets. */
export async function countSecrets(db: D1Database): Promise<number> {
  const row = await db.prepare('SELECT count(*) AS n FROM secrets').first();
  return z.object({ n: z.number() }).parse(row).n;
}

/** Maximum number of named secrets in a deployment. */
export const MAX_SECRETS = 2_000;

/** Condition: the secret exists, or there is room for another. */
const whenRoom = (name: string): Condition => ({
  sql: `(EXISTS (SELECT 1 FROM secrets WHERE name = ?) OR (SELECT count(*) FROM secrets) < ${MAX_SECRETS})`,
  params: [name],
});

/** Condition: the secret can be written, and is at this revision if one is given; 0: it does not exist. */
export const whenPuttable = (name: string, revision: number | undefined): Condition =>
  revision === undefined ? whenRoom(name) : allOf(whenAtRevision(name, revision), whenRoom(name));

const whenAtRevision = (name: string, revision: number): Condition => ({
  sql: 'coalesce((SELECT revision FROM secrets WHERE name = ?), 0) = ?',
  params: [name, revision],
});

/** Inserts a secret, or replaces value and origins of an existing one; `when` applies to both. */
export function upsertSecret(
  db: D1Database,
  { name, sealed, origins, updated_at: now }: Omit<Secret, 'revision' | 'created_at'>,
  when: Condition,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO secrets (name, sealed, origins, revision, created_at, updated_at)
       SELECT ?, ?, ?, 1, ?, ? WHERE ${when.sql}
       ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed, origins = excluded.origins,
         revision = revision + 1, updated_at = excluded.updated_at`,
    )
    .bind(name, sealed, JSON.stringify(origins), now, now, ...when.params);
}

const OF_SERVER = `EXISTS (SELECT 1 FROM servers, json_tree(servers.credential_view, '$.secrets') AS part
  WHERE part.atom = ?)`;
const OF_PROVIDER = 'EXISTS (SELECT 1 FROM sign_in_providers WHERE client_secret = ?)';

/** Condition: the secret exists, and neither a server nor a sign-in provider refers to it. */
export function whenUnused(name: string, age: SchemaAge): Condition {
  const uses = age === 'this' ? [OF_SERVER, OF_PROVIDER] : [OF_SERVER];
  const sql = `EXISTS (SELECT 1 FROM secrets WHERE name = ?) AND NOT (${uses.join(' OR ')})`;
  return { sql, params: [name, ...uses.map(() => name)] };
}

/** Deletes a secret, if the condition holds. */
export const deleteSecret = (db: D1Database, name: string, when: Condition): D1PreparedStatement =>
  db.prepare(`DELETE FROM secrets WHERE name = ? AND ${when.sql}`).bind(name, ...when.params);

/** Lists the names of the sign-in providers that refer to a secret. */
export async function listSecretProviders(db: D1Database, name: string): Promise<string[]> {
  const { results } = await db
    .prepare('SELECT name FROM sign_in_providers WHERE client_secret = ? ORDER BY name')
    .bind(name)
    .all();
  return results.map(row => z.object({ name: z.string() }).parse(row).name);
}
