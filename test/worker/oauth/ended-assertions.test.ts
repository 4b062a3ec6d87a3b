/** What an assertion is based on also ends its grant and token; absent claims change nothing. */
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { acts, left, NOTHING, PROVIDERS, setUpAssertions } from '../support/assertion-stand.ts';
import { errorOf, send } from '../support/oauth-client.ts';
import { createPortico } from '../support/portico.ts';

const stand = setUpAssertions();

describe('the end of an asserted grant', () => {
  const principalOf = async () =>
    (await env.DB.prepare('SELECT principal_id FROM identities').first<{ principal_id: string }>())
      ?.principal_id;
  const identityOf = async () =>
    (await env.DB.prepare('SELECT id FROM identities').first<{ id: string }>())?.id;

  it.each<[string, () => Promise<Response>]>([
    [
      'the grant',
      async () =>
        stand.portico.api('DELETE', `/api/v1/grants/${String((await stand.grants())[0]?.['id'])}`),
    ],
    [
      'the identity',
      async () => stand.portico.api('DELETE', `/api/v1/identities/${await identityOf()}`),
    ],
    [
      'the principal',
      async () => stand.portico.api('DELETE', `/api/v1/principals/${await principalOf()}`),
    ],
    [
      'the client',
      () => stand.portico.api('DELETE', `/api/v1/oauth/clients/${stand.client.client_id}`),
    ],
    ['the provider', () => stand.portico.api('DELETE', `${PROVIDERS}/Acme`)],
    [
      'the setting',
      () => stand.portico.api('PATCH', `${PROVIDERS}/Acme`, { takes_assertions: false }),
    ],
  ])('[ACC-7] [ACC-1] is caused by that of %s', async (what, end) => {
    await stand.setUp();
    const { access_token: token } = await stand.give();
    expect((await send(stand.portico, token)).status).toBe(200);
    expect((await end()).ok).toBe(true);
    expect((await send(stand.portico, token)).status).toBe(401);
    expect(await left()).toMatchObject({ grants: 0, tokens: 0 });
    if (['the grant', 'the identity', 'the principal'].includes(what)) return;
    expect((await stand.show(await stand.assertion())).ok).toBe(false);
  });

  it('[ACC-7] is caused by a revocation of the client itself, and of no other', async () => {
    await stand.setUp();
    const { access_token: token } = await stand.give();
    const revoke = (who: object) =>
      stand.portico.fetch('/revoke', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: String(new URLSearchParams({ token, ...who })),
      });
    expect((await revoke(await stand.addClient('Other'))).status).toBe(200);
    expect((await send(stand.portico, token)).status).toBe(200);
    expect((await revoke(stand.client)).status).toBe(200);
    expect((await send(stand.portico, token)).status).toBe(401);
    expect(await left()).toMatchObject({ grants: 0, tokens: 0 });
  });

  it('[ACC-7] is not caused by other edits, nor does it end grants that people made', async () => {
    await stand.setUp();
    const { access_token: token } = await stand.give();
    const [, identity] = [await principalOf(), await identityOf()];
    await env.DB.prepare(
      `INSERT INTO oauth_grants (id, client_id, name, principal_id, identity_id, audience, scopes, code_hmac, created_at, expires_at)
       VALUES ('by-hand', 'c', 'c', 'p', ?, 'https://x', '[]', 'h', 0, 9000000000000000)`,
    )
      .bind(identity)
      .run();
    await stand.portico.api('PATCH', `${PROVIDERS}/Acme`, { group_map: { x: 'y' } });
    expect((await send(stand.portico, token)).status).toBe(200);
    await stand.portico.api('PATCH', `${PROVIDERS}/Acme`, { takes_assertions: false });
    expect(await left()).toMatchObject({ grants: 1, tokens: 0 });
  });

  it('[ACC-7] a person who may no longer sign in is refused, with a row', async () => {
    await stand.setUp();
    await stand.give();
    await stand.portico.api('PATCH', `${PROVIDERS}/Acme`, {
      required_claims: { groups: ['Finance'] },
    });
    const before = await acts('denied');
    expect(await errorOf(await stand.show(await stand.assertion()))).toEqual([
      400,
      'invalid_grant',
    ]);
    const after = await acts('denied');
    expect(after).toBe((before ?? 0) + 1);
  });

  it('[ACC-7] comes within the hour, and nothing renews it', async () => {
    await stand.setUp();
    const { access_token: token } = await stand.give();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_001 });
    try {
      expect((await send(createPortico(), token)).status).toBe(401);
    } finally {
      vi.useRealTimers();
    }
  });

  it('[ACC-7] comes at the end of the identity if that is earlier', async () => {
    await stand.setUp({ groups_claim: 'groups', group_map: { Engineering: 'eng' } });
    await stand.give();
    await env.DB.prepare('UPDATE identities SET expires_at = ?')
      .bind(Date.now() + 60_000)
      .run();
    expect((await stand.give({ claims: { groups: undefined } })).expires_in).toBeLessThanOrEqual(
      60,
    );
  });
});

describe('a claim that is absent', () => {
  const identity = () =>
    env.DB.prepare('SELECT name, email, groups, expires_at FROM identities').first<{
      name: string;
      email: string;
      groups: string;
      expires_at: number;
    }>();
  const bare = { claims: { groups: undefined, name: undefined, email: undefined } };

  it('[ACC-7] [ACC-2] leaves the stored value, for its remaining time and no longer', async () => {
    await stand.setUp({ groups_claim: 'groups', group_map: { Engineering: 'eng' } });
    await stand.give({ claims: { email: 'ada@acme.example' } });
    const until = Date.now() + 60_000;
    await env.DB.prepare('UPDATE identities SET expires_at = ?').bind(until).run();
    await stand.give(bare);
    const kept = { name: 'Ada', email: 'ada@acme.example', groups: '["eng"]', expires_at: until };
    expect(await identity()).toEqual(kept);
    await env.DB.prepare('UPDATE identities SET expires_at = ?')
      .bind(Date.now() - 1)
      .run();
    await stand.give(bare);
    const after = await identity();
    expect(after).toMatchObject({ name: 'Ada', groups: '[]' });
    expect(after?.expires_at).toBeGreaterThan(until);
    await stand.give();
    expect(await identity()).toMatchObject({ groups: '["eng"]' });
    await stand.give({ claims: { groups: [] } });
    expect(await identity()).toMatchObject({ groups: '[]' });
  });

  it('[ACC-7] the identity is written by an accepted assertion, and not by a repeated one', async () => {
    await stand.setUp({ groups_claim: 'groups', group_map: { Engineering: 'eng' } });
    const text = await stand.assertion();
    expect((await stand.show(text)).status).toBe(200);
    await stand.give({ claims: { groups: [] } });
    expect((await stand.show(text)).status).toBe(400);
    expect(await identity()).toMatchObject({ groups: '[]' });
  });

  it('[ACC-7] [SEC-5] a used assertion does not restore a person who was removed', async () => {
    await stand.setUp();
    const text = await stand.assertion();
    expect((await stand.show(text)).status).toBe(200);
    await env.DB.prepare('DELETE FROM identities').run();
    expect(await errorOf(await stand.show(text))).toEqual([400, 'invalid_grant']);
    expect(await left()).toEqual(NOTHING);
  });
});
