/**
 * People sign in through OpenID providers written by others: `oidc-provider`, through its own pages, and `oauth2-mock-server`, which
 * falsifies one thing at a time; every falsification is refused.
 */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { Events, OAuth2Server } from 'oauth2-mock-server';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../../fixtures/start-fixture.ts';
import { createCookieBrowser, type CookieBrowser } from '../support/cookie-browser.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';

const PROVIDERS = '/api/v1/sign-in-providers';
const SECRET = 'a-client-secret-that-is-long-enough';
const COOKIE = 'portico-sign-in';

let gateway: Gateway;
const mock = new OAuth2Server();
let real: Server;
let realIssuer = '';
const ids: Record<string, string> = {};

async function addProvider(name: string, issuer: string, more: object = {}): Promise<void> {
  const body = { name, issuer, client_id: 'portico', creates_principals: true, ...more };
  const made = await gateway.api('POST', PROVIDERS, body);
  expect([made.text, made.status]).toEqual([made.text, 201]);
  ids[name] = String(made.json['id']);
}

beforeAll(async () => {
  gateway = await startGateway();
  await mock.issuer.keys.generate('RS256');
  await mock.start(0, '127.0.0.1');
  const port = await findFreePort();
  realIssuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(realIssuer, {
    clients: [
      {
        client_id: 'portico',
        client_secret: SECRET,
        redirect_uris: [`${gateway.origin}/sign-in/callback`],
      },
    ],
    claims: { openid: ['sub'], profile: ['name', 'groups'], email: ['email'] },
    conformIdTokenClaims: false,
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, name: `Ms ${id}`, groups: ['Platform Team', 'Lunch'] }),
    }),
  });
  real = provider.listen(port, '127.0.0.1');
  await once(real, 'listening');
  const secret = { value: SECRET, origins: [realIssuer] };
  await gateway.api('PUT', '/api/v1/secrets/SIGN_IN', secret);
  await addProvider('Real', realIssuer, {
    client_secret: 'SIGN_IN',
    groups_claim: 'groups',
    group_map: { 'Platform Team': 'platform' },
  });
  await addProvider('Mock', mock.issuer.url ?? '');
});

afterAll(async () => {
  real?.close();
  await mock.stop();
  await gateway?.stop();
});

const startOf = (name: string) => `${gateway.origin}/sign-in/start?provider=${ids[name]}`;
const isSignedIn = ({ cookies }: CookieBrowser) => cookies.get('127.0.0.1')?.has(COOKIE) ?? false;
const signIn = async (browser = createCookieBrowser()) => {
  const page = await browser.open(startOf('Mock'));
  return { browser, page };
};
const listOf = async <T>(path: string, key: string) =>
  (await gateway.api('GET', `/api/v1/${path}`)).json[key] as T[];

describe('oidc-provider', () => {
  it('[ACC-7] signs a person in through its own pages, with groups by the mapping', async () => {
    const browser = createCookieBrowser();
    const asked = await browser.open(
      `${gateway.origin}/sign-in?return=${encodeURIComponent('/connect/x?y=1')}`,
    );
    const link = /href="(\/sign-in\/start[^"]+)">Sign in with Real/.exec(
      asked.text.replaceAll(/\s+/g, ' ').replaceAll('" >', '">'),
    )?.[1];
    let page = await browser.open(`${gateway.origin}${link?.replaceAll('&amp;', '&')}`);
    for (const form of [{ prompt: 'login', login: 'ada', password: 'x' }, { prompt: 'consent' }]) {
      const action = /action="([^"]+)"/.exec(page.text)?.[1] ?? '';
      page = await browser.open(new URL(action, page.url).href, form);
    }
    expect(page.url).toBe(`${gateway.origin}/sign-in?return=%2Fconnect%2Fx%3Fy%3D1`);
    expect(page.text).toContain('signed in as <strong>Ms ada</strong>');
    expect(isSignedIn(browser)).toBe(true);
    const all = await listOf<{ issuer: string; principal: string }>('identities', 'identities');
    const identity = all.find(each => each.issuer === realIssuer);
    expect(identity).toMatchObject({ subject: 'ada', name: 'Ms ada', groups: ['platform'] });
    const principal = await gateway.api('GET', `/api/v1/principals/${identity?.principal}`);
    expect(principal.json).toMatchObject({ groups: [], claimed_groups: ['platform'] });
    const groups = await listOf<object>('groups', 'groups');
    expect(groups).toEqual([{ name: 'platform', members: 1, rules: 0 }]);
    const again = await createCookieBrowser().open(page.url);
    expect(again.text).toContain('name="code"');
  });
});

