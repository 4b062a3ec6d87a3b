/** Clients with a metadata document on a hostile web: what is fetched, what is stored, and the error if it is unavailable. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { createOAuthClients } from '../../../src/oauth/clients/create-clients.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { DOCUMENTS } from '../../fixtures/oauth-clients.ts';
import { fakeUpstreams, type FakeUpstream } from '../support/fake-upstreams.ts';

const ORIGIN = 'https://app.example.com';
const ID = `${ORIGIN}/client.json`;
const document = {
  client_id: ID,
  client_name: 'App',
  redirect_uris: [`${ORIGIN}/cb`],
};
const MINUTE = 60_000;

const keys = createKeyRing(env.PORTICO_KEYS);
let now = Date.now();
/** Another isolate of the same deployment. */
const isolate = (allowsLoopback = false) =>
  createOAuthClients({ db: env.DB, keys, config: { allowsLoopback }, now: () => now });
/** Uses the client, as a new grant does. */
async function use(clients: ReturnType<typeof isolate>, id = ID): Promise<void> {
  const client = await clients.find(id);
  expect(client).toBeDefined();
  if (client) await clients.touch(client, now);
}
const answer = (change: object = {}, headers: Record<string, string> = {}) =>
  Response.json({ ...document, ...change }, { headers });
const serve = (handle: FakeUpstream) => fakeUpstreams({ [ORIGIN]: handle });
const rows = async () =>
  (await env.DB.prepare('SELECT id, name, last_used_at FROM oauth_clients ORDER BY id').all())
    .results;
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'found',
    (error: { code: string }) => error.code,
  );

beforeEach(async () => {
  now = Date.now();
  await env.DB.exec('DELETE FROM oauth_clients');
});

describe('a client with a document', () => {
  it.each(Object.entries(DOCUMENTS))('[ACC-5] %s is found by its URL', async (id, client) => {
    const { origin } = new URL(id);
    const seen = fakeUpstreams({ [origin]: () => Response.json(client.metadata) });
    expect(await isolate().find(id)).toMatchObject({ id, name: client.metadata['client_name'] });
    expect(seen).toEqual([`GET ${id}`]);
  });

  it('[ACC-5] is read once while it is fresh, and stored when it is used', async () => {
    const seen = serve(() => answer({}, { 'cache-control': 'max-age=600' }));
    const clients = isolate();
    await Promise.all([1, 2, 3].map(() => clients.find(ID)));
    await clients.find(ID);
    expect(await rows()).toEqual([]);
    const reads = seen.length;
    await use(clients);
    expect(await rows()).toEqual([{ id: ID, name: 'App', last_used_at: now }]);
    now += 9 * MINUTE;
    await clients.find(ID);
    await isolate().find(ID);
    expect(seen).toHaveLength(reads);
    now += 2 * MINUTE;
    await clients.find(ID);
    expect(seen).toHaveLength(reads + 1);
  });

  it('[ACC-5] that changes takes effect once the cached one is not fresh any more, also in the table', async () => {
    let name = 'Former';
    serve(() => answer({ client_name: name, redirect_uris: [`${ORIGIN}/${name}`] }));
    const clients = isolate();
    await use(clients);
    name = 'Later';
    expect(await clients.find(ID)).toMatchObject({ name: 'Former' });
    now += 6 * MINUTE;
    expect(await clients.find(ID)).toMatchObject({ redirectUris: [`${ORIGIN}/Later`] });
    expect(await rows()).toMatchObject([{ name: 'Later' }]);
  });

  it('[ACC-5] that is unavailable is used for an hour longer, an invalid one is not', async () => {
    let handle: FakeUpstream = () => answer();
    serve(request => handle(request));
    const clients = isolate();
    await use(clients);
    handle = () => new Response('no', { status: 503 });
    now += 6 * MINUTE;
    for (const at of [clients, isolate()]) {
      expect(await at.find(ID)).toMatchObject({ name: 'App' });
    }
    handle = () => answer({ client_id: 'https://evil.example.com/c' });
    now += MINUTE;
    expect(await codeOf(clients.find(ID))).toBe('invalid_client');
    handle = () => Promise.reject(new Error('unreachable'));
    now += 61 * MINUTE;
    expect(await codeOf(isolate().find(ID))).toBe('temporarily_unavailable');
  });

  it('[ACC-5] is fetched again after some seconds if it was invalid', async () => {
    let handle: FakeUpstream = () => new Response('no', { status: 404 });
    const seen = serve(request => handle(request));
    const clients = isolate();
    for (let i = 0; i < 3; i += 1) expect(await codeOf(clients.find(ID))).toBe('invalid_client');
    expect(seen).toHaveLength(1);
    handle = () => answer();
    now += 11_000;
    expect(await codeOf(clients.find(ID))).toBe('found');
  });

  it('[ACC-5] leaves no row if it was never used, and its row is deleted when it is unused', async () => {
    serve(({ url }) => answer({ client_id: url }));
    const clients = isolate();
    for (let i = 0; i < 250; i += 1) await clients.find(`${ORIGIN}/${i}`);
    expect(await rows()).toEqual([]);
    await use(clients);
    now += 31 * 24 * 60 * MINUTE;
    await use(clients, `${ORIGIN}/other`);
    expect(await rows()).toMatchObject([{ id: `${ORIGIN}/other` }]);
  });
});

