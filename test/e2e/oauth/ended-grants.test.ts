/**
 * However a program got its access, ending the access also ends everything that the program has open: the stream of a session, a listener
 * of the modern era, streams of HTTP+SSE with and without a session. Requests and `/token` are refused too.
 */
import { OAuth2Server } from 'oauth2-mock-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../fixtures/authenticator.ts';
import { Person } from '../../fixtures/person.ts';
import { createCookieBrowser, type CookieBrowser } from '../support/cookie-browser.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { letInWith } from '../support/let-in.ts';
import { headersFor, modernHeaders, open, requestBody } from '../support/raw-client.ts';
import { lastUnaware } from '../support/revocation.ts';

const ENDED_WITHIN_MS = 1_000;
const mock = new OAuth2Server();
let gateway: Gateway;
let provider = '';

beforeAll(async () => {
  gateway = await startGateway();
  await mock.issuer.keys.generate('RS256');
  await mock.start(0, '127.0.0.1');
  const body = {
    name: 'Mock',
    issuer: mock.issuer.url,
    client_id: 'portico',
    creates_principals: true,
  };
  const made = await gateway.api('POST', '/api/v1/sign-in-providers', body);
  provider = String(made.json['id']);
});
afterAll(async () => {
  await mock.stop();
  await gateway?.stop();
});

/** An authorised program, and what its access is based on. */
interface Access {
  access: string;
  refresh: string;
  clientId: string;
  /** Id of the token with which the person signed in. */
  tokenId: string;
}
const first = async (path: string, key: string) =>
  ((await gateway.api('GET', path)).json[key] as Record<string, string>[])[0] ?? {};
const grantOf = ({ clientId }: Access) =>
  first(`/api/v1/grants?${new URLSearchParams({ client: clientId })}`, 'grants');

async function byToken(): Promise<Access> {
  const { id, token } = await gateway.createToken({ name: 'Ada' });
  return letIn(new Person(token), id);
}

