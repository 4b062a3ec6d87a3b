/** Registrations over HTTP: the response, what is stored, the bounds, and that a flood locks out nobody. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_UNUSED } from '../../../src/oauth/clients/client-store.ts';
import { createOAuthClients } from '../../../src/oauth/clients/create-clients.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { REGISTRATIONS } from '../../fixtures/oauth-clients.ts';

const keys = createKeyRing(env.PORTICO_KEYS);
const DAY = 86_400_000;
let now = Date.now();
const isolate = () =>
  createOAuthClients({ db: env.DB, keys, config: { allowsLoopback: false }, now: () => now });
const good = { redirect_uris: ['https://app.example.com/cb'], token_endpoint_auth_method: 'none' };

interface Registered {
  client_id: string;
  client_secret?: string;
  error?: string;
}

const send = (
  at: ReturnType<typeof isolate>,
  body: BodyInit,
  headers: Record<string, string> = {},
) =>
  at.register(
    new Request('https://gateway.example.com/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    }),
  );
async function register(
  at: ReturnType<typeof isolate>,
  metadata: object = good,
  address?: string,
): Promise<Registered & { status: number }> {
  const from = address === undefined ? {} : { 'cf-connecting-ip': address };
  const response = await send(at, JSON.stringify(metadata), from);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return { status: response.status, ...(await response.json<Registered>()) };
}
const count = async (where = '1') =>
  await env.DB.prepare(`SELECT count(*) AS n FROM oauth_clients WHERE ${where}`).first<number>('n');
/** Inserts unused clients that registered one second after the other, the last one now. */
const fill = (many: number) =>
  env.DB.prepare(
    `WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < ?1 - 1)
     INSERT INTO oauth_clients (id, kind, name, redirect_uris, auth_methods, created_at)
     SELECT 'filled_' || n, 'registered', 'x', '[]', '["none"]', ?2 - n * 1000 FROM i`,
  )
    .bind(many, now)
    .run();

beforeEach(async () => {
  now = Date.now();
  await env.DB.exec('DELETE FROM oauth_clients');
  await env.DB.exec('DELETE FROM oauth_grants');
});

