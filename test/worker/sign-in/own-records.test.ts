/** People see and end their own passkeys and sign-ins: those that belong to the credential of the request, and nothing of others. */
import { beforeAll, expect, it } from 'vitest';
import type { Browser } from '../support/browser.ts';
import { NAMED, createNamed, passkeyOf, shownIn, signedIn } from '../support/passkeys.ts';
import {
  allow,
  authorizePath,
  createClient,
  redeem,
  type TokenAnswer,
} from '../support/oauth-client.ts';
import { createToken } from '../support/portico.ts';
import { createRecords } from '../support/records.ts';

const portico = createNamed();
const principals = createRecords<{ id: string }>(portico, '/api/v1/principals');
const KINDS = [
  ['passkeys', 'passkeys'],
  ['sign-ins', 'sign_ins'],
] as const;

interface Row {
  id: string;
  token: string | null;
  principal: string;
}

let ada: { id: string };
/** Two tokens of one person. */
let [strong, weak] = [
  { id: '', token: '' },
  { id: '', token: '' },
];
let stranger = { id: '', token: '' };
/** A browser of the same person, signed in by an invitation. */
let invited: Browser;

const tokenOf = (scopes: string[], more: object = {}) =>
  createToken(portico, { principal: ada.id, scopes, ...more });
const invite = async () => {
  const answer = await portico.api('POST', '/api/v1/invitations', { principal: ada.id });
  return (await answer.json<{ code: string }>()).code;
};

beforeAll(async () => {
  ada = await principals.create({ name: 'Ada' });
  strong = await tokenOf(['tools:read', 'tools:call', 'servers:write']);
  weak = await tokenOf(['tools:read']);
  stranger = await createToken(portico, { name: 'Bo', scopes: ['tools:read'] });
  invited = await signedIn(portico, await invite());
  const codes = [strong.token, weak.token, stranger.token, await invite()];
  for (const code of codes) await passkeyOf(portico, code);
});

async function ask(token: string, method: string, path: string) {
  const answer = await portico.api(method, `/api/v1/${path}`, undefined, { token });
  const text = await answer.text();
  const json = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  return { status: answer.status, json };
}

/** A request as from a page of the gateway in a browser. */
async function askIn({ cookie }: Browser, method: string, path: string) {
  const headers = { cookie, origin: NAMED, 'sec-fetch-site': 'same-origin' };
  const answer = await portico.fetch(`/api/v1/${path}`, { method, headers });
  const text = await answer.text();
  const json = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  return { status: answer.status, json };
}
const rowsOf = ({ json }: { json: Record<string, unknown> }, member: string) =>
  json[member] as Row[];
const allOf = async (path: string, member: string) =>
  rowsOf({ json: await (await portico.api('GET', `/api/v1/${path}?limit=200`)).json() }, member);

it.each(KINDS)('[ACC-7] [ACC-9] %s: a token shows those created with it', async (path, member) => {
  for (const { id, token } of [strong, weak, stranger]) {
    const { status, json } = await ask(token, 'GET', path);
    expect(status).toBe(200);
    const rows = rowsOf({ json }, member);
    expect(rows.map(row => row.token)).toEqual([id]);
    expect(json['total']).toBe(1);
  }
});

it.each(KINDS)('[ACC-7] [ACC-9] %s: those of others look unknown', async (path, member) => {
  const all = await allOf(path, member);
  const own = all.find(row => row.token === weak.id);
  const others = all.filter(row => row.token !== weak.id);
  expect(others.length).toBeGreaterThan(2);
  expect((await ask(weak.token, 'GET', `${path}/${own?.id}`)).status).toBe(200);
  const missing = await ask(weak.token, 'GET', `${path}/${crypto.randomUUID()}`);
  for (const { id } of others) {
    const found = await ask(weak.token, 'GET', `${path}/${id}`);
    expect([found.status, found.json['detail']]).toEqual([404, missing.json['detail']]);
    expect((await ask(weak.token, 'DELETE', `${path}/${id}`)).status).toBe(404);
  }
  // Also not by naming the principal.
  const query = `?principal=${others.find(row => row.principal !== ada.id)?.principal}`;
  expect(rowsOf(await ask(weak.token, 'GET', path + query), member)).toEqual([]);
  expect(await allOf(path, member)).toEqual(all);
});