const cookieOf = ({ cookies }: CookieBrowser, host: string) =>
  [...(cookies.get(host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');

async function byProvider(): Promise<Access> {
  const browser = createCookieBrowser();
  await browser.open(`${gateway.origin}/sign-in/start?provider=${provider}`);
  return letIn(new Person('', cookieOf(browser, '127.0.0.1')), '');
}

async function byPasskey(): Promise<Access> {
  const { id, token } = await gateway.createToken({ name: 'Ada' });
  const pages = `${gateway.origin.replace('127.0.0.1', 'localhost')}/sign-in`;
  const { origin } = new URL(pages);
  const [browser, authenticator] = [createCookieBrowser(), await createAuthenticator()];
  const asked = async (path: string) =>
    JSON.parse((await browser.open(`${pages}/${path}/start`, {})).text) as { challenge: string };
  await browser.open(pages, { code: token });
  const added = await authenticator.add(await asked('passkeys'), origin);
  await browser.open(`${pages}/passkeys`, { answer: added });
  const answer = await authenticator.signIn(await asked('passkey'), origin);
  await browser.open(`${pages}/passkey`, { answer });
  return letIn(new Person('', cookieOf(browser, 'localhost')), id);
}

async function letIn(person: Person, tokenId: string): Promise<Access> {
  const { clientId, again } = await letInWith(gateway.origin, person);
  const { access_token: access, refresh_token: refresh } = await again();
  return { access, refresh, clientId, tokenId };
}

const post = (path: string, fields: Record<string, string>) =>
  fetch(`${gateway.origin}${path}`, { method: 'POST', body: new URLSearchParams(fields) });
const remove = async (path: string) => {
  expect((await gateway.api('DELETE', path)).status).toBe(204);
};

interface End {
  signIn(): Promise<Access>;
  end(access: Access): Promise<unknown>;
  /** The error at `/token` afterwards; undefined: it gets new tokens. */
  told?: string;
}
const GONE = 'invalid_grant';
const ENDS: Record<string, End> = {
  'its access token, as the program says': {
    signIn: byToken,
    end: ({ access, clientId }) => post('/revoke', { token: access, client_id: clientId }),
  },
  'the token that signed in': {
    signIn: byToken,
    end: ({ tokenId }) => remove(`/api/v1/tokens/${tokenId}`),
    told: GONE,
  },
  'the grant': {
    signIn: byToken,
    end: async access => remove(`/api/v1/grants/${(await grantOf(access))['id']}`),
    told: GONE,
  },
  'the client': {
    signIn: byToken,
    end: ({ clientId }) => remove(`/api/v1/oauth/clients/${clientId}`),
    told: 'invalid_client',
  },
  'the principal': {
    signIn: byToken,
    end: async access => remove(`/api/v1/principals/${(await grantOf(access))['principal']}`),
    told: GONE,
  },
  'the passkey': {
    signIn: byPasskey,
    end: async () =>
      remove(`/api/v1/passkeys/${(await first('/api/v1/passkeys', 'passkeys'))['id']}`),
    told: GONE,
  },
  'the identity': {
    signIn: byProvider,
    end: async () =>
      remove(`/api/v1/identities/${(await first('/api/v1/identities', 'identities'))['id']}`),
    told: GONE,
  },
};

const targetOf = (token: string) => ({ url: `${gateway.origin}/mcp`, token });
const openSse = (token: string) =>
  fetch(`${gateway.origin}/sse`, { headers: { authorization: `Bearer ${token}` } });

/** Opens a stream of each kind. */
const STREAMS: Record<string, (token: string) => Promise<Response>> = {
  async 'a session'(token) {
    const { sessionId = '' } = await open('legacy', targetOf(token));
    const headers = headersFor(targetOf(token), { 'mcp-session-id': sessionId });
    headers.set('accept', 'text/event-stream');
    return fetch(`${gateway.origin}/mcp`, { headers });
  },
  'a listener'(token) {
    const method = 'subscriptions/listen';
    const body = requestBody('modern', method, '{"notifications":{"toolsListChanged":true}}', 1);
    const headers = headersFor(targetOf(token), modernHeaders(method));
    return fetch(`${gateway.origin}/mcp`, { method: 'POST', headers, body });
  },
  'HTTP+SSE that is silent': openSse,
};

/** Reads a stream. @returns when its first bytes came, and when it ended */
function read({ body }: Response) {
  const began = Promise.withResolvers<string>();
  const toEnd = async () => {
    let text = '';
    for await (const chunk of body ?? []) {
      text += new TextDecoder().decode(chunk);
      began.resolve(text);
    }
    return performance.now();
  };
  return { began: began.promise, ended: toEnd() };
}

/** Opens HTTP+SSE with a session; the stream has joined it when the response comes. */
async function openSession(token: string) {
  const stream = read(await openSse(token));
  const endpoint = /data: (\S+)/.exec(await stream.began)?.[1] ?? '';
  const params = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}`;
  const answer = await fetch(`${gateway.origin}${endpoint}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: requestBody('legacy', 'initialize', params, 1),
  });
  expect(answer.status).toBe(202);
  return stream;
}

describe.each(Object.entries(ENDS))('the end of %s', (_name, { signIn, end, told }) => {
  it('[ACC-5] [ACC-1] ends all its streams and requests within a second', async () => {
    const access = await signIn();
    const opened = await Promise.all(Object.values(STREAMS).map(start => start(access.access)));
    expect(opened.map(({ status }) => status)).toEqual(opened.map(() => 200));
    const streams = [...opened.map(read), await openSession(access.access)];
    await Promise.all(streams.map(({ began }) => began));
    const list = async () =>
      (await (await open('modern', targetOf(access.access))).request('tools/list')).status;
    expect(await list()).toBe(200);
    await end(access);
    const endedAt = performance.now();
    expect(await lastUnaware(async () => (await list()) === 401)).toBeLessThan(ENDED_WITHIN_MS);
    for (const { ended } of streams) expect((await ended) - endedAt).toBeLessThan(ENDED_WITHIN_MS);
    const answer = await post('/token', {
      grant_type: 'refresh_token',
      client_id: access.clientId,
      refresh_token: access.refresh,
    });
    expect((await answer.json()) as object).toMatchObject(
      told === undefined ? { token_type: 'Bearer' } : { error: told },
    );
  });
});
