/** Admission: no request gets in without a credential; a token opens what its scopes and limits allow, until it is revoked. */
import { env } from 'cloudflare:workers';
import { listDurableObjectIds } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { toBase64Url } from '../../../src/shared/crypto/base64url.ts';
import { dumpDatabase } from '../support/database.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import { ROUTES, STRANGERS } from '../support/bad-credentials.ts';
import {
  ADMIN,
  ask,
  createPortico,
  createToken,
  legacy,
  modern,
  register,
  registerConnected,
  SERVERS,
  type RpcAnswer,
  WHOLE,
} from '../support/portico.ts';

const portico = createPortico();

afterEach(() => void vi.useRealTimers());

describe('without a credential', () => {
  it(`[ACC-1] ${STRANGERS.length} forms of Authorization get 401 on ${ROUTES.length} routes, and nothing is dispatched`, async () => {
    expect(STRANGERS.length).toBeGreaterThanOrEqual(50);
    const server = new FakeServer();
    const requests = serve({ guarded: server });
    await registerConnected(portico, 'guarded');
    const rows = await dumpDatabase();
    const objects = (await listDurableObjectIds(env.CLIENT_SESSION)).length;
    const before = requests.length;
    const { headers: mirrored } = modern('tools/call', { name: 'guarded.echo' });
    for (const [method, path, body] of ROUTES) {
      for (const authorization of STRANGERS) {
        const isModern =
          JSON.stringify(body)?.includes('protocolVersion"') &&
          !JSON.stringify(body).includes('clientInfo');
        const response = await portico.fetch(path, {
          method,
          headers: {
            'content-type': 'application/json',
            'x-forwarded-user': 'admin',
            'cf-access-authenticated-user-email': 'admin@example.com',
            ...(isModern ? mirrored : {}),
            ...(authorization === null ? {} : { authorization }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const what = `${method} ${path} ${String(authorization).slice(0, 80)}`;
        expect([what, response.status]).toEqual([what, 401]);
        expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
        expect(await response.text()).not.toContain('guarded');
      }
    }
    expect(requests.length).toBe(before);
    expect(await dumpDatabase()).toBe(rows);
    expect((await listDurableObjectIds(env.CLIENT_SESSION)).length).toBe(objects);
  });

  it('[ACC-1] a token anywhere but in Authorization is ignored', async () => {
    for (const path of [
      `/mcp?token=${ADMIN}`,
      `/mcp?access_token=${ADMIN}`,
      `${SERVERS}?authorization=Bearer%20${ADMIN}`,
    ]) {
      const headers = {
        cookie: `authorization=${ADMIN}`,
        'x-api-key': ADMIN,
        'proxy-authorization': `Bearer ${ADMIN}`,
      };
      expect([path, (await portico.fetch(path, { headers })).status]).toEqual([path, 401]);
    }
  });

  it('[OPS-2] only the health of the gateway is shown', async () => {
    const response = await portico.fetch('/health');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ok', version: '0.1.0' });
  });

  it('[OPS-2] health is 503 while the database cannot be read, and recovers with it', async () => {
    await env.DB.exec('ALTER TABLE server_health RENAME TO server_health_gone');
    try {
      const response = await createPortico().fetch('/health');
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await response.json()).toEqual({ status: 'storage_unavailable', version: '0.1.0' });
    } finally {
      await env.DB.exec('ALTER TABLE server_health_gone RENAME TO server_health');
    }
    expect((await createPortico().fetch('/health')).status).toBe(200);
  });

  it('[ACC-1] no token is admin if none was set up', async () => {
    const bare = createPortico({ PORTICO_ADMIN_TOKEN: undefined } as never);
    for (const token of [ADMIN, `portico_${'A'.repeat(43)}`, 'undefined']) {
      expect((await bare.api('GET', SERVERS, undefined, { token })).status).toBe(401);
    }
  });

  it('[SEC-1] without a key ring nothing is served', async () => {
    for (const keys of ['', '{}', '{"active":"k1","keys":{}}']) {
      const broken = createPortico({ PORTICO_KEYS: keys });
      await expect(broken.api('GET', SERVERS)).rejects.toThrow('PORTICO_KEYS');
    }
  });
});

describe('a token', () => {
  it('[ACC-1] is shown once and stored as an HMAC', async () => {
    const { id, token } = await createToken(portico, { name: 'shown once' });
    const list = await (await portico.api('GET', '/api/v1/tokens')).text();
    expect(list).toContain(id);
    expect(list).not.toContain(token);
    expect(list).not.toContain('hmac');
    const row = await env.DB.prepare('SELECT * FROM tokens WHERE id = ?')
      .bind(id)
      .first<{ hmac: string }>();
    expect(row?.hmac).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const secret = token.slice('portico_'.length);
    for (const kept of [token, secret, btoa(token)])
      expect(JSON.stringify(row)).not.toContain(kept);
    const bare = new Uint8Array(
      await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)),
    );
    expect(row?.hmac).not.toBe(toBase64Url(bare));
    expect((await portico.api('GET', '/api/v1/tools', undefined, { token })).status).toBe(200);
  });

  it('[ACC-3] [MCP-9] limited to a server sees nothing of the others', async () => {
    const open = new FakeServer({ tools: [toolOf('echo')] });
    const hidden = new FakeServer({ tools: [toolOf('secret')] });
    serve({ open, hidden });
    await registerConnected(portico, 'open');
    await registerConnected(portico, 'hidden');
    const { token } = await createToken(portico, { servers: ['open'] });
    for (const era of ['legacy', 'modern'] as const) {
      const { message, headers } = ask(era, 'tools/list');
      const list = await (await portico.post(message, { token, headers })).json<RpcAnswer>();
      expect(list.result?.tools?.map(({ name }) => name)).toEqual(['open.echo']);
      const answers = await Promise.all(
        ['hidden.secret', 'nobody.secret'].map(async name => {
          const call = ask(era, 'tools/call', { name });
          const response = await portico.post(call.message, {
            token,
            headers: { ...WHOLE, ...call.headers },
          });
          return `${response.status} ${(await response.text()).replaceAll(name, 'NAME')}`;
        }),
      );
      expect(answers[0]).toBe(answers[1]);
      expect(answers[0]).toContain('Tool not found: NAME');
    }
    const byPath = await Promise.all(
      ['hidden', 'nobody'].map(async name => {
        const response = await portico.post(
          legacy('tools/list'),
          { token },
          `/mcp/servers/${name}`,
        );
        return `${response.status} ${await response.text()}`;
      }),
    );
    expect(byPath[0]).toBe(byPath[1]);
    expect(byPath[0]).toMatch(/^404 /);
    const rest = await (await portico.api('GET', '/api/v1/tools', undefined, { token })).text();
    expect(rest).not.toContain('hidden');
    expect(hidden.of('tools/call')).toEqual([]);
  });

  it('[ACC-1] limited to servers that do not exist is refused', async () => {
    const response = await portico.api('POST', '/api/v1/tokens', {
      name: 'x',
      servers: ['nobody'],
    });
    expect(response.status).toBe(422);
  });

  it('[ACC-3] limited to a server does not reach a new server with the name of the deleted one', async () => {
    const { id } = await register(portico, 'reborn', { auto_connect: false });
    const { token } = await createToken(portico, { servers: ['reborn'] });
    await portico.api('DELETE', `${SERVERS}/${id}`);
    serve({ reborn: new FakeServer() });
    await registerConnected(portico, 'reborn');
    const list = await (await portico.post(legacy('tools/list'), { token })).json<RpcAnswer>();
    expect(list.result?.tools).toEqual([]);
  });

  it('[ACC-1] revoked here is refused at once', async () => {
    const { id, token } = await createToken(portico);
    expect((await portico.api('GET', '/api/v1/tools', undefined, { token })).status).toBe(200);
    expect((await portico.api('DELETE', `/api/v1/tokens/${id}`)).status).toBe(204);
    expect((await portico.api('GET', '/api/v1/tools', undefined, { token })).status).toBe(401);
    expect((await portico.post(legacy('ping'), { token })).status).toBe(401);
    expect((await portico.api('DELETE', `/api/v1/tokens/${id}`)).status).toBe(404);
  });

  it('[ACC-1] revoked elsewhere is refused within a second, also under load', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const other = createPortico();
    const { id, token } = await createToken(portico);
    const ping = async () => (await other.post(legacy('ping'), { token })).status;
    expect(await ping()).toBe(200);
    await other.settle();
    expect((await portico.api('DELETE', `/api/v1/tokens/${id}`)).status).toBe(204);
    vi.setSystemTime(Date.now() + 400);
    expect(await ping()).toBe(200);
    vi.setSystemTime(Date.now() + 601);
    expect(await ping()).toBe(401);
  });

  it('[ACC-1] revoked while its snapshot is renewed in the background is refused at the next request', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const other = createPortico();
    const { id, token } = await createToken(portico);
    const ping = async () => (await other.post(legacy('ping'), { token })).status;
    expect(await ping()).toBe(200);
    expect((await portico.api('DELETE', `/api/v1/tokens/${id}`)).status).toBe(204);
    vi.setSystemTime(Date.now() + 600);
    expect(await ping()).toBe(200);
    await other.settle();
    expect(await ping()).toBe(401);
  });
});

describe('a page in a browser', () => {
  it('[SEC-5] of another origin gets 403 on every route, also with a token', async () => {
    for (const [method, path, body] of ROUTES) {
      const response = await portico.fetch(path, {
        method,
        headers: {
          origin: 'https://evil.example',
          authorization: `Bearer ${ADMIN}`,
          'content-type': 'application/json',
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      expect([`${method} ${path}`, response.status]).toEqual([`${method} ${path}`, 403]);
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});
