/** Writes the table `access_tokens`; its rows are read with their servers. Only the server's monitor writes it. */
import type { AccessToken } from '../credential-schema.ts';
import type { AccessTokenRecords } from './grant-schema.ts';

/** The table as a store of access tokens. */
export function createAccessTokenRecords(db: D1Database): AccessTokenRecords {
  return {
    keep: (serverId, revision, token) => upsert(db, serverId, revision, token).run(),
    drop: (serverId, serial) =>
      db
        .prepare('UPDATE access_tokens SET sealed = NULL WHERE server_id = ? AND serial = ?')
        .bind(serverId, serial)
        .run(),
  };
}

function upsert(
  db: D1Database,
  serverId: string,
  revision: number,
  token: AccessToken,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO access_tokens (server_id, sealed, serial, credential_key, token_origin, issued_at,
         expires_at) SELECT ?, ?, ?, ?, ?, ?, ?
       WHERE EXISTS (SELECT 1 FROM servers WHERE id = ? AND credential_revision = ?)
       ON CONFLICT (server_id) DO UPDATE SET sealed = excluded.sealed, serial = excluded.serial,
         credential_key = excluded.credential_key, token_origin = excluded.token_origin,
         issued_at = excluded.issued_at, expires_at = excluded.expires_at
       WHERE excluded.serial > access_tokens.serial`,
    )
    .bind(
      serverId,
      token.sealed,
      token.serial,
      token.credentialKey,
      token.tokenOrigin,
      token.issuedAt,
      token.expiresAt,
      serverId,
      revision,
    );
}
