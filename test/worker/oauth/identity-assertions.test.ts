/**
 * Programs that present a provider's signed assertion about a person (ID-JAG): a valid one gets once what the person could have allowed;
 * with any single claim falsified nothing is given.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { toBase64Url } from '../../../src/shared/crypto/base64url.ts';
import { nowSeconds, type Changed } from '../../fixtures/assertion-issuer.ts';
import {
  acts,
  count,
  GRANT_TYPE,
  ISSUER,
  left,
  NOTHING,
  RESOURCE,
  setUpAssertions,
  type Given,
} from '../support/assertion-stand.ts';
import { errorOf, send } from '../support/oauth-client.ts';
import { createToken, ORIGIN } from '../support/portico.ts';

const stand = setUpAssertions();

describe('a valid assertion', () => {
  it('[ACC-7] gives a token for its resource and scopes, once, in a grant', async () => {
    await stand.setUp({ groups_claim: 'groups', group_map: { Engineering: 'eng' } });
    const given = await stand.give();
    expect(given).toEqual({
      access_token: expect.stringMatching(/^portico_/),
      token_type: 'Bearer',
      expires_in: 3_600,
      scope: 'tools:read tools:call',
      resource: RESOURCE,
    });
    expect((await send(stand.portico, given.access_token)).status).toBe(200);
    const sent = { token: given.access_token };
    const elsewhere = await stand.portico.api('GET', '/api/v1/tools', undefined, sent);
    expect(elsewhere.status).toBe(401);
    expect(await stand.grants()).toMatchObject([
      { name: 'Reports', principal_name: 'Ada', audience: RESOURCE },
    ]);
    const listed = await stand.portico.api('GET', '/api/v1/identities');
    const { identities } = await listed.json<{ identities: object[] }>();
    expect(identities).toMatchObject([{ subject: 'ada', name: 'Ada', groups: ['eng'] }]);
    const rows = "audit_events WHERE action = 'grant.create' AND outcome = 'done'";
    expect(await count(`${rows} AND detail LIKE '%"by":"assertion"%'`)).toBe(1);
    expect(await count('sign_ins')).toBe(0);
  });

  it('[ACC-7] identifies the same person as a sign-in, each time', async () => {
    await stand.setUp();
    const { id: token } = await createToken(stand.portico, { name: 'Ada' });
    await env.DB.prepare(
      `INSERT INTO identities (id, issuer, subject, provider_id, principal_id, name, groups, created_at, signed_in_at, expires_at)
       SELECT 'i', ?, 'ada', p.id, t.principal_id, 'Ada', '[]', 0, 0, 1 FROM sign_in_providers AS p, tokens AS t WHERE t.id = ?`,
    )
      .bind(ISSUER, token)
      .run();
    await stand.give();
    await stand.give({ claims: { sub: 'bo', name: 'Bo' } });
    await stand.give();
    expect(await left()).toEqual({ grants: 3, tokens: 3, identities: 2 });
    const names = (await stand.grants()).map(grant => String(grant['principal_name']));
    expect(names.toSorted()).toEqual(['Ada', 'Ada', 'Bo']);
    const ofBoth = 'identities AS i JOIN tokens AS t USING (principal_id) WHERE t.grant_id IS NULL';
    expect(await count(ofBoth)).toBe(1);
  });

  it('[ACC-7] [SEC-5] is accepted once: not again, and one of two at once', async () => {
    await stand.setUp();
    const text = await stand.assertion();
    expect((await stand.show(text)).status).toBe(200);
    expect(await errorOf(await stand.show(text))).toEqual([400, 'invalid_grant']);
    // A jti is unique per issuer: in another assertion it counts as used.
    const again = { jti: 'of-two' };
    await stand.give({ claims: again });
    const other = await stand.assertion({ claims: { ...again, sub: 'bo' } });
    expect(await errorOf(await stand.show(other))).toEqual([400, 'invalid_grant']);
    expect(await acts('denied')).toBe(1);
    for (const sub of ['ada', 'cy']) {
      const twice = await stand.assertion({ claims: { sub } });
      const before = await count('oauth_grants');
      const answers = await Promise.all(Array.from({ length: 8 }, () => stand.show(twice)));
      const statuses = answers.map(({ status }) => status).toSorted();
      expect(statuses).toEqual([200, ...Array<number>(7).fill(400)]);
      expect(await count('oauth_grants')).toBe((before ?? 0) + 1);
    }
    expect(await count("identities WHERE subject = 'bo'")).toBe(0);
  });

  it('[ACC-7] is valid now, by clocks that are a minute apart', async () => {
    await stand.setUp();
    await stand.give({ claims: { exp: nowSeconds() - 30 } });
    await stand.give({ claims: { exp: nowSeconds() + 350, iat: nowSeconds() + 50 } });
    await stand.give({ claims: { nbf: nowSeconds() + 50 } });
    expect(await left()).toMatchObject({ grants: 3 });
  });

  it.each<[string, Changed, Record<string, string>, Partial<Given>]>([
    ['an audience in a list', { claims: { aud: [ORIGIN] } }, {}, {}],
    ['a resource in a list', { claims: { resource: [RESOURCE] } }, {}, {}],
    ['a slash behind the resource', { claims: { resource: `${RESOURCE}/` } }, {}, {}],
    ['no key id', { header: { kid: undefined } }, {}, {}],
    ['the resource named again', {}, { resource: RESOURCE }, {}],
    ['one below it named', {}, { resource: `${RESOURCE}/servers/x` }, {}],
    [
      'of several resources the one that is named',
      { claims: { resource: [`${RESOURCE}/servers/x`, `${RESOURCE}/servers/y`] } },
      { resource: `${RESOURCE}/servers/y` },
      { resource: `${RESOURCE}/servers/y` },
    ],
    [
      'no resource, and one in the request',
      { claims: { resource: undefined } },
      { resource: `${RESOURCE}/servers/x` },
      { resource: `${RESOURCE}/servers/x` },
    ],
    ['no resource at all', { claims: { resource: undefined } }, {}, { resource: ORIGIN }],
    ['fewer scopes', { claims: { scope: 'tools:read' } }, {}, { scope: 'tools:read' }],
    ['fewer asked for', {}, { scope: 'tools:read' }, { scope: 'tools:read' }],
    ['an empty scope in the request', {}, { scope: '' }, { scope: 'tools:read tools:call' }],
    [
      'more asked for',
      { claims: { scope: 'tools:read' } },
      { scope: 'tools:read tools:call offline_access' },
      { scope: 'tools:read' },
    ],
    [
      'scopes of others beside ours',
      { claims: { scope: 'openid tools:call' } },
      {},
      { scope: 'tools:call' },
    ],
    [
      'no scope: those of a member',
      { claims: { scope: undefined } },
      {},
      { scope: 'tools:read tools:call' },
    ],
    [
      'more than the principal may have',
      { claims: { scope: 'tools:read admin' } },
      {},
      { scope: 'tools:read' },
    ],
  ])('[ACC-7] has %s', async (_what, changed, more, expected) => {
    await stand.setUp();
    const usual = { scope: 'tools:read tools:call', resource: RESOURCE };
    expect(await stand.give(changed, more)).toMatchObject({ ...usual, ...expected });
  });

  it("[ACC-7] [ACC-2] gives administrators' scopes only if it names them", async () => {
    await stand.setUp();
    await stand.give();
    const ofThem = 'id IN (SELECT principal_id FROM identities)';
    await env.DB.prepare(`UPDATE principals SET scopes = '["admin"]' WHERE ${ofThem}`).run();
    const scopeOf = async (scope?: string) => (await stand.give({ claims: { scope } })).scope;
    expect(await scopeOf()).toBe('tools:read tools:call');
    expect(await scopeOf('servers:write admin')).toBe('servers:write admin');
  });
});

const parts = async () => (await stand.assertion()).split('.');
const toPart = (value: unknown) => toBase64Url(new TextEncoder().encode(JSON.stringify(value)));
const claims = (changed: Record<string, unknown>) => () => stand.assertion({ claims: changed });
/** Seconds from when the test runs, which may be long after it was loaded. */
const at = (name: string, seconds: number) => () =>
  stand.assertion({ claims: { [name]: nowSeconds() + seconds } });
