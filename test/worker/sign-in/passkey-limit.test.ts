/** The number of passkeys counts for each credential by itself: who has a weak token cannot lock out the owner of a strong one. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { createAuthenticator } from '../../fixtures/authenticator.ts';
import { addPasskey, createNamed, passkeyOf, signedIn } from '../support/passkeys.ts';
import { createToken } from '../support/portico.ts';

const portico = createNamed();

it('[ACC-7] [SEC-4] as many as there may be of one token leave room for those of another', async () => {
  const strong = await createToken(portico, { name: 'Eva' });
  const principal = await env.DB.prepare('SELECT principal_id FROM tokens WHERE id = ?')
    .bind(strong.id)
    .first<string>('principal_id');
  const weak = await createToken(portico, { principal, scopes: ['tools:read'] });
  await passkeyOf(portico, weak.token);
  await env.DB.prepare(
    `INSERT INTO passkeys (id, credential_id, principal_id, token_id, identity_id, name, public_key, counter, transports,
       challenged_at, created_at)
     SELECT n.value, n.value, principal_id, token_id, identity_id, name, public_key, counter, transports, 0, 0
     FROM passkeys, json_each(?) AS n WHERE token_id = ?`,
  )
    .bind(JSON.stringify(Array.from({ length: 19 }, (_, at) => `more-${at}`)), weak.id)
    .run();
  const full = await signedIn(portico, weak.token);
  expect((await full.post('/sign-in/passkeys/start', {})).status).toBe(409);
  const owner = await signedIn(portico, strong.token);
  expect((await addPasskey(owner, await createAuthenticator())).status).toBe(303);
});
