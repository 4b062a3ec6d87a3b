/** Rotation of the key ring: everything sealed moves, concurrent edits stay, and what cannot be opened is reported. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseEvents } from '../../../src/audit/audit-store.ts';
import { findServer, updateServer } from '../../../src/servers/registry/server-store.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { findStale, replaceSealed } from '../../../src/credentials/rotation-store.ts';
import { connect, createClient, refresh, send } from '../support/oauth-client.ts';
import { createPortico, createToken, SERVERS, type ServerView } from '../support/portico.ts';

const key = (fill: number) => btoa(String.fromCharCode(...new Uint8Array(32).fill(fill)));
const ring = (active: string, ...ids: number[]) =>
  JSON.stringify({ active, keys: Object.fromEntries(ids.map(id => [`k${id}`, key(id)])) });
const first = createPortico();
const both = createPortico({ PORTICO_KEYS: ring('k2', 1, 2) });
const SECRETS = '/api/v1/secrets';
const KEYS = '/api/v1/keys';
const ORIGIN = 'https://rotating.example.com';

interface Progress {
  active: string;
  total: number;
  rotated: number;
  remaining: number;
  unreadable: number;
  next: string | null;
}

const put = (name: string, value = 'value', at = first) =>
  at.api('PUT', `${SECRETS}/${name}`, { value, origins: [ORIGIN] });

async function rotate(body: object = {}): Promise<Progress> {
  const response = await both.api('POST', `${KEYS}/rotate`, body);
  expect(response.status).toBe(200);
  return response.json();
}

async function rotateAll(limit = 50): Promise<Progress[]> {
  const steps: Progress[] = [];
  let cursor: string | null = null;
  do {
    const step: Progress = await rotate({ limit, cursor });
    steps.push(step);
    cursor = step.next;
  } while (cursor !== null);
  return steps;
}

const report = async (at = both) => (await at.api('GET', KEYS)).json<Record<string, unknown>>();
const register = (name: string, config: object) =>
  first.api('POST', SERVERS, {
    name,
    transport_type: 'HTTP',
    connection_config: { url: `${ORIGIN}/mcp`, ...config },
    auto_connect: false,
  });

beforeEach(async () => {
  for (const table of ['servers', 'secrets', 'access_tokens', 'tokens'])
    await env.DB.prepare(`DELETE FROM ${table}`).run();
});

describe('rotation', () => {
  it('[SEC-1] moves secrets, headers, auth and access tokens, a bounded number at a time', async () => {
    for (let i = 0; i < 7; i += 1) expect((await put(`S${i}`)).status).toBe(200);
    const config = { headers: { 'X-Key': 'literal' }, auth: { type: 'bearer', token: '${S1}' } };
    const { id } = await (await register('rotating', config)).json<ServerView>();
    const tokenSealed = env.DB.prepare(
      `INSERT INTO access_tokens SELECT ?, headers_sealed, 1, '', '', 0, 0 FROM servers`,
    );
    await tokenSealed.bind(id).run();
    expect(await report()).toMatchObject({
      active: 'k2',
      keys: [
        { id: 'k2', in_ring: true, secrets: 0, servers: 0, access_tokens: 0 },
        { id: 'k1', in_ring: true, secrets: 7, servers: 2, access_tokens: 1 },
      ],
      remaining: 10,
    });
    const steps = await rotateAll(4);
    expect(steps.map(step => [step.rotated, step.remaining, step.unreadable])).toEqual([
      [4, 6, 0],
      [4, 2, 0],
      // The access token holds a value that was sealed for another field.
      [1, 1, 1],
      [0, 1, 0],
    ]);
    await env.DB.prepare('DELETE FROM access_tokens').run();
    expect(await report()).toMatchObject({
      remaining: 0,
      keys: [
        { id: 'k2', secrets: 7, servers: 2 },
        { id: 'k1', secrets: 0, servers: 0 },
      ],
    });
    const only = createPortico({ PORTICO_KEYS: ring('k2', 2) });
    const view = await (await only.api('GET', `${SERVERS}/${id}`)).json();
    expect(view).toMatchObject({ name: 'rotating', revision: 1 });
    const rows = await env.DB.prepare('SELECT sealed FROM secrets').all<{ sealed: string }>();
    for (const { sealed } of rows.results) expect(sealed).toMatch(/^1:k2\./);
  });

  it('[SEC-1] turns headers from before envelopes into envelopes', async () => {
    const { id } = await (await register('former', { headers: { a: 'b' } })).json<ServerView>();
    const old = createKeyRing(ring('k1', 1));
    const bound = `1|${id}|${ORIGIN}|headers`;
    const sealed = await old.seal('credential', '{"X-Key":"text"}', bound);
    await env.DB.prepare('UPDATE servers SET headers_sealed = ?').bind(sealed).run();
    expect(await report()).toMatchObject({ remaining: 1 });
    expect(await rotateAll()).toMatchObject([{ rotated: 1, remaining: 0 }, { rotated: 0 }]);
    const row = await env.DB.prepare('SELECT headers_sealed FROM servers').first();
    expect(row?.['headers_sealed']).toMatch(/^1:k2\./);
  });

  it('[SEC-1] never reverts a concurrent edit', async () => {
    await put('EDITED', 'before');
    const [stale] = await findStale(env.DB, 'secret', '1:k2.', '', 10);
    await put('EDITED', 'after');
    const written = stale && (await replaceSealed(env.DB, stale, 'taken back').run());
    expect(written?.meta.changes).toBe(0);
    await Promise.all([rotateAll(1), put('EDITED', 'again', both), put('NEW', 'value', both)]);
    await rotateAll();
    const { results } = await env.DB.prepare('SELECT name, revision FROM secrets').all();
    expect(results).toEqual([
      { name: 'EDITED', revision: 3 },
      { name: 'NEW', revision: 1 },
    ]);
    expect(await report()).toMatchObject({ remaining: 0 });
  });

  it('[SEC-1] is not reverted by an edit that leaves the credential unchanged', async () => {
    const { id } = await (await register('edited', { headers: { a: 'b' } })).json<ServerView>();
    const before = await findServer(env.DB, id);
    if (!before) throw new Error('The server is not there');
    await rotateAll();
    const edited = { ...before, description: 'late' };
    await env.DB.batch(updateServer(env.DB, edited, false, before.accounts));
    expect(await report()).toMatchObject({ remaining: 0 });
    const after = await findServer(env.DB, id);
    expect(after).toMatchObject({ description: 'late', revision: 2 });
    expect(after?.credential.headersSealed).toMatch(/^1:k2\./);
  });

  it('[SEC-1] skips what it cannot open, and reports how much that is', async () => {
    for (const name of ['A', 'B', 'C']) await put(name);
    await env.DB.prepare(
      "UPDATE secrets SET sealed = replace(sealed, '1:k1.', '1:k0.') WHERE name = 'B'",
    ).run();
    const steps = await rotateAll(1);
    expect(steps.map(({ rotated, unreadable }) => [rotated, unreadable])).toEqual([
      [1, 0],
      [0, 1],
      [1, 0],
      [0, 0],
    ]);
    expect(await report()).toMatchObject({
      remaining: 1,
      keys: [{ id: 'k2' }, { id: 'k1' }, { id: 'k0', in_ring: false, secrets: 1 }],
    });
  });

  it('[SEC-1] [SEC-6] [ACC-2] is for admins, each step leaves a row, and no key is shown', async () => {
    await put('ROW');
    const writer = await createToken(first, { scopes: ['secrets:write', 'servers:write'] });
    for (const [method, path, body] of [
      ['GET', KEYS, undefined],
      ['POST', `${KEYS}/rotate`, {}],
    ] as const) {
      const refused = await both.api(method, path, body, { token: writer.token });
      expect([method, refused.status]).toEqual([method, 403]);
    }
    await rotate();
    const { results } = await env.DB.prepare(
      "SELECT * FROM audit_events WHERE action = 'keys.rotate' ORDER BY seq DESC LIMIT 2",
    ).all();
    const [done, denied] = parseEvents(results);
    expect([done?.outcome, done?.detail, denied?.outcome, denied?.tokenId]).toEqual([
      'done',
      { rotated: 1, unreadable: 0 },
      'denied',
      writer.id,
    ]);
    const text = JSON.stringify([await report(), results]);
    for (const id of [1, 2]) expect(text).not.toContain(key(id));
  });

  it.each([{ limit: 0 }, { limit: 201 }, { cursor: 'other:x' }, { cursor: 7 }, { more: 1 }])(
    '[SEC-4] refuses %j',
    async body => {
      const response = await both.api('POST', `${KEYS}/rotate`, body);
      expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
        422,
        'validation_failed',
      ]);
    },
  );
});

describe('a client token', () => {
  it('[SEC-1] [ACC-1] moves to the active key when it is used, and keeps working', async () => {
    const { id, token } = await createToken(first);
    const keyOf = async () =>
      (await env.DB.prepare('SELECT key_id FROM tokens WHERE id = ?').bind(id).first())?.['key_id'];
    expect([await keyOf(), await report()]).toEqual([
      'k1',
      expect.objectContaining({ tokens_remaining: 1 }),
    ]);
    const use = (at: typeof both) => at.api('GET', '/api/v1/tools', undefined, { token });
    const isolates = Array.from({ length: 5 }, () =>
      createPortico({ PORTICO_KEYS: ring('k2', 1, 2) }),
    );
    const used = await Promise.all(isolates.map(use));
    expect(used.map(({ status }) => status)).toEqual(used.map(() => 200));
    for (const isolate of isolates) await isolate.settle();
    expect(await keyOf()).toBe('k2');
    const after = await report();
    expect(after).toMatchObject({ tokens_remaining: 0 });
    expect((await use(createPortico({ PORTICO_KEYS: ring('k2', 2) }))).status).toBe(200);
    expect((await use(createPortico({ PORTICO_KEYS: ring('k3', 3) }))).status).toBe(401);
  });

  it('[SEC-1] [ACC-5] of a program counts until its refresh token is used, which needs the former key', async () => {
    const { token } = await createToken(first);
    const clientId = await createClient();
    const program = await connect(first, clientId, token);
    for (const value of [token, program.access_token]) {
      expect((await send(both, value)).status).toBe(200);
      await both.settle();
    }
    expect(await report()).toMatchObject({ tokens_remaining: 1 });
    const only = createPortico({ PORTICO_KEYS: ring('k2', 2) });
    expect((await refresh(only, clientId, program.refresh_token)).status).toBe(400);
    expect((await refresh(both, clientId, program.refresh_token)).status).toBe(200);
    expect(await report()).toMatchObject({ tokens_remaining: 0 });
  });

  it('[SEC-1] from before keys were counted is counted once it is used', async () => {
    const { id, token } = await createToken(first);
    await env.DB.prepare('UPDATE tokens SET key_id = NULL WHERE id = ?').bind(id).run();
    expect(await report(first)).toMatchObject({ tokens_remaining: 1 });
    const at = createPortico();
    await at.api('GET', '/api/v1/tools', undefined, { token });
    await at.settle();
    expect(await report(first)).toMatchObject({ tokens_remaining: 0 });
  });

  it("[SEC-1] [ACC-1] that was rotated moves by either of its values; an expired one does not delay a key's removal", async () => {
    const { id, token } = await createToken(first);
    const path = `/api/v1/tokens/${id}/rotate`;
    const rotated = await first.api('POST', path, { grace_seconds: 600 });
    const { token: next } = await rotated.json<{ token: string }>();
    const remaining = async () =>
      (await (await both.api('GET', '/api/v1/keys')).json<{ tokens_remaining: number }>())
        .tokens_remaining;
    const before = await remaining();
    for (const value of [token, next]) {
      const used = await both.api('GET', '/api/v1/tools', undefined, { token: value });
      expect(used.status).toBe(200);
      await both.settle();
    }
    expect(await remaining()).toBe(before - 2);
    const expiring = await createToken(first);
    expect(await remaining()).toBe(before - 1);
    await env.DB.prepare('UPDATE tokens SET expires_at = 1 WHERE id = ?').bind(expiring.id).run();
    expect(await remaining()).toBe(before - 2);
  });
});
