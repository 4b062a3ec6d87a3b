/** Client credentials: where tokens come from, when they are fetched, and what is never fetched or shown. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { dumpDatabase } from '../support/database.ts';
import { FakeAuthorizationServer } from '../support/fake-authorization-server.ts';
import { FakeServer, type FakeServerOptions } from '../support/fake-server.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import {
  createPortico,
  monitorOf,
  register,
  SERVERS,
  whenServer,
  whenQuiet,
} from '../support/portico.ts';

const portico = createPortico();
const CANARY = 'canary-c11e97';
const WELL_KNOWN = '/.well-known/oauth-protected-resource';

interface Place {
  server: FakeServer;
  authority: FakeAuthorizationServer;
  seen: string[];
  /** Metadata of the server by path. */
  metadata: Map<string, () => Response>;
  /** Value of `WWW-Authenticate` of a 401. */
  challenge: string;
}

/** A server that accepts only the tokens of its authorization server. */
function place(
  name: string,
  authority: FakeAuthorizationServer,
  options?: FakeServerOptions,
): Place {
  const server = new FakeServer(options);
  const metadata = new Map<string, () => Response>();
  const at: Place = { server, authority, seen: [], metadata, challenge: 'Bearer' };
  const handle = (request: Request): Response | Promise<Response> => {
    const { pathname } = new URL(request.url);
    const own = metadata.get(pathname);
    if (own) return own();
    if (pathname.startsWith('/.well-known/')) return new Response('no', { status: 404 });
    if (authority.accepts(request)) return server.handle(request);
    return new Response('no', { status: 401, headers: { 'www-authenticate': at.challenge } });
  };
  const origin = `https://${name}.example.com`;
  at.seen = fakeUpstreams({ [origin]: handle, [authority.origin]: authority.handle });
  return at;
}

const withAuth = (name: string, more: object = {}) => ({
  connection_config: {
    url: `https://${name}.example.com/mcp`,
    auth: {
      type: 'client_credentials',
      client_id: 'portico client',
      client_secret: CANARY,
      ...more,
    },
  },
});
const connect = async (name: string, more: object = {}) => {
  const { id } = await register(portico, name, withAuth(name, more));
  return whenServer(portico, id, ({ status }) => status === 'CONNECTED');
};
const call = (name: string, at = createPortico()) =>
  at.api('POST', '/api/v1/tools/call', { name: `${name}.echo` });
const basic = (id: string, secret: string) => `Basic ${btoa(`${id}:${secret}`)}`;

afterEach(() => void vi.useRealTimers());

describe('a token endpoint', () => {
  it('[UP-4] that is configured is asked with scope, resource and audience', async () => {
    const authority = new FakeAuthorizationServer('given');
    const { server } = place('given', authority);
    const token_url = `${authority.origin}/token`;
    await connect('given', { token_url, scope: 'a b', audience: 'mcp' });
    expect((await call('given')).status).toBe(200);
    expect(authority.grants).toEqual([
      {
        authorization: basic('portico+client', 'canary-c11e97'),
        form: {
          grant_type: 'client_credentials',
          resource: 'https://given.example.com/mcp',
          scope: 'a b',
          audience: 'mcp',
        },
      },
    ]);
    expect(authority.asked).toEqual([]);
    const [sent] = server.of('tools/call').map(({ headers }) => headers.get('authorization'));
    expect(authority.good).toContain(sent?.slice('Bearer '.length));
  });

  it.each<[string, (at: Place, name: string) => void, string]>([
    [
      'by a challenge',
      (at, name) => {
        const url = `https://${name}.example.com/elsewhere/meta`;
        at.challenge = `Bearer error="invalid_token", resource_metadata="${url}"`;
        at.metadata.set('/elsewhere/meta', () =>
          at.authority.resource(`https://${name}.example.com/mcp`),
        );
      },
      '/mcp',
    ],
    [
      "at the server's path",
      (at, name) =>
        at.metadata.set(`${WELL_KNOWN}/mcp`, () =>
          at.authority.resource(`https://${name}.example.com/mcp`),
        ),
      '/mcp',
    ],
    [
      'at the root',
      (at, name) =>
        at.metadata.set(WELL_KNOWN, () => at.authority.resource(`https://${name}.example.com`)),
      '',
    ],
  ])('[UP-4] is found %s', async (how, prepare, resource) => {
    const name = `found-${how.replaceAll(/\W/g, '')}`;
    const authority = new FakeAuthorizationServer(name);
    prepare(place(name, authority), name);
    await connect(name);
    expect(authority.asked).toEqual(['/.well-known/oauth-authorization-server']);
    expect(authority.grants.map(({ form }) => form['resource'])).toEqual([
      `https://${name}.example.com${resource}`,
    ]);
  });

  it('[UP-4] is found by OpenID Connect too, and gets the secret in the body if it requires that', async () => {
    const authority = new FakeAuthorizationServer('oidc');
    const at = place('oidc', authority);
    const issuer = `${authority.origin}/tenant`;
    at.metadata.set(WELL_KNOWN, () =>
      Response.json({ resource: 'https://oidc.example.com', authorization_servers: [issuer] }),
    );
    authority.replaced.set('/tenant/.well-known/openid-configuration', () =>
      Response.json({
        issuer,
        token_endpoint: `${authority.origin}/token`,
        token_endpoint_auth_methods_supported: ['private_key_jwt', 'client_secret_post'],
      }),
    );
    await connect('oidc');
    expect(authority.asked).toEqual([
      '/.well-known/oauth-authorization-server/tenant',
      '/.well-known/openid-configuration/tenant',
      '/tenant/.well-known/openid-configuration',
    ]);
    expect(authority.grants).toMatchObject([
      { authorization: null, form: { client_id: 'portico client', client_secret: CANARY } },
    ]);
  });
});