describe('POST /register', () => {
  it.each(Object.entries(REGISTRATIONS))('[ACC-5] accepts %s', async (_name, { metadata }) => {
    const clients = isolate();
    const made = await register(clients, metadata);
    expect(made).toMatchObject({ status: 201, redirect_uris: metadata['redirect_uris'] });
    expect(made.client_secret).toBeUndefined();
    expect(await isolate().find(made.client_id)).toMatchObject({
      kind: 'registered',
      name: metadata['client_name'],
      redirectUris: metadata['redirect_uris'],
      authMethods: ['none'],
    });
  });

  it.each(['client_secret_basic', 'client_secret_post', undefined])(
    '[ACC-5] [SEC-1] gives a secret for %s, without storing its text',
    async method => {
      const made = await register(isolate(), { ...good, token_endpoint_auth_method: method });
      expect(made).toMatchObject({
        status: 201,
        client_secret_expires_at: 0,
        token_endpoint_auth_method: method ?? 'client_secret_basic',
      });
      expect(made.client_secret).toMatch(/^portico_secret_[\w-]{43}$/);
      const { results } = await env.DB.prepare('SELECT * FROM oauth_clients').all();
      expect(JSON.stringify(results)).not.toContain(made.client_secret);
    },
  );

  it.each<[string, BodyInit, Record<string, string>, string]>([
    ['no JSON', '{', {}, 'invalid_client_metadata'],
    ['no object', '[]', {}, 'invalid_client_metadata'],
    ['no type', '{}', { 'content-type': 'text/plain' }, 'invalid_client_metadata'],
    ['no redirect', '{}', {}, 'invalid_redirect_uri'],
    [
      'too much',
      JSON.stringify({ ...good, more: 'x'.repeat(16_384) }),
      {},
      'invalid_client_metadata',
    ],
    ['no UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), {}, 'invalid_client_metadata'],
    [
      'much that is nested',
      `{"a":${'['.repeat(8_000)}${']'.repeat(8_000)}}`,
      {},
      'invalid_redirect_uri',
    ],
  ])('[ACC-5] refuses %s', async (_what, body, headers, error) => {
    const response = await send(isolate(), body, headers);
    expect([response.status, (await response.json<Registered>()).error]).toEqual([400, error]);
    expect(await count()).toBe(0);
  });

  it('[ACC-5] accepts a body that arrives in chunks, and only POST', async () => {
    const text = JSON.stringify(good);
    const pieces = new Blob([text.slice(0, 9), text.slice(9)]).stream();
    expect((await send(isolate(), pieces)).status).toBe(201);
    const url = 'https://gateway.example.com/register';
    const response = await isolate().register(new Request(url));
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('[ACC-5] reports a temporary error if the database fails', async () => {
    const db = new Proxy(env.DB, {
      get: (target, name) =>
        name === 'batch' ? () => Promise.reject(new Error('down')) : Reflect.get(target, name),
    });
    const config = { allowsLoopback: false };
    const made = await register(createOAuthClients({ db, keys, config, now: () => now }));
    expect(made).toMatchObject({ status: 503, error: 'temporarily_unavailable' });
  });
});

describe('a flood of registrations', () => {
  it('[ACC-5] of one address is bounded, and affects nobody else', async () => {
    const clients = isolate();
    const before = await register(clients, good, '192.0.2.1');
    const flood = [];
    for (let i = 0; i < 60; i += 1) flood.push(await register(clients, good, '198.51.100.7'));
    expect(flood.filter(({ status }) => status === 201)).toHaveLength(30);
    expect(flood.at(-1)).toMatchObject({ status: 429, error: 'slow_down' });
    expect((await register(clients, good, '192.0.2.1')).status).toBe(201);
    expect(await clients.find(before.client_id)).toBeDefined();
    now += 60_000;
    expect((await register(clients, good, '198.51.100.7')).status).toBe(201);
  });

  it('[ACC-5] of one IPv6 network counts as one address, including refused requests', async () => {
    const clients = isolate();
    const statuses = [];
    for (let i = 0; i < 40; i += 1) {
      statuses.push((await register(clients, {}, `2001:db8:1:2::${i.toString(16)}`)).status);
    }
    expect(statuses.filter(status => status === 429)).toHaveLength(10);
    expect((await register(clients, good, '2001:db8:1:3::1')).status).toBe(201);
  });

  it('[ACC-5] leaves a bounded number of clients, among which the newest and those in use stay', async () => {
    await fill(MAX_UNUSED + 40);
    const clients = isolate();
    await env.DB.exec("UPDATE oauth_clients SET last_used_at = 1 WHERE id = 'filled_1039'");
    await env.DB.prepare('UPDATE oauth_clients SET last_used_at = ? WHERE id = ?')
      .bind(now, 'filled_1038')
      .run();
    await env.DB.prepare(
      `INSERT INTO oauth_grants (id, client_id, name, principal_id, audience, scopes, created_at, expires_at)
       VALUES ('g', 'filled_1037', 'x', 'p', 'a', '[]', 0, ?)`,
    )
      .bind(now + 1)
      .run();
    const made = await register(clients);
    expect(await count('last_used_at IS NULL')).toBe(MAX_UNUSED + 1);
    for (const id of [made.client_id, 'filled_0', 'filled_998', 'filled_1038', 'filled_1037']) {
      expect([id, await clients.find(id)]).toEqual([id, expect.anything()]);
    }
    for (const id of ['filled_1000', 'filled_1036', 'filled_1039']) {
      expect([id, await clients.find(id)]).toEqual([id, undefined]);
    }
  });

  it('[ACC-5] is deleted after a day; a client that was used, after 90; a manual one never', async () => {
    const clients = isolate();
    const [never, used, granted] = [
      await register(clients),
      await register(clients),
      await register(clients),
    ];
    const touch = async (id: string) => {
      const client = await clients.find(id);
      if (client) await clients.touch(client, now);
    };
    await touch(used.client_id);
    await touch(granted.client_id);
    await env.DB.prepare(
      `INSERT INTO oauth_grants (id, client_id, name, principal_id, audience, scopes, created_at, expires_at)
       VALUES ('g', ?, 'x', 'p', 'a', '[]', 0, ?)`,
    )
      .bind(granted.client_id, now + 120 * DAY)
      .run();
    await env.DB.exec(
      "INSERT INTO oauth_clients (id, kind, name, redirect_uris, auth_methods, created_at) VALUES ('m', 'manual', 'm', '[]', '[\"none\"]', 0)",
    );
    const left = async () => {
      await register(clients);
      const found = await Promise.all(
        [never, used, granted].map(({ client_id: id }) => clients.find(id)),
      );
      return [...found, await clients.find('m')].map(client => client !== undefined);
    };
    now += DAY - 1;
    expect(await left()).toEqual([true, true, true, true]);
    now += 1;
    expect(await left()).toEqual([false, true, true, true]);
    now += 90 * DAY;
    expect(await left()).toEqual([false, false, true, true]);
  });
});
