/** Identities of principals at a provider, as a sign-in leaves them in the database. */
import { env } from 'cloudflare:workers';

/** Adds an identity with these groups, and returns its id. @param lifetimeMs how long it counts from now on; negative: it has ended */
export async function addIdentity(
  principal: string,
  groups: readonly string[],
  lifetimeMs = 3_600_000,
): Promise<string> {
  const id = crypto.randomUUID();
  await env.DB.prepare(
    `INSERT INTO identities (id, issuer, subject, provider_id, principal_id, name, groups, created_at, signed_in_at, expires_at)
     VALUES (?1, 'https://login.example.com', ?1, 'p', ?2, 'Ada', ?3, 0, 0, ?4)`,
  )
    .bind(id, principal, JSON.stringify(groups), Date.now() + lifetimeMs)
    .run();
  return id;
}