const header = (changed: Record<string, unknown>) => () => stand.assertion({ header: changed });

describe('an assertion with one defect', () => {
  it.each<[string, () => Promise<string>, string?]>([
    ['another issuer', claims({ iss: 'https://evil.example.com' })],
    ['the issuer with a slash', claims({ iss: `${ISSUER}/` })],
    ['an issuer that only begins alike', claims({ iss: `${ISSUER}.evil.example` })],
    ['no issuer', claims({ iss: undefined })],
    ['no subject', claims({ sub: undefined })],
    ['an empty subject', claims({ sub: '' })],
    ['a subject that is no text', claims({ sub: 42 })],
    ['a subject too long', claims({ sub: 'x'.repeat(501) })],
    ['another audience', claims({ aud: 'https://other.example.com' })],
    ['the audience with a slash', claims({ aud: `${ORIGIN}/` })],
    ['the token endpoint for audience', claims({ aud: `${ORIGIN}/token` })],
    ['one more audience', claims({ aud: [ORIGIN, 'https://other.example.com'] })],
    ['our audience twice', claims({ aud: [ORIGIN, ORIGIN] })],
    ['an empty list of audiences', claims({ aud: [] })],
    ['no audience', claims({ aud: undefined })],
    ['another client', claims({ client_id: 'somebody-else' })],
    ['no client', claims({ client_id: undefined })],
    [
      'a list of clients',
      async () => stand.assertion({ claims: { client_id: [stand.client.client_id] } }),
    ],
    ['no id', claims({ jti: undefined })],
    ['an empty id', claims({ jti: '' })],
    ['an id too long', claims({ jti: 'x'.repeat(1_001) })],
    ['an end long ago', at('exp', -62)],
    ['an end that is far', at('exp', 400)],
    ['no end', claims({ exp: undefined })],
    [
      'an end that is no number',
      () => stand.assertion({ claims: { exp: String(nowSeconds() + 60) } }),
    ],
    ['no beginning', claims({ iat: undefined })],
    ['a beginning to come', at('iat', 120)],
    ['a time that is not yet', at('nbf', 120)],
    ['a resource of others', claims({ resource: 'https://other.example.com/mcp' })],
    ['a resource of others beside ours', claims({ resource: [RESOURCE, 'https://x.example/'] })],
    ['a path that is no resource', claims({ resource: `${ORIGIN}/token` })],
    ['an empty list of resources', claims({ resource: [] })],
    ['a resource that is no text', claims({ resource: { url: RESOURCE } })],
    ['scopes of others', claims({ scope: 'chat.read openid' })],
    ['an empty scope', claims({ scope: '' })],
    ['scopes in a list', claims({ scope: ['tools:read'] })],
    ['more than anybody has here', claims({ scope: 'admin' }), 'invalid_scope'],
    ['a key it is bound to', claims({ cnf: { jkt: 'x' } })],
    ['rights beyond scopes', claims({ authorization_details: [] })],
    ['somebody who acts for another', claims({ act: { sub: 'agent' } })],
    ['a tenant of ours', claims({ aud_tenant: 'acme' })],
    ['a tenant of theirs', claims({ tenant: 'acme' })],
    ['the type of any token', header({ typ: 'JWT' })],
    ['the type of an access token', header({ typ: 'at+jwt' })],
    ['the type in capitals', header({ typ: 'OAUTH-ID-JAG+JWT' })],
    ['no type', header({ typ: undefined })],
    ['no algorithm', header({ alg: 'none' })],
    ['a symmetric algorithm', header({ alg: 'HS256' })],
    ['another algorithm', header({ alg: 'RS256' })],
    ['a key that is not shown', header({ kid: 'k2' })],
    ['what must be understood', header({ crit: ['exp'] })],
    [
      'a key in its header',
      () =>
        stand.assertion({
          header: { jwk: stand.others.publicJwk, kid: undefined },
          key: stand.others.privateKey,
        }),
    ],
    ['another key', () => stand.assertion({ key: stand.others.privateKey })],
    ['the signature of another issuer', () => stand.assertion({}, stand.others)],
    ['no signature', async () => (await parts()).slice(0, 2).join('.') + '.'],
    ['two parts', async () => (await parts()).slice(0, 2).join('.')],
    [
      'changed claims',
      async () => {
        const [head = '', body = '', tail = ''] = await parts();
        const said = JSON.parse(atob(body.replaceAll('-', '+').replaceAll('_', '/'))) as object;
        return [head, toPart({ ...said, sub: 'eve' }), tail].join('.');
      },
    ],
    ['no token', async () => 'x'],
    ['too much', claims({ filler: 'x'.repeat(9_500) })],
    ['far too much', claims({ filler: 'x'.repeat(20_000) }), 'invalid_request'],
  ])('[ACC-7] [SEC-5] gives nothing: %s', async (_what, forge, code = 'invalid_grant') => {
    await stand.setUp();
    const answer = await stand.show(await forge());
    const { error, error_description: told } = await answer.clone().json<Record<string, string>>();
    expect([answer.status, error]).toEqual([400, code]);
    expect(told).not.toMatch(/evil|Acme|login\.example/);
    const { identities, ...rest } = await left();
    // The right to sign in is checked before the requested scopes.
    expect(rest).toEqual({ grants: 0, tokens: 0 });
    expect(identities).toBe(code === 'invalid_scope' ? 1 : 0);
  });

  it.each<[string, Record<string, string>, string]>([
    ['another resource', { resource: `${ORIGIN}/sse` }, 'invalid_target'],
    ['a wider resource', { resource: ORIGIN }, 'invalid_target'],
    ['other scopes', { scope: 'servers:read' }, 'invalid_scope'],
    ['no scope of ours', { scope: 'chat.read' }, 'invalid_scope'],
  ])('[ACC-7] gives nothing if the request names %s', async (_what, more, error) => {
    await stand.setUp();
    expect(await errorOf(await stand.show(await stand.assertion(), more))).toEqual([400, error]);
    expect(await left()).toEqual(NOTHING);
  });

  it('[ACC-7] gives nothing if it is missing or duplicate', async () => {
    await stand.setUp();
    const text = await stand.assertion();
    const fields = new URLSearchParams({ grant_type: GRANT_TYPE, ...stand.client });
    const ask = async (body: string) =>
      errorOf(
        await stand.portico.fetch('/token', {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body,
        }),
      );
    expect(await ask(`${fields}`)).toEqual([400, 'invalid_request']);
    const twice = `${fields}&assertion=${text}&assertion=${text}`;
    expect(await ask(twice)).toEqual([400, 'invalid_request']);
  });
});