type Token = { header: Record<string, unknown>; payload: Record<string, unknown> };
const toPart = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');
const others = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** Rebuilds the ID token with other parts, signed by another key. */
const resigned = (idToken: string, header: object, by: (text: string) => Buffer) => {
  const [, payload = ''] = idToken.split('.');
  const text = `${toPart(header)}.${payload}`;
  return `${text}.${by(text).toString('base64url')}`;
};
const nowSeconds = () => Math.floor(Date.now() / 1000);

const CLAIMS: Record<string, (payload: Token['payload']) => void> = {
  'another issuer': payload => (payload['iss'] = 'https://evil.example'),
  'the issuer with a slash': payload => (payload['iss'] = `${String(payload['iss'])}/`),
  'no issuer': payload => delete payload['iss'],
  'another audience': payload => (payload['aud'] = 'somebody-else'),
  'no audience': payload => delete payload['aud'],
  'many audiences and no authorized party': payload => (payload['aud'] = ['portico', 'other']),
  'another authorized party': payload => (payload['azp'] = 'somebody-else'),
  'another nonce': payload => (payload['nonce'] = 'of-another-sign-in'),
  'no nonce': payload => delete payload['nonce'],
  'a time that is over': payload => (payload['exp'] = nowSeconds() - 120),
  'no end': payload => delete payload['exp'],
  'an end that is no number': payload => (payload['exp'] = '9999999999'),
  'no beginning': payload => delete payload['iat'],
  'a time that is not yet': payload => (payload['nbf'] = nowSeconds() + 600),
  'no subject': payload => delete payload['sub'],
  'an empty subject': payload => (payload['sub'] = ''),
  'a subject that is no text': payload => (payload['sub'] = 42),
  'a subject too long': payload => (payload['sub'] = 'x'.repeat(501)),
};

const ANSWERS: Record<string, (body: Record<string, unknown>, idToken: string) => void> = {
  'no ID token': body => delete body['id_token'],
  'no signature': (body, idToken) =>
    (body['id_token'] = `${idToken.split('.').slice(0, 2).join('.')}.`),
  'a signature of none': (body, idToken) =>
    (body['id_token'] = resigned(idToken, { alg: 'none' }, () => Buffer.alloc(0))),
  'a signature that was changed': (body, idToken) => {
    const [header, payload, signature = ''] = idToken.split('.');
    const bytes = Buffer.from(signature, 'base64url');
    bytes[10] = (bytes[10] ?? 0) ^ 1;
    body['id_token'] = `${header}.${payload}.${bytes.toString('base64url')}`;
  },
  'a payload that was changed': (body, idToken) => {
    const [header, payload = '', signature] = idToken.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    body['id_token'] = `${header}.${toPart({ ...claims, sub: 'admin' })}.${signature}`;
  },
  'the key of somebody else': (body, idToken) => {
    const [header = ''] = idToken.split('.');
    const own = JSON.parse(Buffer.from(header, 'base64url').toString()) as object;
    body['id_token'] = resigned(idToken, own, text =>
      sign('sha256', Buffer.from(text), others.privateKey),
    );
  },
  'a key that is no secret': (body, idToken) =>
    (body['id_token'] = resigned(idToken, { alg: 'HS256', typ: 'JWT' }, text =>
      createHmac('sha256', 'portico').update(text).digest(),
    )),
  'a token of another kind': body => (body['token_type'] = 'mac'),
};

const REDIRECTS: Record<string, (url: URL) => void> = {
  'another state': ({ searchParams }) => searchParams.set('state', 'x'),
  'no state': ({ searchParams }) => searchParams.delete('state'),
  'two states': ({ searchParams }) => searchParams.append('state', 'x'),
  'the issuer of another': ({ searchParams }) => searchParams.set('iss', 'https://evil.example'),
  'no code': ({ searchParams }) => searchParams.delete('code'),
  'another code': ({ searchParams }) => searchParams.set('code', 'x'),
  'an error': ({ searchParams }) => searchParams.set('error', 'access_denied'),
};

