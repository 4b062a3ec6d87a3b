/** A passkey restores the rights with which its owner was signed in when it was registered: no more than those, and for no longer. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { errorOf, refresh, send } from '../support/oauth-client.ts';
import { createAuthenticator, type Authenticator } from '../../fixtures/authenticator.ts';
import { createBrowser, type Browser } from '../support/browser.ts';
import {
  addPasskey,
  ask,
  createNamed,
  letIn,
  NAMED,
  openBrowser,
  passkeyOf,
  shownIn,
  signedIn,
  signInBy,
  type View,
} from '../support/passkeys.ts';
import { createPortico, createToken } from '../support/portico.ts';

const portico = createNamed();

const run = (sql: string, ...values: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run();
const listed = async (query = '') => {
  const answer = await portico.api('GET', `/api/v1/passkeys${query}`);
  return (await answer.json<{ passkeys: View[] }>()).passkeys;
};
const countOf = ({ id }: Authenticator) =>
  env.DB.prepare('SELECT count(*) AS n FROM passkeys WHERE credential_id = ?').bind(id).first('n');
const principalOf = async (token: string) => {
  const row = env.DB.prepare('SELECT principal_id FROM tokens WHERE id = ?').bind(token);
  return (await row.first<string>('principal_id')) ?? '';
};

it.each([
  ['ES256', -7],
  ['EdDSA', -8],
  ['RS256', -257],
] as const)('[ACC-7] signs its owner in again, with a key for %s', async (_, alg) => {
  const { id, token } = await createToken(portico, { name: 'Ada', tools: ['*.get_*'] });
  const first = await signedIn(portico, token);
  expect(await (await first.get('/sign-in')).text()).toContain('href="/sign-in/passkeys"');
  expect(await (await first.get('/sign-in/passkeys')).text()).toContain('You have none yet');
  const authenticator = await createAuthenticator(alg);
  const added = await addPasskey(first, authenticator, { name: ' <b>Laptop</b> ' });
  expect([added.status, added.headers.get('location')]).toEqual([303, '/sign-in/passkeys']);
  expect(await (await first.get('/sign-in/passkeys')).text()).toContain(
    '&lt;b&gt;Laptop&lt;/b&gt; <small>never used',
  );
  await first.post('/sign-out', {});

  const second = openBrowser(portico);
  const signed = await signInBy(second, authenticator);
  expect([signed.status, signed.headers.get('location')]).toEqual([303, '/sign-in']);
  expect(await shownIn(second)).toBe('Ada');
  expect(second.cookie).not.toContain('passkey');
  const principal = await principalOf(id);
  const [passkey] = await listed(`?principal=${principal}`);
  expect(passkey).toMatchObject({ name: '<b>Laptop</b>', principal, token: id, identity: null });
  expect(passkey?.last_used_at).not.toBeNull();
  const signIns = await portico.api('GET', `/api/v1/sign-ins?principal=${principal}`);
  expect(await signIns.json()).toMatchObject({
    sign_ins: [{ by: 'passkey', token: id, identity: null, passkey: passkey?.id }],
  });
  const { results } = await env.DB.prepare(
    "SELECT action, outcome, detail ->> '$.by' AS way FROM audit_events WHERE token_id = ? ORDER BY at, seq",
  )
    .bind(id)
    .all();
  expect(results).toEqual([
    { action: 'sign_in.create', outcome: 'done', way: 'token' },
    { action: 'passkey.create', outcome: 'done', way: null },
    { action: 'sign_in.delete', outcome: 'done', way: null },
    { action: 'sign_in.create', outcome: 'done', way: 'passkey' },
  ]);
  const grant = await letIn(portico, second);
  const row = env.DB.prepare(
    'SELECT tools, token_id, passkey_id FROM oauth_grants WHERE client_id = ?',
  );
  expect(await row.bind(grant.clientId).first()).toEqual({
    tools: '["*.get_*"]',
    token_id: id,
    passkey_id: passkey?.id,
  });
});

it.each<[string, (passkey: View) => Promise<unknown>]>([
  ['its token is revoked', ({ token }) => portico.api('DELETE', `/api/v1/tokens/${token}`)],
  [
    'its token gets another value',
    ({ token }) => portico.api('POST', `/api/v1/tokens/${token}/rotate`, {}),
  ],
  [
    'its principal is deleted',
    ({ principal }) => portico.api('DELETE', `/api/v1/principals/${principal}`),
  ],
  ['an administrator deletes it', ({ id }) => portico.api('DELETE', `/api/v1/passkeys/${id}`)],
])('[ACC-7] [ACC-3] signs nobody in when %s, and its sign-ins end', async (_, end) => {
  const { id, token } = await createToken(portico);
  const authenticator = await passkeyOf(portico, token);
  const browser = openBrowser(portico);
  await signInBy(browser, authenticator);
  const grant = await letIn(portico, browser);
  expect((await send(portico, grant.access_token)).status).toBe(200);
  const [passkey] = await listed(`?principal=${await principalOf(id)}`);
  const ended = (await end(passkey as View)) as Response;
  expect(ended.ok).toBe(true);
  expect(await shownIn(browser)).toBeUndefined();
  expect((await send(portico, grant.access_token)).status).toBe(401);
  const again = await refresh(portico, grant.clientId, grant.refresh_token);
  expect(await errorOf(again)).toEqual([400, 'invalid_grant']);
  expect((await signInBy(openBrowser(portico), authenticator)).status).toBe(403);
  expect(await countOf(authenticator)).toBe(0);
});

it("[ACC-7] is removed by its owner, whose other sign-ins stay; nobody can remove another's", async () => {
  const { id, token } = await createToken(portico, { name: 'Ada' });
  const own = await passkeyOf(portico, token, { name: 'own' });
  const other = await passkeyOf(portico, token, { name: 'other' });
  const [byToken, byOwn, byOther] = [
    await signedIn(portico, token),
    openBrowser(portico),
    openBrowser(portico),
  ];
  await signInBy(byOwn, own);
  await signInBy(byOther, other);
  const grant = await letIn(portico, byOwn);
  const kept = await letIn(portico, byOther);
  const all = await listed(`?principal=${await principalOf(id)}`);
  const passkey = all.find(({ name }) => name === 'own')?.id ?? '';
  const foreign = await createToken(portico);
  await passkeyOf(portico, foreign.token);
  const stranger = await signedIn(portico, foreign.token);
  const refused = await stranger.post('/sign-in/passkeys/remove', { id: passkey });
  expect([refused.status, await shownIn(byOwn)]).toEqual([404, 'Ada']);
  expect((await send(portico, grant.access_token)).status).toBe(200);
  const removed = await byToken.post('/sign-in/passkeys/remove', { id: passkey });
  expect([removed.status, removed.headers.get('location')]).toEqual([303, '/sign-in/passkeys']);
  expect([await shownIn(byToken), await shownIn(byOwn), await shownIn(byOther)]).toEqual([
    'Ada',
    undefined,
    'Ada',
  ]);
  expect((await send(portico, grant.access_token)).status).toBe(401);
  expect((await send(portico, kept.access_token)).status).toBe(200);
  expect((await signInBy(openBrowser(portico), own)).status).toBe(403);
  const { results } = await env.DB.prepare(
    "SELECT outcome, token_id FROM audit_events WHERE action = 'passkey.delete' AND subject = ?",
  )
    .bind(passkey)
    .all();
  expect(results).toEqual([{ outcome: 'done', token_id: id }]);
});

it('[ACC-7] of an invitation stays after it, with the scopes of its principal', async () => {
  const made = await portico.api('POST', '/api/v1/principals', {
    name: 'Bo',
    scopes: ['tools:read'],
  });
  const { id: principal } = await made.json<{ id: string }>();
  const invited = await portico.api('POST', '/api/v1/invitations', { principal });
  const { code } = await invited.json<{ code: string }>();
  const authenticator = await passkeyOf(portico, code);
  const browser = openBrowser(portico);
  await signInBy(browser, authenticator);
  expect(await shownIn(browser)).toBe('Bo');
  const { scope } = await letIn(portico, browser);
  expect(scope).toBe('tools:read');
  expect(await listed(`?principal=${principal}`)).toMatchObject([{ token: null, identity: null }]);
  await portico.api('DELETE', `/api/v1/principals/${principal}`);
  expect([await shownIn(browser), await countOf(authenticator)]).toEqual([undefined, 0]);
});

it('[ACC-7] of an identity ends with it: it signs nobody in after that, and is deleted with it', async () => {
  const { id, token } = await createToken(portico, { name: 'Cy' });
  const principal = await principalOf(id);
  const identity = crypto.randomUUID();
  const until = Date.now() + 3_600_000;
  await run(
    `INSERT INTO identities (id, issuer, subject, provider_id, principal_id, name, groups, created_at, signed_in_at, expires_at)
     VALUES (?1, 'https://login.example.com', ?1, 'p', ?2, 'Cy', '[]', 0, 0, ?3)`,
    identity,
    principal,
    until,
  );
  const first = await signedIn(portico, token);
  await run(
    'UPDATE sign_ins SET token_id = NULL, identity_id = ? WHERE principal_id = ?',
    identity,
    principal,
  );
  const authenticator = await createAuthenticator();
  expect((await addPasskey(first, authenticator)).status).toBe(303);
  const browser = openBrowser(portico);
  await signInBy(browser, authenticator);
  const { clientId } = await letIn(portico, browser);
  const grant = env.DB.prepare('SELECT identity_id, ends_at FROM oauth_grants WHERE client_id = ?');
  expect(await grant.bind(clientId).first()).toEqual({ identity_id: identity, ends_at: until });
  const kept = env.DB.prepare('SELECT expires_at FROM identities WHERE id = ?').bind(identity);
  expect(await kept.first('expires_at')).toBe(until);

  await run('UPDATE identities SET expires_at = ? WHERE id = ?', Date.now(), identity);
  expect(await shownIn(browser)).toBeUndefined();
  expect((await signInBy(browser, authenticator)).status).toBe(403);
  await run('UPDATE identities SET expires_at = ? WHERE id = ?', until, identity);
  expect((await signInBy(browser, authenticator)).status).toBe(303);
  await portico.api('DELETE', `/api/v1/identities/${identity}`);
  expect([await shownIn(browser), await listed(`?principal=${principal}`)]).toEqual([
    undefined,
    [],
  ]);
  expect((await signInBy(browser, authenticator)).status).toBe(403);
});

it('[ACC-7] of an expired token signs nobody in', async () => {
  const { id, token } = await createToken(portico);
  const authenticator = await passkeyOf(portico, token);
  await run('UPDATE tokens SET expires_at = ? WHERE id = ?', Date.now(), id);
  expect((await signInBy(openBrowser(portico), authenticator)).status).toBe(403);
});

it('[ACC-7] [SEC-4] one principal has twenty at most, and the browser gets the existing ones', async () => {
  const { token } = await createToken(portico);
  const browser = await signedIn(portico, token);
  const ids: string[] = [];
  const add = async (from: Browser, authenticator: Authenticator) => {
    const asked = await ask(from, '/sign-in/passkeys/start');
    return async () => {
      const answer = await authenticator.add(asked, NAMED);
      return (await from.post('/sign-in/passkeys', { answer })).status;
    };
  };
  for (let made = 0; made < 19; made += 1) {
    const asked = await ask(browser, '/sign-in/passkeys/start');
    expect(asked['excludeCredentials']).toMatchObject(ids.map(id => ({ type: 'public-key', id })));
    const authenticator = await createAuthenticator();
    ids.push(authenticator.id);
    const answer = await authenticator.add(asked, NAMED);
    expect((await browser.post('/sign-in/passkeys', { answer })).status).toBe(303);
  }
  const both = [
    await add(browser, await createAuthenticator()),
    await add(await signedIn(portico, token), await createAuthenticator()),
  ];
  const statuses = await Promise.all(both.map(finish => finish()));
  expect(statuses.toSorted()).toEqual([303, 409]);
  expect((await browser.post('/sign-in/passkeys/start', {})).status).toBe(409);
});

it('[ACC-7] requires a discoverable key with user verification, and names nobody', async () => {
  const { id, token } = await createToken(portico, { name: 'Ada' });
  const browser = await signedIn(portico, token);
  expect(await ask(browser, '/sign-in/passkeys/start')).toMatchObject({
    rp: { id: 'localhost' },
    user: { id: btoa(await principalOf(id)).replaceAll('=', ''), name: 'Ada' },
    pubKeyCredParams: [-7, -8, -257].map(alg => ({ type: 'public-key', alg })),
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  await passkeyOf(portico, token);
  const asked = await ask(openBrowser(portico), '/sign-in/passkey/start');
  expect(asked).toEqual({
    challenge: asked.challenge,
    rpId: 'localhost',
    timeout: 300_000,
    userVerification: 'required',
    allowCredentials: [],
  });
});

it('[ACC-7] is offered only at a host with a name', async () => {
  const byAddress = createPortico();
  const { token } = await createToken(byAddress);
  const browser = createBrowser(byAddress);
  expect(await (await browser.get('/sign-in')).text()).not.toContain('passkey/start');
  expect((await browser.post('/sign-in/passkey/start', {})).status).toBe(403);
  await browser.post('/sign-in', { code: token });
  expect(await (await browser.get('/sign-in')).text()).not.toContain('/sign-in/passkeys');
  expect(await (await browser.get('/sign-in/passkeys')).text()).toContain('host with a name');
  expect((await browser.post('/sign-in/passkeys/start', {})).status).toBe(403);
  const named = await openBrowser(portico).get('/sign-in');
  expect(await named.text()).toMatch(/data-start="\/sign-in\/passkey\/start"\s+hidden/);
});
