/** Clients as administrators see them: created with a secret that is shown once, listed for every kind, and deleted with their grants. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { createPortico, createToken, ORIGIN } from '../support/portico.ts';

const PATH = '/api/v1/oauth/clients';
const portico = createPortico();
const body = { name: 'Reports', redirect_uris: ['https://reports.example.com/cb'] };

interface View {
  id: string;
  kind: string;
  client_secret?: string | null;
}

async function create(more: object = {}): Promise<View> {
  const response = await portico.api('POST', PATH, { ...body, ...more });
  expect(response.status).toBe(201);
  const view = await response.json<View>();
  expect(response.headers.get('location')).toBe(`${PATH}/${view.id}`);
  return view;
}
const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;
/** Inserts a client of another kind. */
const insert = (id: string, kind: string) =>
  env.DB.prepare(
    `INSERT INTO oauth_clients (id, kind, name, redirect_uris, auth_methods, created_at) VALUES (?, ?, 'x', '["https://a.example/cb"]', '["none"]', 1)`,
  )
    .bind(id, kind)
    .run();
const ask = (form: Record<string, string>) =>
  portico.fetch('/token', {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x', ...form }),
  });
const errorOf = async (answer: Promise<Response>) =>
  (await (await answer).json<{ error: string }>()).error;

beforeEach(async () => {
  await env.DB.exec('DELETE FROM oauth_clients');
});

describe('/api/v1/oauth/clients', () => {
  it('[ACC-5] [SEC-1] creates a client whose secret works, is shown once and is stored nowhere', async () => {
    const { id, client_secret: secret, ...view } = await create();
    expect(view).toMatchObject({ ...body, kind: 'manual', last_used_at: null });
    expect(secret).toMatch(/^portico_secret_/);
    // An authenticated client gets an error about the token, others one about the client.
    const known = { client_id: id, client_secret: secret ?? '' };
    expect(await errorOf(ask(known))).toBe('invalid_grant');
    expect(await errorOf(ask({ client_id: id }))).toBe('invalid_client');
    expect(await errorOf(ask({ ...known, client_secret: `${secret}x` }))).toBe('invalid_client');
    const shown = [
      await (await portico.api('GET', PATH)).text(),
      await (await portico.api('GET', pathOf(id))).text(),
      JSON.stringify((await env.DB.prepare('SELECT * FROM oauth_clients').all()).results),
      JSON.stringify((await env.DB.prepare('SELECT * FROM audit_events').all()).results),
    ];
    expect(shown.filter(text => text.includes(secret ?? ''))).toEqual([]);
    expect(shown.filter(text => text.includes(id))).toHaveLength(4);
  });

  it('[ACC-5] creates one without a secret for a client that could not keep it', async () => {
    const { id, client_secret: secret } = await create({ public: true });
    expect(secret).toBeNull();
    expect(await errorOf(ask({ client_id: id }))).toBe('invalid_grant');
  });

  it('[ACC-5] lists clients of every kind, and finds one by the URL of its document', async () => {
    const document = 'https://app.example.com/oauth/client.json?v=1%2F';
    await insert(document, 'document');
    await insert('client_x', 'registered');
    const { id } = await create();
    const kinds = async (query = '') => {
      const page = await (await portico.api('GET', `${PATH}${query}`)).json<{ clients: View[] }>();
      return page.clients.map(client => client.id);
    };
    expect(await kinds()).toEqual([id, 'client_x', document]);
    expect(await kinds('?kind=document')).toEqual([document]);
    expect(await kinds('?kind=manual')).toEqual([id]);
    expect((await portico.api('GET', `${PATH}?kind=other`)).status).toBe(422);
    expect(await (await portico.api('GET', pathOf(document))).json()).toMatchObject({
      id: document,
    });
    expect((await portico.api('DELETE', pathOf(document))).status).toBe(204);
    expect((await portico.api('GET', pathOf(document))).status).toBe(404);
  });

  it('[ACC-5] ends the grants of a deleted client at once', async () => {
    const { id, client_secret: secret } = await create();
    const owner = await createToken(portico);
    const columns = 'id, client_id, name, principal_id, audience, scopes, created_at, expires_at';
    await env.DB.prepare(
      `INSERT INTO oauth_grants (${columns}) SELECT 'g', ?, 'x', principal_id, ?, '["tools:read"]', 0, ? FROM tokens WHERE id = ?`,
    )
      .bind(id, `${ORIGIN}/mcp`, Date.now() + 100_000, owner.id)
      .run();
    await env.DB.prepare("UPDATE tokens SET grant_id = 'g' WHERE id = ?").bind(owner.id).run();
    const use = async () =>
      (await portico.api('GET', '/api/v1/tools', undefined, { token: owner.token })).status;
    expect(await use()).toBe(200);
    expect((await portico.api('DELETE', pathOf(id))).status).toBe(204);
    expect(await use()).toBe(401);
    const known = { client_id: id, client_secret: secret ?? '' };
    expect(await errorOf(ask(known))).toBe('invalid_client');
    const left = await env.DB.prepare(
      "SELECT count(*) AS n FROM oauth_grants WHERE id = 'g'",
    ).first('n');
    expect(left).toBe(0);
  });

  it.each([
    { name: '' },
    { name: 'a\u200bb' },
    { redirect_uris: [] },
    { redirect_uris: ['http://reports.example.com/cb'] },
    { redirect_uris: ['javascript:alert(1)'] },
    { kind: 'document' },
    { public: 'yes' },
  ])('[ACC-5] [SEC-4] refuses %j', async change => {
    const response = await portico.api('POST', PATH, { ...body, ...change });
    expect(response.status).toBe(422);
  });
});
