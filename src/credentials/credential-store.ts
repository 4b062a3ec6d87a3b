/**
 * The columns of `servers` that hold a credential, and what it refers to. Sealed secrets are read together with the server's row, so that a
 * record is enough to reach its server and no call queries the database.
 */
import { z } from 'zod';
import { parseCredentialView, type Credential } from './credential-schema.ts';

const SealedSecretsSchema = z.array(
  z.object({
    name: z.string(),
    sealed: z.string(),
    origins: z.array(z.string()),
    revision: z.number(),
  }),
);

const AccessTokenSchema = z.object({
  sealed: z.string().nullable(),
  serial: z.number(),
  credentialKey: z.string(),
  tokenOrigin: z.string(),
  issuedAt: z.number(),
  expiresAt: z.number(),
});

/** Columns of a credential in a row selected with {@link REFERRED_COLUMNS}. */
export const CREDENTIAL_SHAPE = {
  headers_sealed: z.string().nullable(),
  auth_sealed: z.string().nullable(),
  credential_view: z.string().nullable(),
  credential_revision: z.number(),
  secrets: z.string(),
  access_token: z.string().nullable(),
};
const RowSchema = z.object(CREDENTIAL_SHAPE);

/** Columns to select in addition to those of `servers`. */
export const REFERRED_COLUMNS = `(SELECT json_group_array(json_object('name', name,
  'sealed', sealed, 'origins', json(origins), 'revision', revision)) FROM secrets WHERE name IN
  (SELECT atom FROM json_tree(servers.credential_view, '$.secrets'))) AS secrets,
  (SELECT json_object('sealed', sealed, 'serial', serial, 'credentialKey', credential_key,
  'tokenOrigin', token_origin, 'issuedAt', issued_at, 'expiresAt', expires_at)
  FROM access_tokens WHERE server_id = servers.id) AS access_token`;

/** Reads the credential of a row. */
export function toCredential(row: z.infer<typeof RowSchema>): Credential {
  return {
    headersSealed: row.headers_sealed,
    authSealed: row.auth_sealed,
    view: parseCredentialView(row.credential_view),
    revision: row.credential_revision,
    secrets: SealedSecretsSchema.parse(JSON.parse(row.secrets)).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    ),
    accessToken:
      row.access_token === null ? null : AccessTokenSchema.parse(JSON.parse(row.access_token)),
  };
}

/** Values of {@link CREDENTIAL_COLUMNS} for an insert; secrets have rows of their own. */
export function credentialParams({ headersSealed, authSealed, view, revision }: Credential) {
  return [headersSealed, authSealed, JSON.stringify(view), revision] as const;
}

/**
 * Assignments of an edit. An edit that leaves the credential alone writes none of its columns, so that a concurrent key rotation is not
 * undone. Takes {@link credentialUpdateParams}.
 */
export const CREDENTIAL_UPDATE = ['headers_sealed', 'auth_sealed', 'credential_view']
  .map(column => `${column} = CASE credential_revision WHEN ? THEN ${column} ELSE ? END`)
  .concat('credential_revision = ?')
  .join(', ');

export function credentialUpdateParams({ headersSealed, authSealed, view, revision }: Credential) {
  const written = [headersSealed, authSealed, JSON.stringify(view)];
  return [...written.flatMap(value => [revision, value]), revision];
}

/** Names of {@link credentialParams}, in the same order. */
export const CREDENTIAL_COLUMNS = [
  'headers_sealed',
  'auth_sealed',
  'credential_view',
  'credential_revision',
] as const;
