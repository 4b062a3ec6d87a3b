/** `/connect/{server}`: an account goes to whoever is signed in with that browser, wherever they got the link. */
import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { createBrowser } from '../support/browser.ts';
import { createPerson, type Person } from '../support/call-rows.ts';
import { FakeServer, serve } from '../support/fake-server.ts';
import { signIn } from '../support/oauth-client.ts';
import { createPortico, registerConnected } from '../support/portico.ts';

const portico = createPortico();
const github = new FakeServer({ sessionful: false });
const other = new FakeServer({ sessionful: false });
let ada: Person;
let bob: Person;

const rows = async () =>
  (
    await env.DB.prepare('SELECT principal_id FROM accounts').all<{ principal_id: string }>()
  ).results.map(({ principal_id: id }) => id);

beforeAll(async () => {
  serve({ github, other });
  await registerConnected(portico, 'github', { accounts: 'per_principal' });
  await registerConnected(portico, 'other');
});
beforeEach(async () => {
  serve({ github, other });
  await env.DB.prepare('DELETE FROM accounts').run();
  ada = await createPerson(portico, { name: 'Ada' });
  bob = await createPerson(portico, { name: 'Bob' });
});

it('[UP-4] [ACC-8] accepts a token of the signed-in person, and shows it to nobody', async () => {
  const browser = await signIn(portico, ada.token);
  const page = await (await browser.get('/connect/github')).text();
  expect(page).toContain('Connect your account at github');
  expect(page).toContain('<strong>Ada</strong>');
  const answer = await browser.post('/connect/github', { token: ' token-of-ada ' });
  const text = await answer.text();
  expect([answer.status, text.includes('Connected'), text.includes('token-of-ada')]).toEqual([
    200,
    true,
    false,
  ]);
  expect(await rows()).toEqual([ada.principalId]);
});

it('[UP-4] [ACC-8] opened with another’s link connects nothing for that person: the link names nobody', async () => {
  const browser = await signIn(portico, bob.token);
  await browser.post('/connect/github', { token: 'token-of-bob' });
  expect(await rows()).toEqual([bob.principalId]);
});

it("[UP-4] [ACC-8] requires a sign-in first, and a form of the gateway's own page", async () => {
  const stranger = createBrowser(portico);
  const asked = await stranger.get('/connect/github');
  expect([asked.status, asked.headers.get('location')]).toEqual([
    303,
    '/sign-in?return=%2Fconnect%2Fgithub',
  ]);
  expect((await stranger.post('/connect/github', { token: 'x' })).status).toBe(403);
  const browser = await signIn(portico, ada.token);
  const foreign = await browser.post(
    '/connect/github',
    { token: 'x' },
    { origin: 'https://evil.example' },
  );
  expect(foreign.status).toBe(403);
  const empty = await browser.post('/connect/github', { token: '' });
  expect([empty.status, (await empty.text()).includes('This is not a token')]).toEqual([422, true]);
  expect(await rows()).toEqual([]);
});

it('[UP-4] [ACC-8] [ACC-3] treats a server that the person may not use, or that takes no accounts, as unknown', async () => {
  const narrow = await createPerson(portico, { servers: ['other'] });
  const browser = await signIn(portico, narrow.token);
  const hidden = await browser.get('/connect/github');
  const unknown = await browser.get('/connect/nothing');
  const shared = await browser.get('/connect/other');
  const text = await hidden.text();
  expect([hidden.status, text]).toEqual([404, await unknown.text()]);
  expect([shared.status, await shared.text()]).toEqual([404, text]);
  expect((await browser.post('/connect/github', { token: 'x' })).status).toBe(404);
  const readers = await createPerson(portico, { scopes: ['tools:read'] });
  const reading = await signIn(portico, readers.token);
  expect((await reading.post('/connect/github', { token: 'x' })).status).toBe(403);
  expect(await rows()).toEqual([]);
});

it('[ACC-3] [ACC-8] is about servers that the token of the sign-in may use, whatever its principal may', async () => {
  const closed = createPortico({ PORTICO_POSTURE: 'closed' });
  const pageFor = async ({ token }: Person) =>
    (await (await signIn(closed, token)).get('/connect/github')).status;
  const admin = await createPerson(closed, { scopes: ['admin'] });
  expect(await pageFor(admin)).toBe(200);
  const body = { name: 'Eve', scopes: ['admin'] };
  const made = await closed.api('POST', '/api/v1/principals', body);
  const { id: principal } = await made.json<{ id: string }>();
  expect(await pageFor(await createPerson(closed, { principal, scopes: ['admin'] }))).toBe(200);
  expect(await pageFor(await createPerson(closed, { principal }))).toBe(404);
});