describe('a hostile document', () => {
  const endless = () =>
    new ReadableStream<Uint8Array>({
      pull: controller => controller.enqueue(new Uint8Array(1_000).fill(0x20)),
    });
  const json = { 'content-type': 'application/json' };

  it.each<[string, FakeUpstream]>([
    ['redirects', () => new Response(null, { status: 302, headers: { location: `${ORIGIN}/c` } })],
    ['redirects with a body', () => Response.json(document, { status: 307, headers: json })],
    ['has 1 MB', () => answer({ more: 'x'.repeat(1_048_576) })],
    ['has a byte too many', () => answer({ more: 'x'.repeat(5_120) })],
    ['never ends', () => new Response(endless(), { headers: json })],
    ['is of another id', () => answer({ client_id: `${ORIGIN}/other.json` })],
    ['is a page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['is no JSON', () => new Response('{', { headers: json })],
    ['is empty', () => new Response(null, { status: 204 })],
    ['is not there', () => Response.json(document, { status: 404 })],
    ['is created', () => Response.json(document, { status: 201 })],
    ['has wrong types', () => answer({ redirect_uris: [7] })],
    [
      'has a member twice',
      () =>
        new Response(`{"client_id":"${ID}",${JSON.stringify(document).slice(1)}`, {
          headers: json,
        }),
    ],
    ['wants a secret', () => answer({ token_endpoint_auth_method: 'client_secret_post' })],
  ])('[ACC-5] [SEC-3] that %s is refused', async (_what, handle) => {
    const seen = serve(handle);
    const clients = isolate();
    expect(await codeOf(clients.find(ID))).toBe('invalid_client');
    expect(await rows()).toEqual([]);
    expect(seen).toEqual([`GET ${ID}`]);
  });

  it.each([
    'https://10.0.0.1/c',
    'https://[::1]/c',
    'https://localhost/c',
    'http://127.0.0.1:9/c',
    'http://app.example.com/c',
    'https://metadata.google.internal/c',
    'https://gateway.internal/c',
  ])('[ACC-5] [SEC-3] is never fetched from %s', async id => {
    const seen = fakeUpstreams({ [new URL(id).origin]: () => answer({ client_id: id }) });
    expect(await codeOf(isolate().find(id))).toBe('invalid_client');
    expect(seen).toEqual([]);
  });

  it('[ACC-5] may be on this machine in local mode', async () => {
    const id = 'http://127.0.0.1:9/c';
    fakeUpstreams({ 'http://127.0.0.1:9': () => answer({ client_id: id }) });
    expect(await isolate(true).find(id)).toMatchObject({ id });
  });

  it('[ACC-5] that is slow times out, and delays only its share of requests', async () => {
    let handle: FakeUpstream = () => new Promise<Response>(() => {});
    serve(request => handle(request));
    const clients = isolate();
    const startedAt = Date.now();
    const slow = Array.from({ length: 20 }, (_, i) => codeOf(clients.find(`${ORIGIN}/${i}`)));
    expect(await Promise.all(slow)).toEqual(slow.map(() => 'temporarily_unavailable'));
    expect(Date.now() - startedAt).toBeLessThan(15_000);
    handle = () => answer();
    expect(await codeOf(clients.find(ID))).toBe('found');
  });

  it('[ACC-5] [SEC-9] that is slow, in whatever number, delays no client in use', async () => {
    serve(({ url }) => (url === ID ? answer() : new Promise<Response>(() => {})));
    const clients = isolate();
    await use(clients);
    now += 120 * MINUTE;
    const slow = Array.from({ length: 60 }, (_, i) => codeOf(clients.find(`${ORIGIN}/${i}`)));
    expect(await codeOf(clients.find(ID))).toBe('found');
    await Promise.all(slow);
  });

  it('[ACC-5] is not fetched for an id that is no document URL', async () => {
    const seen = serve(() => answer());
    for (const id of [`${ID}#x`, `${ORIGIN}/a/../client.json`, ORIGIN, `${ORIGIN}/`, 'client_x']) {
      expect(await isolate().find(id)).toBeUndefined();
    }
    expect(seen).toEqual([]);
  });
});
