/**
 * The gateway as a client of `oidc-provider`, an authorization server written by others, going through its own pages: with a metadata
 * document, by registration, and set up beforehand. Its rotation is strict: a refresh token that is used again ends the grant.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  methodOf,
  takesDocument,
  toClientDocument,
} from '../../../src/credentials/oauth/client-document.ts';
import { CodeFlow } from '../../../src/credentials/oauth/code-flow.ts';
import type {
  Authorizer,
  UpstreamClient,
} from '../../../src/credentials/oauth/code-flow-schema.ts';
import { findFreePort } from '../../fixtures/start-fixture.ts';
import { createCookieBrowser } from '../support/cookie-browser.ts';

const GATEWAY = 'https://gateway.example.com';
const DOCUMENT = `${GATEWAY}/oauth/client-metadata.json`;
const REDIRECT = `${GATEWAY}/oauth/callback`;
const OWN = { client_id: 'own client:1', client_secret: 'a+secret%of 32 characters or more' };
const SCOPE = 'notes:read';

const flow = new CodeFlow(true);
const servers: Server[] = [];
let resource = '';
let issuer = '';

beforeAll(async () => {
  const [port, serverPort] = [await findFreePort(), await findFreePort()];
  issuer = `http://127.0.0.1:${port}`;
  resource = `http://127.0.0.1:${serverPort}/mcp`;
  const server = createServer((request, response) => {
    if (request.url === '/meta') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ resource, authorization_servers: [issuer] }));
      return;
    }
    const challenge = `Bearer resource_metadata="http://127.0.0.1:${serverPort}/meta", scope="${SCOPE}"`;
    response.writeHead(401, { 'www-authenticate': challenge }).end();
  }).listen(serverPort, '127.0.0.1');
  const provider = new Provider(issuer, {
    clients: [
      { ...OWN, redirect_uris: [REDIRECT], grant_types: ['authorization_code', 'refresh_token'] },
    ],
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id }),
    }),
    rotateRefreshToken: () => true,
    fetch: async (url: string | URL) => {
      if (String(url) !== DOCUMENT) throw new Error(`asked for ${String(url)}`);
      return Response.json(
        toClientDocument({ clientId: DOCUMENT, origin: GATEWAY, redirectUri: REDIRECT }),
      );
    },
    features: {
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => false,
        getResourceServerInfo: (_context: unknown, indicator: string) => ({
          audience: indicator,
          scope: SCOPE,
          accessTokenFormat: 'jwt',
        }),
      },
    },
  }).listen(port, '127.0.0.1');
  servers.push(server, provider);
  await Promise.all(servers.map(each => each.listening || once(each, 'listening')));
});

afterAll(() => {
  for (const each of servers) each.close();
});

const requestOf = (authorizer: Authorizer) => ({
  redirectUri: REDIRECT,
  scope: authorizer.scope,
  state: crypto.randomUUID(),
  verifier: `${crypto.randomUUID()}${crypto.randomUUID()}`,
});

/** Signs a person in and allows the request. @returns the redirect of the browser */
async function signIn(url: URL, login: string): Promise<URL> {
  const browser = createCookieBrowser();
  let page = await browser.open(url.href);
  for (const form of [{ prompt: 'login', login, password: 'x' }, { prompt: 'consent' }]) {
    const action = /action="([^"]+)"/.exec(page.text)?.[1] ?? '';
    page = await browser.open(new URL(action, page.url).href, form, REDIRECT);
  }
  return new URL(page.url);
}

/** Returns a client at the server, obtained in one of the gateway's ways. */
async function clientOf(authorizer: Authorizer, source: UpstreamClient['source']) {
  if (source === 'registered') {
    return flow.register(authorizer, { redirectUri: REDIRECT, clientUri: GATEWAY });
  }
  const method = methodOf(authorizer.metadata) ?? 'none';
  return source === 'given'
    ? { clientId: OWN.client_id, clientSecret: OWN.client_secret, method, source }
    : { clientId: DOCUMENT, clientSecret: undefined, method: 'none' as const, source };
}

