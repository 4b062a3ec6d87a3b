/** Which clients may present assertions (ID-JAG), and which are accepted. */
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { ASSERTION_TYPE } from '../../../src/oauth/clients/client-credentials.ts';
import { createAssertionIssuer, type Changed } from '../../fixtures/assertion-issuer.ts';
import {
  GRANT_TYPE,
  ISSUER,
  left,
  NOTHING,
  PROVIDERS,
  setUpAssertions,
} from '../support/assertion-stand.ts';
import type { FakeUpstream } from '../support/fake-upstreams.ts';
import { createClient, errorOf, send } from '../support/oauth-client.ts';
import { createPortico, ORIGIN } from '../support/portico.ts';

const stand = setUpAssertions();

describe('the client', () => {
  it('[ACC-7] [SEC-5] authenticates with a secret or a key, and is the one named in the assertion', async () => {
    await stand.setUp();
    const other = await stand.addClient('Other');
    const text = await stand.assertion();
    expect(await errorOf(await stand.show(text, {}, other))).toEqual([400, 'invalid_grant']);
    const wrong = { ...stand.client, client_secret: other.client_secret };
    expect(await errorOf(await stand.show(text, {}, wrong))).toEqual([401, 'invalid_client']);
    const { client_id } = stand.client;
    expect(await errorOf(await stand.show(text, {}, { client_id }))).toEqual([
      401,
      'invalid_client',
    ]);
    expect(await errorOf(await stand.show(text, {}, {}))).toEqual([401, 'invalid_client']);
    const open = await createClient();
    const forOpen = await stand.assertion({ claims: { client_id: open } });
    const refused = await stand.show(forOpen, {}, { client_id: open });
    expect(await errorOf(refused)).toEqual([400, 'unauthorized_client']);
    expect(await left()).toEqual(NOTHING);
    expect(stand.seen).toEqual([]);
    expect((await stand.show(text)).status).toBe(200);
  });

  it('[ACC-7] [SEC-5] with a document signs with a key of it, and is refused without authentication', async () => {
    await stand.setUp();
    const id = 'https://app.example.com/client.json';
    const own = await createAssertionIssuer(id);
    const document = {
      client_id: id,
      client_name: 'App',
      redirect_uris: ['https://app.example.com/cb'],
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      jwks: own.jwks,
    };
    stand.serve({}, { 'https://app.example.com': () => Response.json(document) });
    const about = await stand.assertion({ claims: { client_id: id } });
    const bare = await stand.show(about, {}, { client_id: id });
    expect(await errorOf(bare)).toEqual([400, 'unauthorized_client']);
    const signed = async (changed: Changed = {}) => ({
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await own.sign({ sub: id, aud: ORIGIN }, changed),
    });
    const forged = await signed({ key: stand.others.privateKey });
    expect(await errorOf(await stand.show(about, {}, forged))).toEqual([401, 'invalid_client']);
    // An assertion that a client signs about itself is not a provider's.
    const itself = await own.sign({ sub: 'ada', aud: ORIGIN, client_id: id });
    const asIssuer = await stand.show(itself, {}, await signed());
    expect(await errorOf(asIssuer)).toEqual([400, 'invalid_grant']);
    expect(await left()).toEqual(NOTHING);
    expect((await stand.show(about, {}, await signed())).status).toBe(200);
  });

  it('[ACC-7] may authenticate in a header as well', async () => {
    await stand.setUp();
    const { client_id: id, client_secret: secret } = stand.client;
    const answer = await stand.portico.fetch('/token', {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${btoa(`${id}:${secret}`)}`,
      },
      body: String(
        new URLSearchParams({ grant_type: GRANT_TYPE, assertion: await stand.assertion() }),
      ),
    });
    expect(answer.status).toBe(200);
  });

  it('[ACC-7] has a bounded number of grants of one person: beyond it the oldest end', async () => {
    await stand.setUp();
    const first = await stand.give();
    await env.DB.prepare('UPDATE oauth_grants SET created_at = 1').run();
    for (let made = 0; made < 50; made += 1) await stand.give();
    expect(await left()).toEqual({ grants: 50, tokens: 50, identities: 1 });
    expect((await send(stand.portico, first.access_token)).status).toBe(401);
  });
});

describe('the provider', () => {
  it.each<[string, object]>([
    ['does not say so', { takes_assertions: false }],
    ['lets nobody new in', { creates_principals: false }],
    ['wants what is not said', { required_claims: { groups: ['Finance'] } }],
    ['wants a claim that is missing', { required_claims: { department: ['x'] } }],
  ])('[ACC-7] gives nothing if it %s', async (_what, settings) => {
    await stand.setUp(settings);
    expect(await errorOf(await stand.show(await stand.assertion()))).toEqual([
      400,
      'invalid_grant',
    ]);
    expect(await left()).toEqual(NOTHING);
  });

  it('[ACC-7] unknown, not configured for this, or with another signature gets the same answer', async () => {
    const told = async (text: string) => (await stand.show(text)).text();
    const unknown = await told(await stand.assertion());
    await stand.setUp({ takes_assertions: false });
    expect(await told(await stand.assertion())).toBe(unknown);
    expect(stand.seen).toEqual([]);
    await stand.portico.api('PATCH', `${PROVIDERS}/Acme`, { takes_assertions: true });
    expect(await told(await stand.assertion({ key: stand.others.privateKey }))).toBe(unknown);
  });

  it('[ACC-7] must have the right tenant', async () => {
    await stand.setUp({ required_claims: { tenant: ['acme'] } });
    await stand.give({ claims: { tenant: 'acme' } });
    for (const tenant of ['evil', undefined]) {
      const text = await stand.assertion({ claims: { tenant } });
      expect(await errorOf(await stand.show(text))).toEqual([400, 'invalid_grant']);
    }
    const two = { required_claims: { tenant: ['acme', 'evil'] } };
    await stand.portico.api('PATCH', `${PROVIDERS}/Acme`, two);
    const text = await stand.assertion({ claims: { tenant: 'evil' } });
    expect(await errorOf(await stand.show(text))).toEqual([400, 'invalid_grant']);
  });

  it('[ACC-7] can be configured for it only if it speaks OpenID Connect', async () => {
    const body = {
      name: 'Access',
      kind: 'access',
      issuer: 'https://acme.cloudflareaccess.com',
      client_id: 'x',
      takes_assertions: true,
    };
    expect((await stand.portico.api('POST', PROVIDERS, body)).status).toBe(422);
  });

  it.each<[string, Record<string, FakeUpstream>]>([
    ['is down', { '/.well-known/openid-configuration': () => new Response('', { status: 503 }) }],
    ['has no keys', { '/keys': () => new Response('', { status: 404 }) }],
    [
      'calls itself otherwise',
      {
        '/.well-known/openid-configuration': () =>
          Response.json({ ...stand.idp.metadata, issuer: 'https://evil.example.com' }),
      },
    ],
    [
      'leads its keys inside',
      {
        '/.well-known/openid-configuration': () =>
          Response.json({ ...stand.idp.metadata, jwks_uri: 'http://169.254.169.254/keys' }),
      },
    ],
    [
      'redirects',
      {
        '/keys': () => new Response(null, { status: 302, headers: { location: `${ISSUER}/k` } }),
      },
    ],
    ['says too much', { '/keys': () => Response.json({ keys: [], filler: 'x'.repeat(70_000) }) }],
    [
      'says no JSON',
      { '/keys': () => new Response('<p>', { headers: { 'content-type': 'application/json' } }) },
    ],
  ])('[ACC-7] causes a temporary error if it %s', async (_what, instead) => {
    await stand.setUp();
    stand.serve(instead);
    const text = await stand.assertion();
    const answer = await stand.show(text);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(await errorOf(answer)).toEqual([503, 'temporarily_unavailable']);
    const asked = stand.seen.length;
    expect(await errorOf(await stand.show(text))).toEqual([503, 'temporarily_unavailable']);
    expect(stand.seen.length).toBeLessThanOrEqual(asked + 1);
    expect(await left()).toEqual(NOTHING);
    // The same assertion is accepted once the keys are available.
    stand.serve();
    stand.portico = createPortico();
    expect((await stand.show(text)).status).toBe(200);
  });

  it('[ACC-7] is asked for its keys once, and again for a new key', async () => {
    await stand.setUp();
    await stand.give();
    await stand.give();
    expect(stand.seen.filter(each => each.endsWith('/keys')).length).toBe(1);
    const next = await createAssertionIssuer(ISSUER);
    const changed = { header: { kid: 'k2' }, key: next.privateKey };
    const rotated = { keys: [...stand.idp.jwks.keys, { ...next.publicJwk, kid: 'k2' }] };
    stand.serve({ '/keys': () => Response.json(rotated) });
    expect(await errorOf(await stand.show(await stand.assertion(changed)))).toEqual([
      400,
      'invalid_grant',
    ]);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    try {
      await stand.give(changed);
    } finally {
      vi.useRealTimers();
    }
  });
});

it('[ACC-5] [ACC-7] the grant is in the metadata, and no issuer is', async () => {
  await stand.setUp();
  const answer = await stand.portico.fetch('/.well-known/oauth-authorization-server');
  const text = await answer.text();
  expect(JSON.parse(text)).toMatchObject({
    grant_types_supported: expect.arrayContaining([GRANT_TYPE]),
    authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
  });
  expect(text).not.toContain(ISSUER);
});
