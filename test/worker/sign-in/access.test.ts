/**
 * Cloudflare Access in front of the gateway: its assertion about a person counts only if it is signed, meant for this gateway, and current.
 */
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { toBase64Url } from '../../../src/shared/crypto/base64url.ts';
import { createBrowser } from '../support/browser.ts';
import { pass } from '../support/clock.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import { createPortico, modern, type Portico } from '../support/portico.ts';

const TEAM = 'https://acme.cloudflareaccess.com';
const APPLICATION = '4714c1358e65fe4b408ad6d432a5f878f08194bdb4752441fd56faefa9b2b6f2';
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
};

let keys: CryptoKeyPair;
let others: CryptoKeyPair;
let portico: Portico;

const toPart = (value: unknown) => toBase64Url(new TextEncoder().encode(JSON.stringify(value)));
const seconds = () => Math.floor(Date.now() / 1000);

interface Forged {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  key?: CryptoKey;
}

/** The assertion that Access sends with a request. */
async function assertion({ claims, header, key = keys.privateKey }: Forged = {}): Promise<string> {
  const said = {
    iss: TEAM,
    aud: [APPLICATION],
    sub: '7335d417-61da-459d-899c-0a01c76a2f94',
    email: 'ada@acme.example',
    type: 'app',
    iat: seconds(),
    nbf: seconds(),
    exp: seconds() + 600,
    custom: { groups: ['Engineering'] },
    ...claims,
  };
  const signed = `${toPart({ alg: 'RS256', kid: 'k1', ...header })}.${toPart(said)}`;
  const signature = await crypto.subtle.sign(RSA.name, key, new TextEncoder().encode(signed));
  return `${signed}.${toBase64Url(new Uint8Array(signature))}`;
}

const visit = (assertionText: string, path = '/sign-in') =>
  portico.fetch(path, { headers: { 'cf-access-jwt-assertion': assertionText } });
const count = async (table: string) =>
  (await env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<{ n: number }>())?.n;

beforeAll(async () => {
  [keys, others] = (await Promise.all([
    crypto.subtle.generateKey(RSA, true, ['sign', 'verify']),
    crypto.subtle.generateKey(RSA, true, ['sign', 'verify']),
  ])) as [CryptoKeyPair, CryptoKeyPair];
});

beforeEach(async () => {
  portico = createPortico();
  await env.DB.batch(
    ['sign_ins', 'identities', 'sign_in_providers'].map(table =>
      env.DB.prepare(`DELETE FROM ${table}`),
    ),
  );
  const jwk = (await crypto.subtle.exportKey('jwk', keys.publicKey)) as JsonWebKey;
  const shown = { ...jwk, kid: 'k1', alg: 'RS256', use: 'sig' };
  fakeUpstreams({ [TEAM]: () => Response.json({ keys: [shown] }) });
});

afterEach(() => {
  vi.useRealTimers();
});

async function setUp(more: object = {}): Promise<void> {
  const made = await portico.api('POST', '/api/v1/sign-in-providers', {
    name: 'Access',
    kind: 'access',
    issuer: TEAM,
    client_id: APPLICATION,
    groups_claim: 'custom.groups',
    group_map: { Engineering: 'eng' },
    creates_principals: true,
    ...more,
  });
  expect(made.status).toBe(201);
}

it('[ACC-7] signs in a person whom Access let through, once per browser, and redirects', async () => {
  await setUp();
  const path = '/authorize?client_id=x';
  const answer = await visit(
    await assertion(),
    `/sign-in?${new URLSearchParams({ return: path })}`,
  );
  expect([answer.status, answer.headers.get('refresh')]).toEqual([200, `0; url=${path}`]);
  expect(await answer.text()).toContain('ada@acme.example');
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const browser = createBrowser(portico);
  browser.cookie = cookie;
  expect(await (await browser.get('/sign-in')).text()).toContain('You are signed in');
  const listed = await portico.api('GET', '/api/v1/identities');
  const { identities } = await listed.json<{ identities: object[] }>();
  expect(identities).toMatchObject([{ issuer: TEAM, groups: ['eng'] }]);
  await visit(await assertion());
  expect(await count('identities')).toBe(1);
});