describe('a token', () => {
  it('[UP-4] is fetched once, however many isolates need one', async () => {
    const authority = new FakeAuthorizationServer('once');
    place('once', authority);
    const { id } = await connect('once', { token_url: `${authority.origin}/token` });
    await env.DB.prepare('DELETE FROM access_tokens WHERE server_id = ?').bind(id).run();
    await env.DB.prepare("UPDATE servers SET description = 'x' WHERE id = ?").bind(id).run();
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('once')));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(authority.grants).toHaveLength(1);
  });

  it('[UP-4] is replaced before it expires: the monitor wakes for it', async () => {
    const authority = new FakeAuthorizationServer('short', { lifetime: 20 });
    place('short', authority);
    const before = Date.now();
    const { id } = await connect('short', { token_url: `${authority.origin}/token` });
    await whenQuiet(id);
    const alarm = await runInDurableObject(monitorOf(id), (_object, { storage }) =>
      storage.getAlarm(),
    );
    expect(alarm).toBeGreaterThanOrEqual(before + 16_000);
    expect(alarm).toBeLessThanOrEqual(Date.now() + 16_000);
  });

  it.each(['legacy', 'modern'] as const)(
    '[UP-4] [UP-2] that a %s server refuses fails that call once and is replaced once, and sessions stay',
    async era => {
      const name = `refused-${era}`;
      const authority = new FakeAuthorizationServer(name);
      const { server } = place(name, authority, { era });
      await connect(name, { token_url: `${authority.origin}/token` });
      // The isolates' caches do not expire meanwhile: each still has the refused token.
      vi.useFakeTimers({ toFake: ['Date'] });
      const isolates = Array.from({ length: 10 }, () => createPortico());
      for (const isolate of isolates) expect((await call(name, isolate)).status).toBe(200);
      const calls = server.of('tools/call').length;
      authority.good.clear();
      const refused = await Promise.all(isolates.map(isolate => call(name, isolate)));
      for (const answer of refused) {
        expect(await answer.json()).toMatchObject({ code: 'upstream_auth' });
      }
      expect(server.of('tools/call')).toHaveLength(calls);
      for (const isolate of isolates) await isolate.settle();
      expect(authority.grants).toHaveLength(2);
      for (const isolate of isolates) expect((await call(name, isolate)).status).toBe(200);
      expect(authority.grants).toHaveLength(2);
      const sessions = new Set(server.of('tools/call').map(({ session }) => session));
      expect(sessions.size).toBe(1);
    },
  );

  it('[SEC-1] [SEC-2] is sealed in storage, and neither it nor the secret is visible anywhere', async () => {
    const authority = new FakeAuthorizationServer('sealed');
    const { server } = place('sealed', authority);
    const { id } = await connect('sealed', { token_url: `${authority.origin}/token` });
    server.call = ({ id: rpc, headers }) => {
      const message = `who is ${headers.get('authorization')}`;
      return Response.json({ jsonrpc: '2.0', id: rpc, error: { code: -32000, message } });
    };
    const answers = [
      await call('sealed'),
      await portico.api('GET', SERVERS),
      await portico.api('GET', `${SERVERS}/${id}`),
    ];
    const texts = await Promise.all(answers.map(answer => answer.text()));
    const stored = await runInDurableObject(monitorOf(id), async (_object, { storage }) =>
      JSON.stringify([...(await storage.list())]),
    );
    const [token = 'none'] = authority.good;
    const { results } = await env.DB.prepare('SELECT * FROM audit_events').all();
    for (const text of [...texts, stored, await dumpDatabase(), JSON.stringify(results)]) {
      expect(text).not.toContain(CANARY);
      expect(text).not.toContain(token);
    }
    expect(JSON.parse(texts[2] ?? '')).toMatchObject({
      connection_config: {
        auth: { type: 'client_credentials', client_id: null, client_secret: null },
      },
    });
  });
});

describe('a changed credential', () => {
  it('[UP-4] does not use the token of the former one', async () => {
    const authority = new FakeAuthorizationServer('changed');
    place('changed', authority);
    const token_url = `${authority.origin}/token`;
    const { id } = await connect('changed', { token_url });
    const { connection_config } = withAuth('changed', { token_url, client_secret: 'another one' });
    expect((await portico.api('PATCH', `${SERVERS}/${id}`, { connection_config })).status).toBe(
      200,
    );
    await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
    expect(authority.grants.map(({ authorization }) => authorization)).toEqual([
      basic('portico+client', 'canary-c11e97'),
      basic('portico+client', 'another+one'),
    ]);
  });
});