describe('oauth2-mock-server', () => {
  const service = mock.service;

  /** Attempts a sign-in. @returns what the page said, and how many sign-ins it created */
  async function attempt() {
    const before = (await listOf<object>('sign-ins', 'sign_ins')).length;
    const { browser, page } = await signIn();
    const made = (await listOf<object>('sign-ins', 'sign_ins')).length - before;
    const isTold = page.text.includes('Mock d') && !/evil|access_denied/.test(page.text);
    return { status: page.status, isTold, isSignedIn: isSignedIn(browser), made };
  }
  const REFUSED = { status: 403, isTold: true, isSignedIn: false, made: 0 };

  it('[ACC-7] signs a person in whose claims are right, once per response', async () => {
    const browser = createCookieBrowser();
    const authorize = await browser.peek(startOf('Mock'));
    expect(authorize).toContain('code_challenge_method=S256');
    const callback = await browser.peek(authorize);
    const stranger = createCookieBrowser();
    expect((await stranger.open(callback)).status).toBe(403);
    expect((await browser.open(callback)).text).toContain('signed in as <strong>johndoe');
    expect([isSignedIn(browser), isSignedIn(stranger)]).toEqual([true, false]);
    expect((await browser.open(callback)).status).toBe(403);
  });

  it.each(Object.keys(CLAIMS))('[ACC-7] [SEC-5] %s in the ID token is refused', async name => {
    const falsify = (token: Token) => CLAIMS[name]?.(token.payload);
    service.on(Events.BeforeTokenSigning, falsify);
    try {
      expect(await attempt()).toEqual(REFUSED);
    } finally {
      service.off(Events.BeforeTokenSigning, falsify);
    }
  });

  it.each(Object.keys(ANSWERS))('[ACC-7] [SEC-5] %s is refused', async name => {
    service.once(Events.BeforeResponse, ({ body }) => {
      const answer = body as Record<string, unknown>;
      ANSWERS[name]?.(answer, String(answer['id_token']));
    });
    expect(await attempt()).toEqual(REFUSED);
  });

  it.each(Object.keys(REDIRECTS))('[ACC-7] [SEC-5] %s in the redirect is refused', async name => {
    service.once(Events.BeforeAuthorizeRedirect, ({ url }) => REDIRECTS[name]?.(url));
    expect(await attempt()).toEqual(REFUSED);
  });

  it('[ACC-7] [SEC-5] metadata of another issuer is refused', async () => {
    const falsify = ({ body }: { body: unknown }) =>
      void Object.assign(body as object, { issuer: 'https://evil.example' });
    service.on(Events.BeforeWellKnownOpenIdConfiguration, falsify);
    try {
      expect(await attempt()).toEqual(REFUSED);
    } finally {
      service.off(Events.BeforeWellKnownOpenIdConfiguration, falsify);
    }
  });

  it('[ACC-7] a failing provider is reported, and signs nobody in', async () => {
    service.once(Events.BeforeResponse, answer => {
      answer.statusCode = 500;
      answer.body = { error: 'server_error', error_description: 'evil' };
    });
    expect(await attempt()).toEqual(REFUSED);
  });

  it('[ACC-7] is asked each time: a person who is no longer allowed is refused, with an audit row', async () => {
    const body = { required_claims: { 'org.team': ['staff'] }, groups_claim: 'org.team' };
    const path = `${PROVIDERS}/${ids['Mock']}`;
    const map = { group_map: { staff: 'staff' } };
    expect((await gateway.api('PATCH', path, { ...body, ...map })).status).toBe(200);
    const { browser, page } = await signIn();
    expect([page.status, isSignedIn(browser)]).toEqual([403, false]);
    expect(page.text).toContain('may not sign in here');
    const denied = await listOf<object>('audit?action=sign_in.create&outcome=denied', 'events');
    expect(denied.length).toBe(1);
    const claim = ({ payload }: Token) => (payload['org'] = { team: ['staff', 'x'] });
    service.on(Events.BeforeTokenSigning, claim);
    const welcome = await signIn();
    service.off(Events.BeforeTokenSigning, claim);
    expect(isSignedIn(welcome.browser)).toBe(true);
    const all = await listOf<{ id: string; provider: string }>('identities', 'identities');
    const own = all.filter(({ provider }) => provider === ids['Mock']);
    expect(own).toMatchObject([{ subject: 'johndoe', groups: ['staff'] }]);
    expect((await gateway.api('DELETE', `/api/v1/identities/${own[0]?.id}`)).status).toBe(204);
    const gone = await welcome.browser.open(`${gateway.origin}/sign-in`);
    expect(gone.text).toContain('name="code"');
  });

  it('[ACC-7] creates nobody if so configured, and is deleted with its people', async () => {
    const path = `${PROVIDERS}/${ids['Mock']}`;
    const closed = { creates_principals: false, required_claims: {} };
    expect((await gateway.api('PATCH', path, closed)).status).toBe(200);
    expect((await signIn()).page.status).toBe(403);
    expect((await gateway.api('PATCH', path, { creates_principals: true })).status).toBe(200);
    const { browser } = await signIn();
    expect(isSignedIn(browser)).toBe(true);
    expect((await gateway.api('DELETE', path)).status).toBe(204);
    const gone = await browser.open(`${gateway.origin}/sign-in`);
    expect(gone.text).toContain('name="code"');
    expect((await browser.open(startOf('Mock'))).status).toBe(404);
  });
});
