/** What a remembered consent is worth: for whom it counts, and what pages that open `/authorize` without the person can do with it. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import {
  allow,
  authorizePath,
  CALLBACK,
  connect,
  createClient,
  redeem,
  refresh,
  signIn,
} from '../support/oauth-client.ts';
import { createPortico, createToken } from '../support/portico.ts';

const portico = createPortico();

it('[ACC-5] [ACC-9] needs another consent by another token of the same person', async () => {
  const made = await portico.api('POST', '/api/v1/principals', { name: 'Ada' });
  const { id: principal } = await made.json<{ id: string }>();
  const weak = await createToken(portico, { principal, tools: ['*.get_*'] });
  const strong = await createToken(portico, { principal });
  const clientId = await createClient();
  const asks = async ({ token }: { token: string }) =>
    (await (await signIn(portico, token)).get(authorizePath(clientId))).status === 200;
  await allow(await signIn(portico, weak.token), authorizePath(clientId));
  expect([await asks(weak), await asks(strong)]).toEqual([false, true]);
  // A code that is never redeemed leaves the consent, but not the grant.
  await portico.api('DELETE', `/api/v1/tokens/${weak.id}`);
  expect(await asks(strong)).toBe(true);
});

it('[ACC-5] [ACC-9] counts for what was allowed with that token, and for the address it was given to', async () => {
  const made = await portico.api('POST', '/api/v1/principals', { name: 'Bo' });
  const { id: principal } = await made.json<{ id: string }>();
  const weak = await createToken(portico, { principal, tools: ['*.get_*'] });
  const strong = await createToken(portico, { principal });
  const other = 'https://program.example.com/other';
  const clientId = await createClient(undefined, [CALLBACK, other]);
  const read = authorizePath(clientId, { scope: 'tools:read' });
  const more = authorizePath(clientId, { scope: 'tools:read tools:call' });
  const elsewhere = authorizePath(clientId, { scope: 'tools:read', redirect_uri: other });
  const asks = async (path: string) =>
    (await (await signIn(portico, strong.token)).get(path)).status === 200;
  await allow(await signIn(portico, strong.token), read);
  expect([await asks(read), await asks(more), await asks(elsewhere)]).toEqual([false, true, true]);
  for (const path of [more, elsewhere]) await allow(await signIn(portico, weak.token), path);
  expect([await asks(read), await asks(more), await asks(elsewhere)]).toEqual([false, true, true]);
});

it('[ACC-5] [ACC-9] keeps the grants of a strong token, however many a weak one makes', async () => {
  const made = await portico.api('POST', '/api/v1/principals', { name: 'Cy' });
  const { id: principal } = await made.json<{ id: string }>();
  const weak = await createToken(portico, { principal, tools: ['*.get_*'] });
  const strong = await createToken(portico, { principal });
  const clientId = await createClient();
  const tokens = await connect(portico, clientId, strong.token);
  const browser = await signIn(portico, weak.token);
  for (let more = 0; more < 51; more += 1) {
    const code = (await allow(browser, authorizePath(clientId))).get('code') ?? '';
    expect((await redeem(portico, clientId, code)).status).toBe(200);
  }
  expect((await refresh(portico, clientId, tokens.refresh_token)).status).toBe(200);
});

it('[ACC-5] [SEC-9] stays authorized if a browser is sent to the page again and again', async () => {
  const { token } = await createToken(portico);
  const clientId = await createClient();
  const tokens = await connect(portico, clientId, token);
  const browser = await signIn(portico, token);
  for (let visits = 0; visits < 51; visits += 1) await browser.get(authorizePath(clientId));
  const { n } = (await env.DB.prepare('SELECT count(*) AS n FROM oauth_grants WHERE client_id = ?')
    .bind(clientId)
    .first<{ n: number }>()) ?? { n: -1 };
  expect(n).toBe(51);
  expect((await refresh(portico, clientId, tokens.refresh_token)).status).toBe(200);
});