it.each(KINDS)(
  '[ACC-7] %s: a browser without a token shows those of its person without one',
  async (path, member) => {
    const { status, json } = await askIn(invited, 'GET', path);
    expect(status).toBe(200);
    const rows = rowsOf({ json }, member);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every(row => row.token === null && row.principal === ada.id)).toBe(true);
    const without = (await allOf(path, member)).filter(
      row => row.token === null && row.principal === ada.id,
    );
    expect(rows).toHaveLength(without.length);
  },
);

it('[ACC-7] [ACC-9] the page of passkeys shows and removes those of the sign-in only', async () => {
  const idsIn = async (browser: Browser) => {
    const page = await (await browser.get('/sign-in/passkeys')).text();
    return [...page.matchAll(/name="id" value="([^"]+)"/g)].map(([, id]) => id);
  };
  const all = await allOf('passkeys', 'passkeys');
  const own = all.find(row => row.token === weak.id)?.id;
  const other = all.find(row => row.token === strong.id)?.id ?? '';
  const without = all.find(row => row.token === null && row.principal === ada.id)?.id;
  const browser = await signedIn(portico, weak.token);
  expect([await idsIn(browser), await idsIn(invited)]).toEqual([[own], [without]]);
  for (const at of [browser, invited]) {
    const refused = await at.post('/sign-in/passkeys/remove', { id: other });
    expect(refused.status).toBe(404);
  }
  expect(await allOf('passkeys', 'passkeys')).toEqual(all);
});

it.each(KINDS)('[ACC-9] %s: not for limits, nor without a tool scope', async path => {
  const limited = await tokenOf(['tools:read'], { tools: ['*.get_*'] });
  const other = await tokenOf(['servers:read']);
  for (const { token } of [limited, other]) {
    expect((await ask(token, 'GET', path)).status).toBe(403);
    expect((await ask(token, 'GET', `${path}/x`)).status).toBe(403);
    expect((await ask(token, 'DELETE', `${path}/x`)).status).toBe(403);
  }
});

it('[ACC-7] an authorized program sees none', async () => {
  const clientId = await createClient();
  const allowed = await allow(
    await signedIn(portico, weak.token),
    authorizePath(clientId, { resource: NAMED }),
  );
  const redeemed = await redeem(portico, clientId, allowed.get('code') ?? '');
  expect(redeemed.status).toBe(200);
  const { access_token: token } = await redeemed.json<TokenAnswer>();
  for (const [path, member] of KINDS) {
    const { status, json } = await ask(token, 'GET', path);
    expect([status, json[member]]).toEqual([200, []]);
  }
});

it('[ACC-7] ends a sign-in, and deletes a passkey with the sign-ins by it', async () => {
  const mine = await tokenOf(['tools:read']);
  const browser = await signedIn(portico, mine.token);
  expect(await shownIn(browser)).toBe('Ada');
  const [signIn] = rowsOf(await ask(mine.token, 'GET', 'sign-ins'), 'sign_ins');
  expect((await ask(mine.token, 'DELETE', `sign-ins/${signIn?.id}`)).status).toBe(204);
  expect(await shownIn(browser)).toBeUndefined();
  await passkeyOf(portico, mine.token);
  const [passkey] = rowsOf(await ask(mine.token, 'GET', 'passkeys'), 'passkeys');
  expect((await ask(mine.token, 'DELETE', `passkeys/${passkey?.id}`)).status).toBe(204);
  expect(rowsOf(await ask(mine.token, 'GET', 'passkeys'), 'passkeys')).toEqual([]);
  const row = await portico.api(
    'GET',
    `/api/v1/audit?action=passkey.delete&subject=${passkey?.id}`,
  );
  expect(await row.json()).toMatchObject({
    events: [{ action: 'passkey.delete', outcome: 'done', token: mine.id }],
  });
});
