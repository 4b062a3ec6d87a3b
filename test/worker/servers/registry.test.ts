/** The registry over REST: the form of a record, what is refused, and what a deletion leaves. */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { dumpDatabase } from '../support/database.ts';
import { FakeServer, serve } from '../support/fake-server.ts';
import {
  createPortico,
  createToken,
  monitorOf,
  register,
  registerConnected,
  SERVERS,
  storedCatalogs,
  whenServer,
  type ServerView,
} from '../support/portico.ts';

const portico = createPortico();

interface Problem {
  code: string;
  status: number;
  errors?: { field: string; message: string }[];
}

const valid = (name: string) => ({
  name,
  transport_type: 'HTTP',
  connection_config: { url: `https://${name}.example.com/mcp` },
  auto_connect: false,
});

describe('create', () => {
  it('[REG-1] [AG-US1-AC1] answers with the record', async () => {
    const response = await portico.api('POST', SERVERS, { ...valid('created'), description: 'd' });
    expect(response.status).toBe(201);
    const record = await response.json<ServerView>();
    expect(record).toMatchObject({
      name: 'created',
      description: 'd',
      status: 'DISCONNECTED',
      transport_type: 'HTTP',
      connection_config: { url: 'https://created.example.com/mcp' },
      auto_connect: false,
      tool_count: 0,
      last_error: null,
    });
    const read = await portico.api('GET', `${SERVERS}/${record.id}`);
    expect(await read.json()).toEqual(record);
    const list = await portico.api('GET', SERVERS);
    expect((await list.json<{ servers: ServerView[] }>()).servers).toContainEqual(record);
  });

  it('[REG-1] [AG-US1-AC7] accepts a name once, regardless of case', async () => {
    expect((await portico.api('POST', SERVERS, valid('Taken'))).status).toBe(201);
    for (const name of ['Taken', 'taken', 'TAKEN']) {
      const response = await portico.api('POST', SERVERS, { ...valid('x'), name });
      expect(response.status).toBe(409);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(await response.json()).toMatchObject({ code: 'conflict', status: 409 });
    }
  });

  it('[REG-1] [AG-US1-AC7] accepts one of twenty equal requests at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => portico.api('POST', SERVERS, valid('race'))),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
  });

  it('[REG-1] [AG-US1-AC6] names every invalid field', async () => {
    const body = {
      name: 'a.b',
      transport_type: 'CARRIER',
      connection_config: { url: 7 },
      auto_connect: 'yes',
      colour: 'red',
    };
    const response = await portico.api('POST', SERVERS, body);
    expect(response.status).toBe(422);
    const problem = await response.json<Problem>();
    expect(problem).toMatchObject({ code: 'validation_failed', status: 422 });
    const fields = problem.errors?.map(({ field }) => field) ?? [];
    for (const field of ['name', 'transport_type', 'connection_config.url', 'auto_connect'])
      expect(fields).toContain(field);
    expect(JSON.stringify(problem.errors)).toContain('colour');
  });

  it.each<[string, unknown, string]>([
    ['no body', {}, 'name'],
    ['no name', { ...valid('x'), name: undefined }, 'name'],
    ['a name with a separator', { ...valid('x'), name: 'a:b' }, 'name'],
    ['a name that is too long', { ...valid('x'), name: 'a'.repeat(64) }, 'name'],
    ['a name of look-alikes', { ...valid('x'), name: '\u0430dmin' }, 'name'],
    ['no transport', { ...valid('x'), transport_type: undefined }, 'transport_type'],
    ['no configuration', { ...valid('x'), connection_config: undefined }, 'connection_config'],
    [
      'an address of the metadata service',
      { ...valid('x'), connection_config: { url: 'http://169.254.169.254/' } },
      'connection_config.url',
    ],
    [
      'an address over plain http',
      { ...valid('x'), connection_config: { url: 'http://a.example.com/' } },
      'connection_config.url',
    ],
    [
      'an address with a password',
      { ...valid('x'), connection_config: { url: 'https://u:p@a.example.com/' } },
      'connection_config.url',
    ],
    [
      'a private health check',
      { ...valid('x'), health_check_url: 'https://10.0.0.1/' },
      'health_check_url',
    ],
    [
      'a header of the protocol',
      {
        ...valid('x'),
        connection_config: { url: 'https://a.example.com/', headers: { 'Mcp-Session-Id': 'x' } },
      },
      'connection_config.headers',
    ],
    [
      'a header that breaks the line',
      {
        ...valid('x'),
        connection_config: { url: 'https://a.example.com/', headers: { 'x-a': 'b\r\nx-c: d' } },
      },
      'connection_config.headers',
    ],
  ])('[REG-1] [SEC-3] refuses %s', async (_what, body, field) => {
    const before = await dumpDatabase();
    const response = await portico.api('POST', SERVERS, body);
    expect(response.status).toBe(422);
    const { errors = [] } = await response.json<Problem>();
    expect(errors.map(error => error.field).join(' ')).toContain(field);
    expect(await dumpDatabase()).toBe(before);
  });

  it('[REG-8] distinguishes broken JSON from invalid fields', async () => {
    const response = await portico.fetch(SERVERS, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${env.PORTICO_ADMIN_TOKEN}`,
        'content-type': 'application/json',
      },
      body: '{',
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'parse_error' });
  });
});

describe('delete', () => {
  it('[REG-2] [AG-US6-AC6] leaves no row, no catalog and no alarm', async () => {
    serve({ gone: new FakeServer() });
    const { id } = await registerConnected(portico, 'gone');
    const { catalogs, segments } = await storedCatalogs(id);
    expect([catalogs.length, segments.length]).toEqual([1, 1]);
    expect((await portico.api('DELETE', `${SERVERS}/${id}`)).status).toBe(204);
    expect(await env.DB.prepare('SELECT id FROM servers WHERE id = ?').bind(id).first()).toBeNull();
    expect((await env.CATALOG.list({ prefix: `catalog/${id}/` })).keys).toEqual([]);
    const left = await runInDurableObject(monitorOf(id), async (_object, { storage }) => ({
      alarm: await storage.getAlarm(),
      values: [...(await storage.list()).keys()],
    }));
    expect(left).toEqual({ alarm: null, values: [] });
    expect((await portico.api('GET', `${SERVERS}/${id}`)).status).toBe(404);
    expect((await portico.api('DELETE', `${SERVERS}/${id}`)).status).toBe(404);
  });

  it('[REG-2] [AG-US6-AC6] a discovery that was running writes nothing afterwards', async () => {
    const server = new FakeServer();
    let answer = () => {};
    const held = new Promise<void>(resolve => (answer = resolve));
    let asked = () => {};
    const reached = new Promise<void>(resolve => (asked = resolve));
    server.outage = async request => {
      asked();
      await held;
      server.outage = undefined;
      return server.handle(request);
    };
    serve({ leaving: server });
    const { id } = await register(portico, 'leaving');
    const look = runInDurableObject(monitorOf(id), object => object.alarm());
    await reached;
    const deletion = portico.api('DELETE', `${SERVERS}/${id}`);
    await runInDurableObject(monitorOf(id), () => answer());
    expect((await deletion).status).toBe(204);
    await look;
    const left = await runInDurableObject(monitorOf(id), async (_object, { storage }) => ({
      alarm: await storage.getAlarm(),
      values: [...(await storage.list()).keys()],
    }));
    expect(left).toEqual({ alarm: null, values: [] });
    expect((await env.CATALOG.list({ prefix: `catalog/${id}/` })).keys).toEqual([]);
  });
});

describe('a token without the scope', () => {
  it('[ACC-2] is refused on every route that writes, and nothing is written', async () => {
    const { id } = await register(portico, 'kept', { auto_connect: false });
    const reader = await createToken(portico, { scopes: ['tools:read', 'servers:read'] });
    const before = await dumpDatabase();
    const writes: [string, string, unknown][] = [
      ['POST', SERVERS, valid('refused')],
      ['DELETE', `${SERVERS}/${id}`, undefined],
      ['DELETE', `${SERVERS}/unknown`, undefined],
      ['POST', '/api/v1/principals', { name: 'refused' }],
      ['DELETE', `/api/v1/principals/${reader.id}`, undefined],
      ['GET', '/api/v1/principals', undefined],
      ['POST', '/api/v1/tools/call', { name: 'kept.echo' }],
    ];
    for (const [method, path, body] of writes) {
      const response = await portico.api(method, path, body, { token: reader.token });
      expect([`${method} ${path}`, response.status]).toEqual([`${method} ${path}`, 403]);
      expect(await response.json()).toMatchObject({ code: 'forbidden' });
    }
    expect(await dumpDatabase()).toBe(before);
    const read = await portico.api('GET', SERVERS, undefined, { token: reader.token });
    expect(read.status).toBe(200);
  });

  it('[ACC-2] that may only use tools sees no server records', async () => {
    const member = await createToken(portico);
    const read = await portico.api('GET', SERVERS, undefined, { token: member.token });
    expect(read.status).toBe(403);
    expect(
      (await portico.api('GET', '/api/v1/tools', undefined, { token: member.token })).status,
    ).toBe(200);
  });
});

describe('credentials', () => {
  const canary = 'canary-5f1e77';

  it('[SEC-1] [SEC-2] of a server reach it and are visible nowhere else', async () => {
    const server = new FakeServer();
    serve({ sealed: server });
    const headers = { Authorization: `Bearer ${canary}`, 'X-Api-Key': `${canary}-key` };
    const config = { url: 'https://sealed.example.com/mcp', headers };
    const created = await portico.api('POST', SERVERS, {
      ...valid('sealed'),
      auto_connect: true,
      connection_config: config,
    });
    const { id } = await created.clone().json<ServerView>();
    await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
    const call = await portico.api('POST', '/api/v1/tools/call', { name: 'sealed.echo' });
    expect(call.status).toBe(200);
    expect(server.of('tools/call')[0]?.headers.get('authorization')).toBe(`Bearer ${canary}`);
    expect(server.of('tools/call')[0]?.headers.get('x-api-key')).toBe(`${canary}-key`);
    const answers = [
      created,
      call,
      await portico.api('GET', SERVERS),
      await portico.api('GET', `${SERVERS}/${id}`),
      await portico.api('GET', '/api/v1/tools'),
    ];
    for (const answer of answers) expect(await answer.text()).not.toContain(canary);
    expect(await dumpDatabase()).not.toContain(canary);
    for (const { name } of (await env.CATALOG.list()).keys)
      expect(await env.CATALOG.get(name)).not.toContain(canary);
    const stored = await runInDurableObject(monitorOf(id), async (_object, { storage }) =>
      JSON.stringify([...(await storage.list())]),
    );
    expect(stored).not.toContain(canary);
  });

  it("[SEC-2] of a client never reach a server, nor do a client's other headers", async () => {
    const server = new FakeServer({ sessionful: false });
    serve({ stranger: server });
    await registerConnected(portico, 'stranger');
    const headers = {
      cookie: 'a=b',
      'x-forwarded-for': '1.2.3.4',
      'mcp-session-id-x': 'y',
      'x-api-key': 'mine',
    };
    const response = await portico.api(
      'POST',
      '/api/v1/tools/call',
      { name: 'stranger.echo' },
      { headers },
    );
    expect(response.status).toBe(200);
    const seen = Object.fromEntries(server.of('tools/call')[0]?.headers ?? []);
    expect(Object.keys(seen).toSorted()).toEqual([
      'accept',
      'content-type',
      'mcp-protocol-version',
    ]);
  });
});
