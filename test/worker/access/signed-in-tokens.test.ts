/** Tokens that people create for their clients in a signed-in browser: they end with the credential of that sign-in. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { createBrowser } from '../support/browser.ts';
import { signIn } from '../support/oauth-client.ts';
import { ask, bySignIn, person, principals, TOKENS, tokens, works } from '../support/own-tokens.ts';
import {
  addPasskey,
  createNamed,
  openBrowser,
  passkeyOf,
  signedIn,
  signInBy,
} from '../support/passkeys.ts';
import { createPortico, createToken, register } from '../support/portico.ts';
import { createAuthenticator, type Authenticator } from '../../fixtures/authenticator.ts';
import { addIdentity } from '../support/identities.ts';

const portico = createPortico();

it('[ACC-7] [ACC-9] a person signed in by a token creates tokens that end with that token', async () => {
  const { id: forge } = await register(portico, 'forge', { auto_connect: false });
  const ada = await person({ servers: ['forge'] });
  const browser = await signIn(portico, ada.token);
  const { status, json } = await bySignIn(browser, 'POST', TOKENS, { name: 'cursor' });
  expect(status).toBe(201);
  expect(json).toMatchObject({ servers: [forge], made_by: ada.id });
  await tokens.remove(ada.id);
  expect(await works(json.token)).toBe(false);
});

it('[ACC-7] [ACC-9] a person signed in by an invitation creates tokens that end with the principal', async () => {
  const { id: principal } = await principals.create({ name: 'Bo' });
  const invited = await portico.api('POST', '/api/v1/invitations', { principal });
  const { code } = await invited.json<{ code: string }>();
  const browser = createBrowser(portico);
  await browser.post('/sign-in', { code });
  const { status, json } = await bySignIn(browser, 'POST', TOKENS, { name: 'cursor' });
  expect([status, json.made_by, json.expires_at]).toEqual([201, principal, null]);
  expect(await works(json.token)).toBe(true);
  expect((await ask(json.token, 'POST', TOKENS, { name: 'x' })).status).toBe(403);
  await principals.remove(principal);
  expect(await works(json.token)).toBe(false);
});

it('[ACC-7] [ACC-9] a person signed in by an identity creates tokens that are extended and end with the identity', async () => {
  const { id: principal } = await principals.create({ name: 'Eve' });
  const identity = crypto.randomUUID();
  const until = Date.now() + 3_600_000;
  await env.DB.prepare(
    `INSERT INTO identities (id, issuer, subject, provider_id, principal_id, name, groups, created_at, signed_in_at, expires_at)
     VALUES (?1, 'https://login.example.com', ?1, 'p', ?2, 'Eve', '[]', 0, 0, ?3)`,
  )
    .bind(identity, principal, until)
    .run();
  const { token: parent } = await createToken(portico, { principal });
  const browser = await signIn(portico, parent);
  // A sign-in as by a provider.
  await env.DB.prepare(
    'UPDATE sign_ins SET token_id = NULL, identity_id = ? WHERE principal_id = ?',
  )
    .bind(identity, principal)
    .run();
  const lasting = await bySignIn(browser, 'POST', TOKENS, { name: 'cursor' });
  const asked = new Date(until + 60_000).toISOString();
  const short = await bySignIn(browser, 'POST', TOKENS, { name: 'zed', expires_at: asked });
  const ends = [lasting, short].map(({ json }) => Date.parse(json.expires_at ?? ''));
  expect(ends).toEqual([until, until]);
  const renewed = until + 3_600_000;
  await env.DB.prepare('UPDATE identities SET expires_at = ? WHERE id = ?')
    .bind(renewed, identity)
    .run();
  // The sign-in ends sooner than the token without an end, but the next one is as good.
  const { json: list } = await bySignIn(browser, 'GET', TOKENS);
  expect(list.tokens).toHaveLength(3);
  const endOf = async (id: string) => Date.parse((await tokens.get(id)).expires_at ?? '');
  expect(await endOf(lasting.json.id)).toBe(renewed);
  expect(await endOf(short.json.id)).toBe(Date.parse(asked));
  await env.DB.prepare('DELETE FROM identities WHERE id = ?').bind(identity).run();
  expect(await works(lasting.json.token)).toBe(false);
});

const named = createNamed();

/** Passkeys of a person's token, invitation or identity. */
const WAYS: Record<string, (principal: string) => Promise<Authenticator>> = {
  async token(principal) {
    return passkeyOf(named, (await createToken(portico, { principal })).token);
  },
  async invitation(principal) {
    const invited = await portico.api('POST', '/api/v1/invitations', { principal });
    return passkeyOf(named, (await invited.json<{ code: string }>()).code);
  },
  async identity(principal) {
    const browser = await signedIn(named, (await createToken(portico, { principal })).token);
    // A sign-in as by a provider.
    await env.DB.prepare(
      'UPDATE sign_ins SET token_id = NULL, identity_id = ? WHERE principal_id = ?',
    )
      .bind(await addIdentity(principal, []), principal)
      .run();
    const authenticator = await createAuthenticator();
    expect((await addPasskey(browser, authenticator)).status).toBe(303);
    return authenticator;
  },
};

it.each(Object.entries(WAYS))(
  '[ACC-7] [ACC-9] a person signed in by a passkey of their %s creates tokens that end with the passkey',
  async (way, add) => {
    const { id: principal } = await principals.create({ name: 'Di' });
    const makeBy = async (authenticator: Authenticator) => {
      const browser = openBrowser(named);
      await signInBy(browser, authenticator);
      const { status, json } = await bySignIn(browser, 'POST', TOKENS, { name: 'cursor' });
      expect(status).toBe(201);
      return json;
    };
    const [lost, kept] = [await makeBy(await add(principal)), await makeBy(await add(principal))];
    expect([await works(lost.token), await works(kept.token)]).toEqual([true, true]);
    const until = Date.now() + 7_200_000;
    await env.DB.prepare('UPDATE identities SET expires_at = ? WHERE principal_id = ?')
      .bind(until, principal)
      .run();
    const { expires_at: end } = await tokens.get(lost.id);
    expect(end).toBe(way === 'identity' ? new Date(until).toISOString() : null);
    const removed = await portico.api('DELETE', `/api/v1/passkeys/${lost.made_by}`);
    expect(removed.status).toBe(204);
    expect([await works(lost.token), await works(kept.token)]).toEqual([false, true]);
  },
);

it('[ACC-7] [ACC-9] tokens made by a passkey are seen by its token, and end with it, with their own passkeys', async () => {
  const ada = await person({ tools: ['*.get_*'] });
  const browser = openBrowser(named);
  await signInBy(browser, await passkeyOf(named, ada.token));
  const { json: made } = await bySignIn(browser, 'POST', TOKENS, { name: 'cursor' });
  const { tokens: seen = [] } = await ask(ada.token, 'GET', TOKENS);
  expect(seen.map(({ id }) => id).toSorted()).toEqual([ada.id, made.id].toSorted());
  await passkeyOf(named, made.token);
  await tokens.remove(ada.id);
  expect(await works(made.token)).toBe(false);
  const left = env.DB.prepare('SELECT count(*) AS n FROM passkeys WHERE principal_id = ?');
  expect(await left.bind(ada.principal).first('n')).toBe(0);
});
