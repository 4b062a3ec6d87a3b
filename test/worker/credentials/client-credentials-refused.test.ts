/**
 * Client credentials when something is wrong: each case has its own error, nothing forbidden is fetched, and no secret is sent or shown.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { FakeAuthorizationServer } from '../support/fake-authorization-server.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import {
  PATIENT,
  SERVERS,
  createPortico,
  monitorOf,
  register,
  whenServer,
} from '../support/portico.ts';
import { runDurableObjectAlarm } from 'cloudflare:test';

const portico = createPortico();
const CANARY = 'canary-77b0e2';
const METADATA = '/.well-known/oauth-authorization-server';

/** A server that names its authorization server, and refuses everything else. */
function place(name: string, authority: FakeAuthorizationServer, metadata?: () => Response) {
  const origin = `https://${name}.example.com`;
  return fakeUpstreams({
    [authority.origin]: authority.handle,
    [origin]: request =>
      request.url.endsWith('/.well-known/oauth-protected-resource')
        ? (metadata ?? (() => authority.resource(origin)))()
        : new Response('no', { status: 401 }),
  });
}

const withAuth = (name: string, more: object = {}) => ({
  connection_config: {
    url: `https://${name}.example.com/mcp`,
    auth: {
      type: 'client_credentials',
      client_id: 'portico',
      client_secret: CANARY,
      ...more,
    },
  },
});

/** The error that the registry shows for a server without a usable credential. */
async function finding(name: string, more: object = {}): Promise<string> {
  const { id } = await register(portico, name, withAuth(name, more));
  const { last_error } = await whenServer(portico, id, ({ status }) => status === 'ERROR');
  expect(last_error).not.toContain(CANARY);
  expect(last_error).not.toContain('example');
  return last_error ?? '';
}

const json = (body: object, init?: ResponseInit) => () => Response.json(body, init);

describe('a token endpoint that', () => {
  const large = `{"access_token":"${'a'.repeat(70_000)}","token_type":"Bearer"}`;
  it.each<[string, () => Response, string]>([
    [
      'refuses the client',
      json({ error: 'invalid_client', error_description: CANARY }, { status: 401 }),
      'The authorization server refused: invalid_client',
    ],
    [
      'refuses with words of its own',
      json({ error: `no ${CANARY}` }, { status: 400 }),
      'The authorization server refused',
    ],
    ['fails', () => new Response(CANARY, { status: 500 }), 'is not valid'],
    ['answers no JSON', () => new Response('<html>'), 'is not valid'],
    ['answers an empty object', json({}), 'is not valid'],
    ['gives a token of another type', json({ access_token: 'a', token_type: 'mac' }), 'not valid'],
    [
      'gives a token of two lines',
      json({ access_token: 'a\nb', token_type: 'bearer' }),
      'valid bearer token',
    ],
    [
      'answers more than allowed',
      () => new Response(large, { headers: { 'content-type': 'application/json' } }),
      'larger than allowed',
    ],
    [
      'redirects',
      () => new Response(null, { status: 307, headers: { location: 'https://other.example.org' } }),
      'redirects, which is never followed',
    ],
    [
      'hangs up',
      () => {
        throw new TypeError(`reset ${CANARY}`);
      },
      'cannot be reached',
    ],
  ])('[UP-4] [SEC-2] [SEC-3] %s has its own error', async (what, answer, reason) => {
    const name = `refuses-${what.replaceAll(/\W/g, '')}`.slice(0, 60).toLowerCase();
    const authority = new FakeAuthorizationServer(name);
    authority.replaced.set('/token', answer);
    const seen = place(name, authority);
    const line = await finding(name, { token_url: `${authority.origin}/token` });
    expect(line).toMatch(/^credential_unavailable: /);
    expect(line).toContain(reason);
    expect(new Set(seen)).toEqual(new Set([`POST ${authority.origin}/token`]));
  });

  const decoding = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));
  it.each([
    ['reads Basic as it is written', 'with-plain', (text: string) => text, 2],
    ['decodes Basic', 'with-form', decoding, 1],
  ] as const)('[UP-4] %s accepts the client, after a second request if needed', async (...of) => {
    const [, name, read, times] = of;
    const [client_id, client_secret] = ['my-client_1.0+x', 'a+b%2D:c'];
    const authority = new FakeAuthorizationServer(name);
    authority.replaced.set('/token', () => {
      const given = authority.grants.at(-1)?.authorization?.replace('Basic ', '') ?? '';
      const bytes = Uint8Array.from(atob(given), char => char.charCodeAt(0));
      const [id = '', ...secret] = new TextDecoder().decode(bytes).split(':');
      const isKnown = read(id) === client_id && read(secret.join(':')) === client_secret;
      return isKnown
        ? Response.json({ access_token: 'good', token_type: 'Bearer' })
        : Response.json({ error: 'invalid_client' }, { status: 401 });
    });
    place(name, authority);
    const auth = { token_url: `${authority.origin}/token`, client_id, client_secret };
    const { id } = await register(portico, name, withAuth(name, auth));
    expect(await monitorOf(id).accessToken(id)).not.toHaveProperty('failure');
    expect(authority.grants).toHaveLength(times);
  });

  it('[UP-4] [SEC-4] fails is not asked by every call', async () => {
    const authority = new FakeAuthorizationServer('stormy');
    authority.replaced.set('/token', () => new Response('no', { status: 500 }));
    place('stormy', authority);
    const token_url = `${authority.origin}/token`;
    const { id } = await register(portico, 'stormy', withAuth('stormy', { token_url }));
    await whenServer(portico, id, ({ status }) => status === 'ERROR');
    const monitor = monitorOf(id);
    const before = authority.grants.length;
    const replies = await Promise.all(Array.from({ length: 50 }, () => monitor.accessToken(id)));
    for (const reply of replies) expect(reply).toHaveProperty('failure');
    expect(authority.grants.length - before).toBeLessThanOrEqual(1);
  });
});

