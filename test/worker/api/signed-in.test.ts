/** The API for pages of the gateway: a signed-in browser has the rights of the credential that it signed in with. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { createPerson, type Person } from '../support/call-rows.ts';
import type { Browser } from '../support/browser.ts';
import { pass } from '../support/clock.ts';
import { FakeServer, serve } from '../support/fake-server.ts';
import { signIn } from '../support/oauth-client.ts';
import { createPortico, modern, ORIGIN, registerConnected } from '../support/portico.ts';

const portico = createPortico();
const PAGE = { 'sec-fetch-site': 'same-origin' };
const READ = [
  '/api/v1/tools',
  '/api/v1/accounts',
  '/api/v1/principals',
  '/api/v1/aggregator/servers',
  '/api/v1/audit',
  '/api/v1/grants',
  '/api/v1/tokens',
  '/api/v1/approvals',
];
let ada: Person;

beforeAll(async () => {
  serve({ notes: new FakeServer(), other: new FakeServer() });
  await registerConnected(portico, 'notes');
  await registerConnected(portico, 'other');
  ada = await createPerson(portico, { name: 'Ada' });
});
afterEach(() => {
  vi.useRealTimers();
});

const ask = ({ cookie }: Browser, path: string, init: RequestInit = {}) =>
  portico.fetch(path, { ...init, headers: { cookie, ...PAGE, ...init.headers } });
const post = (browser: Browser, body: object, headers: Record<string, string>) =>
  ask(browser, '/api/v1/tools/call', {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });

it.each([
  ['a member', {}],
  ['an administrator', { scopes: ['admin', 'tools:read', 'tools:call'] }],
  ['who signed in by a token of one server', { servers: ['notes'] }],
  ['who may only read', { scopes: ['tools:read'] }],
])('[ACC-1] [ACC-7] shows %s what their token shows, at every route', async (_name, more) => {
  const person = await createPerson(portico, more);
  const browser = await signIn(portico, person.token);
  for (const path of READ) {
    const byCookie = await ask(browser, path);
    const byToken = await portico.api('GET', path, undefined, { token: person.token });
    expect([path, byCookie.status, await byCookie.text()]).toEqual([
      path,
      byToken.status,
      await byToken.text(),
    ]);
  }
});

it('[ACC-7] serves requests of our own pages', async () => {
  serve({ notes: new FakeServer() });
  const browser = await signIn(portico, ada.token);
  const body = { name: 'notes.echo', arguments: { a: 1 } };
  const answer = await post(browser, body, { origin: ORIGIN });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"a')]);
});

it('[ACC-7] [SEC-4] accepts the cookie from no page of another origin', async () => {
  const browser = await signIn(portico, ada.token);
  const read = (headers: Record<string, string>) =>
    portico.fetch('/api/v1/tools', { headers: { cookie: browser.cookie, ...headers } });
  for (const site of ['cross-site', 'same-site', 'none', '']) {
    expect((await read({ 'sec-fetch-site': site })).status).toBe(401);
  }
  expect((await read({})).status).toBe(401);
  const body = { name: 'notes.echo' };
  expect((await post(browser, body, {})).status).toBe(401);
  expect((await post(browser, body, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await post(browser, body, { origin: 'null' })).status).toBe(403);
});

it('[ACC-7] does not accept the cookie as a token, beside a token, or at /mcp', async () => {
  const browser = await signIn(portico, ada.token);
  const value = browser.cookie.slice(browser.cookie.indexOf('=') + 1);
  const asToken = await portico.api('GET', '/api/v1/tools', undefined, { token: value });
  expect(asToken.status).toBe(401);
  const beside = await ask(browser, '/api/v1/tools', { headers: { authorization: 'Bearer x' } });
  expect(beside.status).toBe(401);
  const { message, headers } = modern('tools/list');
  const sent = { token: null, headers: { ...headers, cookie: browser.cookie, ...PAGE } };
  expect((await portico.post(message, sent)).status).toBe(401);
});

it('[ACC-1] [ACC-7] ends at once where a sign-in is deleted', async () => {
  const person = await createPerson(portico, {});
  const browser = await signIn(portico, person.token);
  const status = async () => (await ask(browser, '/api/v1/tools')).status;
  expect(await status()).toBe(200);
  const listed = await ask(browser, '/api/v1/sign-ins');
  const { sign_ins: all } = await listed.json<{ sign_ins: { id: string }[] }>();
  expect(all).toHaveLength(1);
  expect((await portico.api('DELETE', `/api/v1/sign-ins/${all[0]?.id}`)).status).toBe(204);
  expect(await status()).toBe(401);
});

it('[ACC-1] [ACC-7] ends with the sign-in, with its token and with its expiry', async () => {
  const status = async (browser: Browser) => (await ask(browser, '/api/v1/tools')).status;
  const person = await createPerson(portico, {});
  const out = await signIn(portico, person.token);
  const revoked = await signIn(portico, person.token);
  expect([await status(out), await status(revoked)]).toEqual([200, 200]);
  const { cookie } = out;
  await out.post('/sign-out', {});
  out.cookie = cookie;
  pass(1_100);
  expect([await status(out), await status(revoked)]).toEqual([401, 200]);
  const late = await signIn(portico, ada.token);
  pass(13 * 3_600_000);
  expect(await status(late)).toBe(401);
  vi.useRealTimers();
  await env.DB.prepare('DELETE FROM tokens WHERE principal_id = ?').bind(person.principalId).run();
  pass(3_000);
  expect(await status(revoked)).toBe(401);
});