it('[ACC-7] has no button, and has no effect if nobody set it up', async () => {
  const before = await visit(await assertion());
  expect([before.headers.get('set-cookie'), await count('sign_ins')]).toEqual([null, 0]);
  await setUp();
  const page = await (await portico.fetch('/sign-in')).text();
  expect(page).not.toContain('/sign-in/start');
});

it.each<[string, () => Promise<string>]>([
  ['another team', () => assertion({ claims: { iss: 'https://evil.cloudflareaccess.com' } })],
  ['a team that only begins alike', () => assertion({ claims: { iss: `${TEAM}.evil.example` } })],
  ['another application', () => assertion({ claims: { aud: ['x'] } })],
  ['no application', () => assertion({ claims: { aud: [] } })],
  ['an earlier time', () => assertion({ claims: { exp: seconds() - 61 } })],
  ['no end', () => assertion({ claims: { exp: undefined } })],
  ['a later time', () => assertion({ claims: { nbf: seconds() + 120 } })],
  ['the future', () => assertion({ claims: { iat: seconds() + 120 } })],
  ['nobody: a service token', () => assertion({ claims: { sub: '', common_name: 'x.access' } })],
  ['another kind', () => assertion({ claims: { type: 'org' } })],
  ['another key', () => assertion({ key: others.privateKey })],
  ['a key that is not shown', () => assertion({ header: { kid: 'k2' } })],
  ['no algorithm', () => assertion({ header: { alg: 'none' } })],
  ['a symmetric algorithm', () => assertion({ header: { alg: 'HS256' } })],
  ['another algorithm', () => assertion({ header: { alg: 'PS256' } })],
  ['what must be understood', () => assertion({ header: { crit: ['exp'] } })],
  ['no signature', async () => (await assertion()).replace(/[^.]+$/, '')],
  [
    'changed claims',
    async () => {
      const [head = '', , tail = ''] = (await assertion()).split('.');
      return [head, toPart({ iss: TEAM, aud: [APPLICATION], sub: 'eve' }), tail].join('.');
    },
  ],
  ['no token', async () => 'x'],
  ['too much', async () => `${await assertion()}${'x'.repeat(20_000)}`],
])('[ACC-7] is not accepted with %s', async (_what, forge) => {
  await setUp();
  const answer = await visit(await forge());
  expect(answer.status).toBe(403);
  expect([answer.headers.get('set-cookie'), await count('sign_ins')]).toEqual([null, 0]);
  expect(await count('identities')).toBe(0);
});

it('[ACC-7] is no credential for clients', async () => {
  await setUp();
  const { message, headers } = modern('tools/list');
  const access = { 'cf-access-jwt-assertion': await assertion() };
  const called = await portico.post(message, { token: null, headers: { ...headers, ...access } });
  expect(called.status).toBe(401);
});

it('[ACC-7] [SEC-4] does not cause a read per visit while the keys of Access cannot be read', async () => {
  await setUp();
  const answers = [
    () => new Response('no', { status: 502 }),
    () => Promise.reject(new Error('down')),
  ];
  for (const answer of answers) {
    const seen = fakeUpstreams({ [TEAM]: answer });
    for (let visits = 0; visits < 5; visits += 1) {
      expect((await visit(await assertion())).ok).toBe(false);
    }
    expect(seen).toHaveLength(1);
    pass(10_000);
  }
  const jwk = await crypto.subtle.exportKey('jwk', keys.publicKey);
  fakeUpstreams({ [TEAM]: () => Response.json({ keys: [{ ...jwk, kid: 'k1' }] }) });
  expect((await visit(await assertion())).status).toBe(200);
});

it('[ACC-7] [ACC-1] ends with its provider', async () => {
  await setUp();
  const answer = await visit(await assertion());
  const browser = createBrowser(portico);
  browser.cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  expect((await portico.api('DELETE', '/api/v1/sign-in-providers/Access')).status).toBe(204);
  expect(await (await browser.get('/sign-in')).text()).toContain('name="code"');
});
