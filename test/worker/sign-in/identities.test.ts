/** An identity counts until it expires: for the groups of its principal, and for those who signed in by it. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { AdminAudit } from '../../../src/audit/admin-audit.ts';
import { findRecord } from '../../../src/records/record-store.ts';
import { GITHUB_ISSUER } from '../../../src/sign-in/github/github-client.ts';
import { identify } from '../../../src/sign-in/identities/identify.ts';
import { PROVIDERS } from '../../../src/sign-in/providers/providers-store.ts';
import { createBrowser } from '../support/browser.ts';
import { addIdentity } from '../support/identities.ts';
import { createPortico, createToken, register } from '../support/portico.ts';

const portico = createPortico();

interface Explained {
  groups: string[];
}

const later = () => Date.now() + 3_600_000;
const statement = (sql: string, ...values: unknown[]) => env.DB.prepare(sql).bind(...values);

it('[ACC-7] [ACC-2] adds its groups to those given by hand, as long as it counts', async () => {
  const made = await portico.api('POST', '/api/v1/principals', { name: 'Ada', groups: ['hand'] });
  const { id: principal } = await made.json<{ id: string }>();
  const { id: token } = await createToken(portico, { principal });
  const { id: server } = await register(portico, 'explained', { auto_connect: false });
  const groupsOf = async (whose: object) => {
    const asked = { ...whose, server, tool: 'x' };
    const answer = await portico.api('POST', '/api/v1/access/explain', asked);
    expect(answer.status).toBe(200);
    return (await answer.json<Explained>()).groups.toSorted();
  };
  const view = async () =>
    (await portico.api('GET', `/api/v1/principals/${principal}`)).json<object>();
  const members = async (group: string) => {
    const answer = await portico.api('GET', `/api/v1/principals?group=${group}`);
    return (await answer.json<{ total: number }>()).total;
  };
  const identity = await addIdentity(principal, ['claimed', 'hand']);
  expect(await groupsOf({ token })).toEqual(['claimed', 'hand']);
  expect(await groupsOf({ principal })).toEqual(['claimed', 'hand']);
  expect(await view()).toMatchObject({ groups: ['hand'], claimed_groups: ['claimed', 'hand'] });
  expect([await members('claimed'), await members('hand')]).toEqual([1, 1]);
  const groups = await (await portico.api('GET', '/api/v1/groups')).json<object>();
  expect(groups).toMatchObject({
    groups: [
      { name: 'claimed', members: 1 },
      { name: 'hand', members: 1 },
    ],
  });
  await portico.api('PATCH', `/api/v1/principals/${principal}`, { groups: [] });
  expect(await groupsOf({ token })).toEqual(['claimed', 'hand']);
  await statement('UPDATE identities SET expires_at = ? WHERE id = ?', Date.now(), identity).run();
  expect([await groupsOf({ token }), await groupsOf({ principal })]).toEqual([[], []]);
  expect(await view()).toMatchObject({ claimed_groups: [] });
  expect(await members('claimed')).toBe(0);
});

it('[ACC-7] ends sign-ins by it when it expires or is deleted, and their grants', async () => {
  const made = await portico.api('POST', '/api/v1/principals', { name: 'Bo' });
  const { id: principal } = await made.json<{ id: string }>();
  const identities = [await addIdentity(principal, []), await addIdentity(principal, [])];
  const browsers = await Promise.all(
    identities.map(async identity => {
      const invited = await portico.api('POST', '/api/v1/invitations', { principal });
      const { id, code } = await invited.json<{ id: string; code: string }>();
      const browser = createBrowser(portico);
      expect((await browser.post('/sign-in', { code })).status).toBe(303);
      const row = await statement(
        "SELECT subject FROM audit_events WHERE token_id = ? AND action = 'sign_in.create'",
        id,
      ).first<{ subject: string }>();
      await statement(
        'UPDATE sign_ins SET identity_id = ? WHERE id = ?',
        identity,
        row?.subject,
      ).run();
      await statement(
        `INSERT INTO oauth_grants (id, client_id, name, principal_id, identity_id, audience, scopes, created_at, expires_at)
         VALUES (?1, 'c', 'c', ?2, ?1, 'https://x', '[]', 0, 9000000000000000)`,
        identity,
        principal,
      ).run();
      return browser;
    }),
  );
  const seen = () =>
    Promise.all(
      browsers.map(async browser =>
        (await (await browser.get('/sign-in')).text()).includes('<strong>Bo</strong>'),
      ),
    );
  expect(await seen()).toEqual([true, true]);
  await statement(
    'UPDATE identities SET expires_at = ? WHERE id = ?',
    Date.now(),
    identities[0],
  ).run();
  expect(await seen()).toEqual([false, true]);
  const deleted = await portico.api('DELETE', `/api/v1/identities/${identities[1]}`);
  expect([deleted.status, await seen()]).toEqual([204, [false, false]]);
  const until = later();
  await statement('UPDATE identities SET expires_at = ? WHERE id = ?', until, identities[0]).run();
  const left = await statement(
    'SELECT id, ends_at FROM oauth_grants WHERE principal_id = ?',
    principal,
  ).all();
  expect(left.results).toEqual([{ id: identities[0], ends_at: until }]);
});

it.each([
  'https://accounts.google.com',
  'https://accounts.google.com/',
  'https://gitlab.com',
  'https://appleid.apple.com',
  'https://api.login.yahoo.com',
  'https://id.twitch.tv/oauth2',
  'https://slack.com',
  'https://www.linkedin.com/oauth',
  'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
])('[ACC-7] %s, open to everybody, lets nobody in just for an account', async issuer => {
  const add = async (more: object) => {
    const name = crypto.randomUUID();
    const body = { name, issuer, client_id: 'portico', creates_principals: true, ...more };
    const answer = await portico.api('POST', '/api/v1/sign-in-providers', body);
    const { id } = await answer.json<{ id?: string }>();
    if (id) await portico.api('DELETE', `/api/v1/sign-in-providers/${id}`);
    return answer.status;
  };
  expect(await add({})).toBe(422);
  expect(await add({ creates_principals: false })).toBe(201);
  expect(await add({ required_claims: { hd: ['acme.com'] } })).toBe(201);
});

it('[ACC-7] that an administrator created is found if the provider writes its issuer with a slash', async () => {
  const made = await portico.api('POST', '/api/v1/sign-in-providers', {
    name: 'Slash',
    issuer: 'https://slash.example.com',
    client_id: 'gateway',
    creates_principals: true,
  });
  const { id } = await made.json<{ id: string }>();
  const person = await portico.api('POST', '/api/v1/principals', { name: 'Cy' });
  const { id: principal } = await person.json<{ id: string }>();
  const link = { provider: id, subject: 'cy', principal };
  expect((await portico.api('POST', '/api/v1/identities', link)).status).toBe(201);
  const provider = await findRecord(env.DB, PROVIDERS, id);
  if (!provider) throw new Error('There is no provider');
  const ports = { db: env.DB, adminAudit: new AdminAudit(env.DB) };
  const proven = { issuer: 'https://slash.example.com/', subject: 'cy', claims: {} };
  const coming = { action: 'sign_in.create', isWhole: true } as const;
  expect(await identify(ports, provider, proven, coming)).toMatchObject({
    principal_id: principal,
  });
  const other = { ...proven, subject: 'di' };
  const { principal_id: own } = await identify(ports, provider, other, coming);
  expect(await identify(ports, provider, other, coming)).toMatchObject({ principal_id: own });
  const again = await portico.api('POST', '/api/v1/identities', { ...link, subject: 'di' });
  expect(again.status).toBe(409);
});

it('[ACC-7] of GitHub need its secret, after an edit too', async () => {
  const github = { kind: 'github', issuer: GITHUB_ISSUER, name: 'GitHub', client_id: 'app' };
  const path = '/api/v1/sign-in-providers';
  expect((await portico.api('POST', path, github)).status).toBe(422);
  const made = await portico.api('POST', path, { ...github, client_secret: 'GITHUB_SECRET' });
  const { id } = await made.json<{ id: string }>();
  const edited = await portico.api('PATCH', `${path}/${id}`, { client_secret: null });
  expect(edited.status).toBe(422);
});

it.each(['https://accounts.google.com', 'https://Accounts.Google.com:443/'])(
  '[ACC-7] at %s are not let in without a required claim',
  async issuer => {
    const open = { name: 'Anybody', issuer, client_id: 'gateway', creates_principals: true };
    const made = await portico.api('POST', '/api/v1/sign-in-providers', open);
    expect([made.status, (await made.text()).includes('required_claims')]).toEqual([422, true]);
  },
);
