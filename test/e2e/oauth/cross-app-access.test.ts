/**
 * A client of SDK 2 without a browser (enterprise-managed authorization): an identity provider signs who its user is and what the client
 * may do, and the gateway accepts that as long as an administrator allows it.
 */
import {
  Client,
  CrossAppAccessProvider,
  discoverAndRequestJwtAuthGrant,
  exchangeJwtAuthGrant,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveAssertions, type AssertionServer } from '../../fixtures/assertion-server.ts';
import { startFixture, type Upstream } from '../../fixtures/start-fixture.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { MODERN_VERSION } from '../support/raw-client.ts';
import { lastUnaware } from '../support/revocation.ts';

const PROVIDERS = '/api/v1/sign-in-providers';
const ENDED_WITHIN_MS = 1_000;
const SDK_2 = { name: 'portico-e2e', version: '1.0.0' };
const MODES = { modern: { pin: MODERN_VERSION }, legacy: 'legacy' } as const;

let gateway: Gateway;
let upstream: Upstream;
let server: AssertionServer;
const ids = { clientId: '', clientSecret: '' };

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([
    startFixture('rich-modern'),
    startGateway({ env: QUIET }),
  ]);
  await gateway.register('rich', `${upstream.origin}/mcp`);
  const redirects = { redirect_uris: ['https://program.example.com/cb'] };
  const made = await gateway.api('POST', '/api/v1/oauth/clients', { name: 'App', ...redirects });
  [ids.clientId, ids.clientSecret] = [String(made.json['id']), String(made.json['client_secret'])];
  server = await serveAssertions(ids.clientId);
  const body = { name: 'Acme', issuer: server.idp.issuer, client_id: 'portico' };
  const asked = { ...body, takes_assertions: true, creates_principals: true };
  await gateway.api('POST', PROVIDERS, asked);
});
afterAll(async () => {
  server?.close();
  await gateway?.stop();
  await upstream?.stop();
});

interface Wanted {
  audience: string;
  resource: string;
  scope?: string | undefined;
}
/** Makes the program's own exchange at its provider. */
const exchange = async (wanted: Wanted) =>
  (
    await discoverAndRequestJwtAuthGrant({
      idpUrl: server.idp.issuer,
      idToken: server.idToken,
      clientId: 'at-the-provider',
      audience: wanted.audience,
      resource: wanted.resource,
      ...(wanted.scope === undefined ? {} : { scope: wanted.scope }),
    })
  ).jwtAuthGrant;

function start(path: string, mode: keyof typeof MODES) {
  const authProvider = new CrossAppAccessProvider({
    ...ids,
    expectedIssuer: gateway.origin,
    assertion: ({ authorizationServerUrl: audience, resourceUrl: resource, scope }) =>
      exchange({ audience, resource, scope }),
  });
  const client = new Client(SDK_2, { versionNegotiation: { mode: MODES[mode] } });
  const transport = new StreamableHTTPClientTransport(new URL(path, gateway.origin), {
    authProvider,
  });
  return { authProvider, client, connect: () => client.connect(transport) };
}

const grantsOf = async () => {
  const query = new URLSearchParams({ client: ids.clientId });
  return (await gateway.api('GET', `/api/v1/grants?${query}`)).json['grants'] as {
    id: string;
    audience: string;
  }[];
};