/** Gets tokens for a person, from the start. */
async function connect(login: string, source: UpstreamClient['source']) {
  const authorizer = await flow.find(resource);
  const client = await clientOf(authorizer, source);
  const request = requestOf(authorizer);
  const url = await flow.toAuthorizationUrl(authorizer, client, request);
  const answer = await signIn(url, login);
  const tokens = await flow.exchange(authorizer, client, request, answer);
  const { metadata } = authorizer;
  const place = {
    issuer: authorizer.issuer,
    resource: authorizer.resource,
    tokenEndpoint: metadata.token_endpoint ?? '',
    revocationEndpoint: metadata.revocation_endpoint,
  };
  return { authorizer, client, request, answer, tokens, place };
}

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as object;
const refreshOf = (tokens: { refreshToken: string | undefined }) => tokens.refreshToken ?? '';

describe('oidc-provider', () => {
  it.each(['document', 'registered', 'given'] as const)(
    '[UP-4] gives a gateway whose client is %s tokens for the server, renewed, rotated, revoked',
    async source => {
      const { authorizer, client, place, tokens, answer } = await connect('ada', source);
      expect(authorizer).toMatchObject({ issuer, resource, scope: `${SCOPE} offline_access` });
      expect(takesDocument(authorizer.metadata)).toBe(true);
      expect(answer.searchParams.get('iss')).toBe(issuer);
      expect(claimsOf(tokens.accessToken)).toMatchObject({
        sub: 'ada',
        aud: resource,
        scope: SCOPE,
      });
      expect(tokens.lifetimeMs).toBe(3_600_000);
      const renewed = await flow.refresh(place, client, refreshOf(tokens));
      expect(claimsOf(renewed.accessToken)).toMatchObject({ sub: 'ada', aud: resource });
      expect(renewed.refreshToken).not.toBe(tokens.refreshToken);
      const again = await flow.refresh(place, client, refreshOf(renewed));
      expect(await flow.revoke(place, client, refreshOf(again))).toBe(true);
      await expect(flow.refresh(place, client, refreshOf(again))).rejects.toMatchObject({
        reason: 'invalid_grant',
      });
    },
  );

  it('[UP-4] ends a grant when its former refresh token is used again, with a refusal', async () => {
    const { client, place, tokens } = await connect('bob', 'registered');
    const renewed = await flow.refresh(place, client, refreshOf(tokens));
    for (const each of [tokens, renewed]) {
      await expect(flow.refresh(place, client, refreshOf(each))).rejects.toMatchObject({
        reason: 'invalid_grant',
      });
    }
  });

  it('[UP-4] [SEC-5] gives nothing for a used code, for another verifier or another client', async () => {
    const { authorizer, client, request, answer } = await connect('cleo', 'registered');
    const exchange = (of: UpstreamClient, with_: typeof request, at: URL) =>
      expect(flow.exchange(authorizer, of, with_, at)).rejects.toMatchObject({
        reason: 'invalid_grant',
      });
    await exchange(client, request, answer);
    const next = requestOf(authorizer);
    const code = await signIn(await flow.toAuthorizationUrl(authorizer, client, next), 'cleo');
    await exchange(client, { ...next, verifier: `${next.verifier}x` }, code);
    await exchange(await clientOf(authorizer, 'given'), next, code);
  });

  it('[UP-4] refuses a client that it does not know', async () => {
    const { authorizer, client, place, tokens } = await connect('dan', 'registered');
    const stranger = { ...client, clientId: 'stranger' };
    await expect(flow.refresh(place, stranger, refreshOf(tokens))).rejects.toMatchObject({
      reason: 'invalid_client',
    });
    const wrong = { ...client, clientSecret: 'wrong' };
    await expect(flow.refresh(place, wrong, refreshOf(tokens))).rejects.toMatchObject({
      reason: 'invalid_client',
    });
    expect(authorizer.metadata.registration_endpoint).toBeDefined();
  });
});
