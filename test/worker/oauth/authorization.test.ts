/**
 * A person authorizes a program in a browser, and the program gets tokens for what the person allowed, at the resource it was allowed for.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { createPortico, createToken, ORIGIN } from '../support/portico.ts';
import {
  allow,
  answerIn,
  answerOf,
  authorizePath,
  CALLBACK,
  connect,
  createClient,
  decide,
  redeem,
  send,
  signIn,
  type TokenAnswer,
} from '../support/oauth-client.ts';

const portico = createPortico();

describe('metadata', () => {
  it('[ACC-5] names each URL, the authorization server and its features', async () => {
    const paths = ['', '/mcp', '/mcp/servers/any', '/mcp/toolsets/any', '/sse', '/api/v1'];
    for (const path of paths) {
      const answer = await portico.fetch(`/.well-known/oauth-protected-resource${path}`);
      const { resource, authorization_servers: servers } = await answer.json<{
        resource: string;
        authorization_servers: string[];
      }>();
      expect([path, resource, servers]).toEqual([path, ORIGIN + path, [ORIGIN]]);
    }
    const server = await portico.fetch('/.well-known/oauth-authorization-server');
    expect(server.headers.get('access-control-allow-origin')).toBe('*');
    expect(await server.json()).toMatchObject({
      issuer: ORIGIN,
      authorization_endpoint: `${ORIGIN}/authorize`,
      token_endpoint: `${ORIGIN}/token`,
      registration_endpoint: `${ORIGIN}/register`,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
  });

  it('[ACC-5] is a JSON error if there is none, and for GET only', async () => {
    for (const path of [
      '/.well-known/openid-configuration',
      '/.well-known/x',
      '/.well-known/oauth-protected-resource/other',
    ]) {
      const answer = await portico.fetch(path);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.headers.get('content-type')).toContain('json');
    }
    const posted = await portico.fetch('/.well-known/oauth-authorization-server', {
      method: 'POST',
    });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('challenges', () => {
  it.each(['/mcp', '/mcp/servers/any', '/sse'])(
    '[ACC-5] of %s name the metadata URL, and an error only if a credential was sent',
    async path => {
      const init = { method: path === '/sse' ? 'GET' : 'POST' };
      const bare = await portico.fetch(path, init);
      const wrong = await portico.fetch(path, { ...init, headers: { authorization: 'Bearer x' } });
      const metadata = `resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource${path}"`;
      expect([bare.status, wrong.status]).toEqual([401, 401]);
      expect(bare.headers.get('www-authenticate')).toBe(
        `Bearer scope="tools:read tools:call", ${metadata}`,
      );
      expect(wrong.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", /);
      expect(wrong.headers.get('www-authenticate')).toContain(metadata);
    },
  );

  it('[ACC-5] name all sufficient scopes if one is missing', async () => {
    const { token } = await createToken(portico, { scopes: ['tools:read'] });
    for (const [answer, scopes] of [
      [
        await send(portico, token, 'tools/call', { name: 'x.y', arguments: {} }),
        'tools:read tools:call',
      ],
      [await portico.api('GET', '/api/v1/principals', undefined, { token }), 'admin'],
    ] as const) {
      expect(answer.status).toBe(403);
      expect(answer.headers.get('portico-scope')).toBeNull();
      const challenge = answer.headers.get('www-authenticate') ?? '';
      expect(challenge).toContain('error="insufficient_scope"');
      expect(challenge).toContain(`scope="${scopes}"`);
    }
  });
});

describe('a program', () => {
  it('[ACC-5] [ACC-7] is authorized: sign-in, consent, code, tokens, call', async () => {
    const { token } = await createToken(portico, { name: 'Ada' });
    const clientId = await createClient();
    const path = authorizePath(clientId);
    const stranger = await portico.fetch(path);
    expect(stranger.status).toBe(303);
    expect(stranger.headers.get('location')).toBe(
      `/sign-in?${new URLSearchParams({ return: path })}`,
    );
    const browser = await signIn(portico, token);
    const asked = await browser.get(path);
    const page = await asked.text();
    expect(page).toContain('A &lt;b&gt;program&lt;/b&gt;');
    expect(page).toContain('program.example.com');
    expect(asked.headers.get('content-security-policy')).toContain("form-action 'self';");
    const answer = await answerIn(await decide(browser, page, 'allow'));
    expect([answer.get('iss'), answer.get('state')]).toEqual([ORIGIN, 'a state']);
    const given = await redeem(portico, clientId, answer.get('code') ?? '');
    expect([given.status, given.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const tokens = await given.json<TokenAnswer>();
    expect(tokens).toMatchObject({
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'tools:read tools:call',
    });
    expect((await send(portico, tokens.access_token)).status).toBe(200);
    const own = await portico.api('GET', `/api/v1/grants?client=${clientId}`);
    const { grants } = await own.json<{ grants: { name: string; audience: string }[] }>();
    expect(grants).toMatchObject([{ name: 'A <b>program</b>', audience: `${ORIGIN}/mcp` }]);
    const { results } = await env.DB.prepare(
      'SELECT * FROM oauth_grants, oauth_refresh_tokens, tokens, audit_events',
    ).all();
    for (const secret of [tokens.access_token, tokens.refresh_token, answer.get('code') ?? '']) {
      expect(JSON.stringify(results)).not.toContain(secret);
    }
  });

  it('[ACC-5] needs no second consent if the answer goes to the same web page', async () => {
    const { token } = await createToken(portico);
    const clientId = await createClient();
    const browser = await signIn(portico, token);
    await allow(browser, authorizePath(clientId));
    const again = await browser.get(authorizePath(clientId));
    expect(answerOf(again).get('code')).toMatch(/^portico_code_/);
    const more = await browser.get(authorizePath(clientId, { resource: ORIGIN }));
    expect(more.status).toBe(200);
    const local = await createClient(undefined, ['http://127.0.0.1/callback']);
    const redirect = { redirect_uri: 'http://127.0.0.1:5000/callback' };
    await allow(browser, authorizePath(local, redirect));
    const asked = await browser.get(authorizePath(local, redirect));
    expect(await asked.text()).toContain('a program on this computer');
  });

  it('[ACC-5] gets an error if it was not allowed', async () => {
    const { token } = await createToken(portico);
    const clientId = await createClient();
    const browser = await signIn(portico, token);
    const page = await (await browser.get(authorizePath(clientId))).text();
    const answer = await answerIn(await decide(browser, page, 'deny'));
    expect([answer.get('error'), answer.get('iss'), answer.get('code')]).toEqual([
      'access_denied',
      ORIGIN,
      null,
    ]);
    expect((await decide(browser, page, 'allow')).status).toBe(400);
  });

  it.each<[string, Record<string, string | undefined>, string]>([
    ['no PKCE', { code_challenge: undefined }, 'invalid_request'],
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a token at once', { response_type: 'token' }, 'unsupported_response_type'],
    ['a fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['another resource', { resource: 'https://other.example.com/mcp' }, 'invalid_target'],
    ['a resource that is none', { resource: `${ORIGIN}/mcpx` }, 'invalid_target'],
    ['unknown scopes', { scope: 'everything' }, 'invalid_scope'],
    ['scopes the person has not', { scope: 'admin' }, 'access_denied'],
    ['a request object', { request: 'x' }, 'invalid_request'],
  ])('[ACC-5] that asks with %s gets an error', async (_what, more, error) => {
    const { token } = await createToken(portico);
    const browser = await signIn(portico, token);
    const answer = answerOf(await browser.get(authorizePath(await createClient(), more)));
    expect([answer.get('error'), answer.get('state'), answer.get('iss')]).toEqual([
      error,
      'a state',
      ORIGIN,
    ]);
  });

  it.each<[string, Record<string, string | undefined>]>([
    ['an unknown id', { client_id: 'nobody' }],
    ['another redirect', { redirect_uri: 'https://program.example.com/other' }],
    ['a redirect on a host that only begins alike', { redirect_uri: `${CALLBACK}.evil.example` }],
  ])('[ACC-5] with %s is not redirected: the person sees the error', async (_what, more) => {
    const { token } = await createToken(portico);
    const browser = await signIn(portico, token);
    const answer = await browser.get(authorizePath(await createClient(), more));
    expect([400, 401]).toContain(answer.status);
    expect(answer.headers.get('location')).toBeNull();
    expect(await answer.text()).toContain('role="alert"');
  });

  it('[ACC-5] gets an error if the person may grant nothing of it by the time they allow it', async () => {
    const clientId = await createClient();
    const { id, token } = await createToken(portico);
    const browser = await signIn(portico, token);
    const page = await (await browser.get(authorizePath(clientId))).text();
    const row = await env.DB.prepare('SELECT principal_id FROM tokens WHERE id = ?')
      .bind(id)
      .first();
    const path = `/api/v1/principals/${String(row?.['principal_id'])}`;
    expect((await portico.api('PATCH', path, { scopes: ['servers:read'] })).status).toBe(200);
    const answer = await answerIn(await decide(browser, page, 'allow'));
    expect([answer.get('error'), answer.get('code')]).toEqual(['access_denied', null]);
  });

  it('[ACC-5] [SEC-5] causes no redirect to it before a person is signed in', async () => {
    const path = authorizePath(await createClient(), { response_type: 'token' });
    const answer = await portico.fetch(path);
    expect(answer.headers.get('location')).toBe(
      `/sign-in?${new URLSearchParams({ return: path })}`,
    );
    const unknown = await portico.fetch(authorizePath('nobody'));
    expect([unknown.status, unknown.headers.get('location')]).toEqual([401, null]);
  });

  it('[ACC-5] needs a new consent after its grant has ended', async () => {
    const { token } = await createToken(portico);
    const clientId = await createClient();
    await connect(portico, clientId, token);
    const browser = await signIn(portico, token);
    expect((await browser.get(authorizePath(clientId))).status).toBe(303);
    const listed = await portico.api('GET', `/api/v1/grants?client=${clientId}`);
    const { grants } = await listed.json<{ grants: { id: string }[] }>();
    expect((await portico.api('DELETE', `/api/v1/grants/${grants[0]?.id}`)).status).toBe(204);
    expect((await browser.get(authorizePath(clientId))).status).toBe(200);
  });

  it('[ACC-5] [SEC-5] is not allowed by a form of another page, person or time', async () => {
    const { token } = await createToken(portico);
    const clientId = await createClient();
    const browser = await signIn(portico, token);
    const other = await signIn(portico, (await createToken(portico)).token);
    const page = await (await browser.get(authorizePath(clientId))).text();
    const handle = /name="handle" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const fields = { handle, decision: 'allow' };
    const foreign = await browser.post('/authorize', fields, {
      origin: 'https://evil.example.com',
    });
    expect(foreign.status).toBe(403);
    expect((await other.post('/authorize', fields)).status).toBe(400);
    const answer = await answerIn(await browser.post('/authorize', fields));
    expect(answer.get('code')).not.toBeNull();
    expect((await browser.post('/authorize', fields)).status).toBe(400);
  });
});

it('[ACC-5] a program that registers itself can be authorized, and the page says that nobody checked its name', async () => {
  const registered = await portico.fetch('/register', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Self-made',
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'none',
    }),
  });
  expect([registered.status, registered.headers.get('access-control-allow-origin')]).toEqual([
    201,
    '*',
  ]);
  const { client_id: clientId } = await registered.json<{ client_id: string }>();
  const browser = await signIn(portico, (await createToken(portico)).token);
  const page = await (await browser.get(authorizePath(clientId))).text();
  expect(page).toContain('nobody checked that');
  const code = (await answerIn(await decide(browser, page, 'allow'))).get('code') ?? '';
  expect((await redeem(portico, clientId, code)).status).toBe(200);
});