describe.each<[string, keyof typeof MODES, string]>([
  ['/mcp', 'modern', 'rich.echo'],
  ['/mcp', 'legacy', 'rich.echo'],
  ['/mcp/servers/rich', 'modern', 'echo'],
])('SDK 2 at %s, %s', (path, mode, echo) => {
  it('[ACC-7] [ACC-5] signs in through its provider, calls, and signs in again after its grant ended', async () => {
    const { authProvider, client, connect } = start(path, mode);
    const asked = server.exchanges.length;
    await connect();
    const tools = (await client.listTools()).tools.map(({ name }) => name);
    expect(tools).toContain(echo);
    const said = async (message: string) =>
      (await client.callTool({ name: echo, arguments: { message } })).content;
    expect(await said('in')).toEqual([{ type: 'text', text: 'Echo: in' }]);
    expect(Object.fromEntries(server.exchanges.at(-1) ?? [])).toMatchObject({
      audience: gateway.origin,
      resource: `${gateway.origin}${path}`,
      scope: 'tools:read tools:call',
    });
    expect(server.exchanges.length).toBe(asked + 1);
    const first = authProvider.tokens();
    expect(first).toMatchObject({ token_type: 'Bearer', scope: 'tools:read tools:call' });
    expect(first?.refresh_token).toBeUndefined();
    const [grant] = await grantsOf();
    expect(grant?.audience).toBe(`${gateway.origin}${path}`);
    expect((await gateway.api('DELETE', `/api/v1/grants/${grant?.id}`)).status).toBe(204);
    const isNew = async () => {
      await said('again');
      return authProvider.tokens()?.access_token !== first?.access_token;
    };
    expect(await lastUnaware(isNew)).toBeLessThan(ENDED_WITHIN_MS);
    await client.close();
  });
});

describe('an administrator', () => {
  const isRefusedTo =
    ({ client }: ReturnType<typeof start>) =>
    () =>
      client.listTools().then(
        () => false,
        () => true,
      );

  it.each<[string, () => Promise<unknown>]>([
    ['the setting', () => gateway.api('PATCH', `${PROVIDERS}/Acme`, { takes_assertions: false })],
    [
      'who may come',
      async () => {
        const body = { required_claims: { department: ['x'] } };
        await gateway.api('PATCH', `${PROVIDERS}/Acme`, body);
        const listed = await gateway.api('GET', '/api/v1/identities');
        const [{ id } = { id: '' }] = listed.json['identities'] as { id: string }[];
        return gateway.api('DELETE', `/api/v1/identities/${id}`);
      },
    ],
  ])('[ACC-7] [ACC-1] revokes this access for all by %s, within a second', async (_what, end) => {
    const running = start('/mcp', 'modern');
    await running.connect();
    await running.client.listTools();
    await end();
    expect(await lastUnaware(isRefusedTo(running))).toBeLessThan(ENDED_WITHIN_MS);
    expect(await grantsOf()).toEqual([]);
    await expect(start('/mcp', 'modern').connect()).rejects.toThrow(/gateway trusts|sign in here/);
    const back = { takes_assertions: true, required_claims: {} };
    expect((await gateway.api('PATCH', `${PROVIDERS}/Acme`, back)).status).toBe(200);
    const again = start('/mcp', 'modern');
    await again.connect();
    await Promise.all([running.client.close(), again.client.close()]);
  });
});

describe('the functions of SDK 2 by themselves', () => {
  const wanted = () => ({ audience: gateway.origin, resource: `${gateway.origin}/mcp` });
  const redeem = async (
    jwtAuthGrant: string,
    authMethod: 'client_secret_basic' | 'client_secret_post' = 'client_secret_basic',
  ) =>
    exchangeJwtAuthGrant({
      tokenEndpoint: `${gateway.origin}/token`,
      jwtAuthGrant,
      ...ids,
      authMethod,
    });

  it.each(['client_secret_basic', 'client_secret_post'] as const)(
    '[ACC-7] get a token by %s, once',
    async method => {
      const grant = await exchange({ ...wanted(), scope: 'tools:read' });
      expect(await redeem(grant, method)).toMatchObject({ scope: 'tools:read', expires_in: 3_600 });
      await expect(redeem(grant, method)).rejects.toThrow('invalid_grant');
    },
  );

  it('[ACC-7] are refused an assertion for another gateway or another client', async () => {
    const elsewhere = await exchange({ ...wanted(), audience: 'https://other.example.com' });
    await expect(redeem(elsewhere)).rejects.toThrow('invalid_grant');
    server.claims = { client_id: 'another' };
    const ofAnother = await exchange(wanted());
    server.claims = {};
    await expect(redeem(ofAnother)).rejects.toThrow('invalid_grant');
  });
});