describe('metadata that', () => {
  const evil = 'https://evil.example.org';
  it.each<
    [string, (authority: FakeAuthorizationServer, origin: string) => object | undefined, string]
  >([
    [
      'names a private authorization server',
      (_, resource) => ({ resource, authorization_servers: ['http://169.254.169.254'] }),
      'The address of the authorization server is not allowed',
    ],
    [
      'is of another resource',
      ({ origin }) => ({ resource: evil, authorization_servers: [origin] }),
      'names another resource',
    ],
    [
      'is of another part of the server',
      ({ origin }, server) => ({ resource: `${server}/mc`, authorization_servers: [origin] }),
      'names another resource',
    ],
    [
      'names no authorization server',
      (_, resource) => ({ resource }),
      'names no authorization server',
    ],
    [
      'is of another issuer',
      authority => {
        authority.replaced.set(METADATA, json({ issuer: evil, token_endpoint: `${evil}/token` }));
        return undefined;
      },
      'names another issuer',
    ],
    [
      'names a private token endpoint',
      authority => {
        const token_endpoint = 'https://10.0.0.1/token';
        authority.replaced.set(METADATA, json({ issuer: authority.origin, token_endpoint }));
        return undefined;
      },
      'The address of the authorization server is not allowed',
    ],
    [
      'takes no client secret',
      authority => {
        const methods = { token_endpoint_auth_methods_supported: ['private_key_jwt'] };
        const token_endpoint = `${authority.origin}/token`;
        const body = { issuer: authority.origin, token_endpoint, ...methods };
        authority.replaced.set(METADATA, json(body));
        return undefined;
      },
      'does not accept client secrets',
    ],
  ])('[UP-4] [SEC-3] %s is refused before the secret is sent', async (what, prepare, reason) => {
    const name = `meta-${what.replaceAll(/\W/g, '')}`.slice(0, 60).toLowerCase();
    const authority = new FakeAuthorizationServer(name);
    const body = prepare(authority, `https://${name}.example.com`);
    const seen = place(name, authority, body && (() => Response.json(body)));
    expect(await finding(name)).toContain(reason);
    expect(authority.grants).toEqual([]);
    const origins = new Set(seen.map(line => new URL(line.split(' ')[1] ?? '').origin));
    expect([...origins].filter(origin => !origin.includes(name))).toEqual([]);
  });

  it('[UP-4] [SEC-1] later names another authorization server gets no secret that was meant for the former', async () => {
    const first = new FakeAuthorizationServer('first-authority');
    const second = new FakeAuthorizationServer('second-authority');
    let authority = first;
    const origin = 'https://turncoat.example.com';
    fakeUpstreams({
      [first.origin]: first.handle,
      [second.origin]: second.handle,
      [origin]: request =>
        request.url.includes('/.well-known/')
          ? authority.resource(origin)
          : new Response('no', { status: 401 }),
    });
    const { id } = await register(portico, 'turncoat', withAuth('turncoat'));
    await vi.waitFor(() => expect(first.grants.length).toBeGreaterThan(0), PATIENT);
    authority = second;
    await vi.waitFor(async () => {
      await runDurableObjectAlarm(monitorOf(id));
      const server = await portico.api('GET', `${SERVERS}/${id}`);
      expect((await server.json<{ last_error: string }>()).last_error).toContain(
        'names another authorization server than before',
      );
    }, PATIENT);
    expect([second.asked.length > 0, second.grants]).toEqual([true, []]);
  });
});

describe('a client secret that is a named secret', () => {
  it('[SEC-1] [UP-4] goes only to its origins, configured or discovered', async () => {
    const authority = new FakeAuthorizationServer('bound');
    place('bound', authority);
    const put = (origins: string[]) =>
      portico.api('PUT', '/api/v1/secrets/CLIENT', { value: CANARY, origins });
    await put(['https://bound.example.com']);
    const reference = { client_secret: '${CLIENT}' };
    const token_url = `${authority.origin}/token`;
    const body = {
      name: 'bound',
      transport_type: 'HTTP',
      ...withAuth('bound', { ...reference, token_url }),
    };
    const refused = await portico.api('POST', SERVERS, body);
    expect([refused.status, await refused.text()]).toEqual([
      422,
      expect.stringContaining('connection_config.auth.client_secret: the secret CLIENT may not'),
    ]);
    expect(await finding('bound', reference)).toBe(
      'credential_unavailable: A secret it refers to may not be sent there',
    );
    expect(authority.grants).toEqual([]);
    expect((await put([authority.origin])).status).toBe(200);
    await vi.waitFor(() => expect(authority.grants.length).toBeGreaterThan(0), PATIENT);
    await vi.waitFor(async () => {
      const { results } = await env.DB.prepare('SELECT token_origin FROM access_tokens').all();
      expect(results).toContainEqual({ token_origin: authority.origin });
    }, PATIENT);
  });

  it.each([
    'http://auth.example.net/token',
    'https://10.0.0.1/token',
    'token',
    'ftp://a.example.com',
  ])('[SEC-3] is not registered with the token endpoint %s', async token_url => {
    const body = { name: 'x', transport_type: 'HTTP', ...withAuth('x', { token_url }) };
    const refused = await portico.api('POST', SERVERS, body);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain('connection_config.auth.token_url');
  });
});
