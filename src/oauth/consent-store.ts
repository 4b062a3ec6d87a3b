/** The `oauth_requests` and `oauth_consents` tables: requests that wait for a person's decision, and what people allowed before. */
import { z } from 'zod';
import { jsonOf } from '../records/record-schema.ts';
import type { SignedIn } from '../sign-in/signed-in.ts';
import type { AuthorizationRequest } from './authorization-request.ts';

/** Lifetime of a pending request, in milliseconds, and the maximum number per sign-in. */
const REQUEST_MS = 600_000;
const MAX_OPEN = 20;

/** Stores a pending request; deletes the oldest ones if there are too many. */
export function insertRequest(
  db: D1Database,
  hmac: string,
  signInId: string,
  request: object,
  now: number,
): D1PreparedStatement[] {
  return [
    db
      .prepare(
        `DELETE FROM oauth_requests WHERE expires_at <= ?1 OR hmac IN (
           SELECT hmac FROM oauth_requests WHERE sign_in_id = ?2 ORDER BY expires_at DESC LIMIT -1 OFFSET ${MAX_OPEN - 1})`,
      )
      .bind(now, signInId),
    db
      .prepare(
        'INSERT INTO oauth_requests (hmac, sign_in_id, request, expires_at) VALUES (?, ?, ?, ?)',
      )
      .bind(hmac, signInId, JSON.stringify(request), now + REQUEST_MS),
  ];
}

/**
 * Takes a pending request out of the table, so that it can be decided once. @param schema form of the request, which depends on the kind of
 * handle
 */
export async function takeRequest<T>(
  db: D1Database,
  hmacs: readonly string[],
  signInId: string,
  now: number,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  const row = await db
    .prepare(
      `DELETE FROM oauth_requests WHERE hmac IN (${hmacs.map(() => '?').join(', ')}) AND sign_in_id = ? AND expires_at > ?
       RETURNING request`,
    )
    .bind(...hmacs, signInId, now)
    .first();
  return row === null ? undefined : z.object({ request: jsonOf(schema) }).parse(row).request;
}

/**
 * Whether a person allowed this client the same before, with the same redirect. It counts only while there is a grant of it by the same
 * token, or by none: what is allowed with a weak token, by whoever has it, must not be given out later with the rights of a strong one.
 */
export async function isAllowedBefore(
  db: D1Database,
  { principalId, tokenId }: SignedIn,
  { clientId, audience, scopes, redirectUri }: AuthorizationRequest,
  now: number,
): Promise<boolean> {
  const row = await db
    .prepare(
      `SELECT 1 FROM oauth_consents AS c JOIN oauth_grants AS g USING (principal_id, client_id, audience)
       WHERE principal_id = ? AND client_id = ? AND audience = ? AND g.redirect_uri = ? AND g.token_id IS ? AND g.expires_at > ?
         AND NOT EXISTS (SELECT 1 FROM json_each(?) WHERE value NOT IN (SELECT value FROM json_each(g.scopes))) LIMIT 1`,
    )
    .bind(principalId, clientId, audience, redirectUri, tokenId, now, JSON.stringify(scopes))
    .first();
  return row !== null;
}

/** Remembers what a person allowed, if the grant was created. */
export function keepConsent(
  db: D1Database,
  principalId: string,
  { clientId, audience, scopes, redirectUri }: AuthorizationRequest,
  grantId: string,
  now: number,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT OR REPLACE INTO oauth_consents (principal_id, client_id, audience, scopes, redirect_uri, created_at)
       SELECT ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM oauth_grants WHERE id = ?)`,
    )
    .bind(principalId, clientId, audience, JSON.stringify(scopes), redirectUri, now, grantId);
}
