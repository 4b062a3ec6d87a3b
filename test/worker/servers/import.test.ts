/** Import of servers: planned as a whole, carried out entry by entry, and only its server sees a secret. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { listChain } from '../../../src/audit/audit-store.ts';
import { dumpDatabase } from '../support/database.ts';
import { FakeServer, serve } from '../support/fake-server.ts';
import { createToken, register, whenServer } from '../support/portico.ts';
import {
  actions,
  CANARY,
  deleteServers,
  IMPORT,
  portico,
  send,
  serversOf,
  take,
  url,
} from '../support/transfer.ts';
import { turnsDuring } from '../support/turns.ts';

interface Problem {
  code: string;
  errors: { field: string; message: string }[];
}

beforeEach(async () => {
  await deleteServers();
  await env.DB.prepare('DELETE FROM secrets').run();
});

it('[UP-5] [REG-6] requests are served while a large file is imported', async () => {
  const names = Array.from({ length: 30 }, (_, at) => `crowd-${at}`);
  const file = names.map(name => [name, { url: url(name), disabled: true }] as const);
  const { done: entries, turns } = await turnsDuring(() =>
    take({ mcpServers: Object.fromEntries(file) }),
  );
  expect(entries).toHaveLength(names.length);
  expect(turns).toBeGreaterThanOrEqual(names.length);
});

describe('an import', () => {
  it('[REG-6] [SEC-1] [SEC-2] [SEC-6] stores secrets, refers to them, and has an audit row for each server', async () => {
    const server = new FakeServer();
    serve({ 'with-secret': server });
    const headers = {
      Authorization: `Bearer ${CANARY}-a`,
      'X-Api-Key': `${CANARY}-b`,
      'X-Team': 'blue',
    };
    const before = (await listChain(env.DB, 'admin', 1, 10_000)).length;
    const entries = await take({
      mcpServers: {
        'With Secret!': { type: 'http', url: url('with-secret'), headers },
        files: { command: 'npx', args: ['x'], env: { KEY: `${CANARY}-c` } },
        off: { url: 'https://off.example.com/sse', disabled: true },
      },
    });
    expect(entries).toMatchObject([
      {
        given_name: 'With Secret!',
        name: 'With-Secret',
        path: 'mcpServers.With Secret!',
        action: 'create',
        secrets: ['WITH_SECRET_AUTHORIZATION', 'WITH_SECRET_X_API_KEY'],
      },
      { name: 'files', action: 'unsupported', secrets: [] },
      { name: 'off', action: 'create', secrets: [] },
    ]);
    expect(entries[0]?.reasons).toHaveLength(1);
    expect(entries[1]?.reasons).toHaveLength(1);
    const adminAudit = (await listChain(env.DB, 'admin', 1, 10_000)).slice(before);
    expect(adminAudit.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'secret.put done',
      'secret.put done',
      'server.create done',
      'server.create done',
    ]);
    const id = entries[0]?.server_id ?? '';
    await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
    const call = await portico.api('POST', '/api/v1/tools/call', { name: 'With-Secret.echo' });
    expect(call.status).toBe(200);
    const seen = server.of('tools/call')[0]?.headers;
    expect(seen?.get('authorization')).toBe(`Bearer ${CANARY}-a`);
    expect(seen?.get('x-api-key')).toBe(`${CANARY}-b`);
    expect(seen?.get('x-team')).toBe('blue');
    expect(JSON.stringify(await serversOf())).not.toContain(CANARY);
    expect(await dumpDatabase()).not.toContain(CANARY);
    expect(JSON.stringify(await listChain(env.DB, 'admin', 1, 10_000))).not.toContain(CANARY);
    expect(await serversOf()).toMatchObject([
      { name: 'off', status: 'DISCONNECTED', transport_type: 'SSE', auto_connect: false },
      { name: 'With-Secret', transport_type: 'HTTP' },
    ]);
  });

  it('[REG-6] as a dry run reports the same and writes nothing', async () => {
    const file = {
      servers: {
        a: { url: url('dry'), headers: { token: CANARY } },
        b: { url: 'https://10.0.0.1/mcp' },
        c: { url: url('dry'), type: 'pigeon' },
      },
    };
    const before = await dumpDatabase();
    const entries = await take(file, 'dry_run=true');
    expect(await dumpDatabase()).toBe(before);
    expect(entries).toMatchObject([
      { action: 'create', secrets: ['A_TOKEN'], problems: [] },
      { action: 'invalid', problems: [{ field: 'servers.b.url' }] },
      { action: 'invalid', problems: [{ field: 'servers.c.type' }] },
    ]);
  });

  it('[REG-6] does nothing if anything is invalid, and names every field', async () => {
    const before = await dumpDatabase();
    const response = await send({
      mcpServers: {
        good: { url: url('good') },
        inside: { serverUrl: 'http://169.254.169.254/latest' },
        header: { url: url('h'), headers: { Host: CANARY } },
        later: { url: url('u'), headers: { Authorization: 'Bearer ${NO_SUCH_SECRET}' } },
        each: { url: url('e'), headers: { 'X-User': '{{USER_ID}}' } },
      },
    });
    expect(response.status).toBe(422);
    const text = await response.text();
    expect(text).not.toContain(CANARY);
    const problem = JSON.parse(text) as Problem;
    expect(problem.code).toBe('validation_failed');
    expect(problem.errors.map(({ field }) => field)).toEqual([
      'mcpServers.inside.serverUrl',
      'mcpServers.header.headers',
      'mcpServers.each.headers.X-User',
    ]);
    expect(await dumpDatabase()).toBe(before);
  });

  it('[REG-6] skips, updates or refuses existing servers', async () => {
    const { id } = await register(portico, 'Taken', { auto_connect: false, description: 'mine' });
    const file = { mcpServers: { taken: { url: url('other') }, fresh: { url: url('fresh') } } };
    const refused = await send(file, 'on_conflict=fail');
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({
      code: 'conflict',
      errors: [{ field: 'mcpServers.taken' }],
    });
    expect(actions(await take(file))).toEqual(['taken skip', 'fresh create']);
    expect(actions(await take(file, 'on_conflict=update'))).toEqual([
      'taken update',
      'fresh update',
    ]);
    const taken = (await serversOf()).find(server => server['id'] === id);
    expect(taken).toMatchObject({
      name: 'Taken',
      description: 'mine',
      auto_connect: false,
      connection_config: { url: url('other') },
      revision: 2,
    });
  });

  it('[REG-6] sets a field back to its default if the file names it, and only then', async () => {
    const bare = { name: 'back', transport_type: 'HTTP', connection_config: { url: url('back') } };
    const given = { auto_connect: false, description: 'mine', accounts: 'per_principal' };
    await take({ servers: [{ ...bare, ...given }] });
    await take({ servers: [bare] }, 'on_conflict=update');
    expect(await serversOf()).toMatchObject([given]);
    const back = { description: '', accounts: 'shared' };
    await take({ servers: [{ ...bare, ...back }] }, 'on_conflict=update');
    expect(await serversOf()).toMatchObject([{ ...back, auto_connect: false }]);
  });

  it('[REG-6] repeated replaces its own secrets, and never those of others', async () => {
    const file = (host: string) => ({
      mcpServers: { again: { url: url(host), headers: { 'X-Key': CANARY } } },
    });
    const body = { value: 'kept', origins: ['https://first.example.com'] };
    await portico.api('PUT', '/api/v1/secrets/AGAIN_X_KEY', body);
    const names = async (host: string) =>
      (await take(file(host), 'on_conflict=update')).flatMap(({ secrets }) => secrets);
    expect(await names('first')).toEqual(['AGAIN_X_KEY_2']);
    expect(await names('first')).toEqual(['AGAIN_X_KEY_2']);
    expect(await names('second')).toEqual(['AGAIN_X_KEY_3']);
  });

  it('[REG-6] whose edit of a server fails replaces none of its secrets, and leaves no new ones', async () => {
    const file = (headers: object) => ({
      mcpServers: { kept: { url: url('kept'), disabled: true, headers } },
    });
    await take(file({ 'X-Key': `${CANARY}-old` }));
    const isKey = async (value: string) => {
      const secrets = [{ name: 'KEPT_X_KEY', value }];
      const response = await portico.api('POST', '/api/v1/secrets/compare', { secrets });
      return JSON.stringify(await response.json()).includes('KEPT_X_KEY');
    };
    await env.DB.prepare(
      `CREATE TRIGGER unwritable BEFORE UPDATE OF name ON servers BEGIN SELECT RAISE(ABORT, 'no'); END`,
    ).run();
    const headers = { 'X-Key': `${CANARY}-new`, 'X-Token': CANARY };
    const failed = actions(await take(file(headers), 'on_conflict=update'));
    await env.DB.prepare('DROP TRIGGER unwritable').run();
    expect([failed, await isKey(`${CANARY}-old`)]).toEqual([['kept failed'], true]);
    const left = await env.DB.prepare('SELECT name FROM secrets').all();
    expect(left.results).toEqual([{ name: 'KEPT_X_KEY' }]);
    expect(actions(await take(file(headers), 'on_conflict=update'))).toEqual(['kept update']);
    expect(await isKey(`${CANARY}-new`)).toBe(true);
  });

  it('[REG-6] refers to existing secrets for that origin, by every placeholder', async () => {
    for (const [name, host] of [
      ['PAT', 'ref'],
      ['FIGMA_TOKEN', 'ref'],
      ['ELSEWHERE', 'elsewhere'],
    ]) {
      const body = { value: 'v', origins: [`https://${host}.example.com`] };
      expect((await portico.api('PUT', `/api/v1/secrets/${name}`, body)).status).toBe(200);
    }
    const headers = { Authorization: 'Bearer ${env:PAT}', 'X-Figma': '${input:figma-token}' };
    const file = { servers: { ref: { url: url('ref'), headers } } };
    expect(await take(file)).toMatchObject([{ action: 'create', secrets: [] }]);
    expect((await serversOf())[0]).toMatchObject({
      connection_config: {
        headers: { Authorization: 'Bearer ${PAT}', 'X-Figma': '${FIGMA_TOKEN}' },
      },
    });
    const other = { servers: { x: { url: url('ref'), headers: { a: '${ELSEWHERE}' } } } };
    expect(await take(other, 'dry_run=true')).toMatchObject([
      { action: 'invalid', problems: [{ field: 'servers.x.headers.a' }] },
    ]);
  });

  it.each<[string, string, number]>([
    ['no JSON', '{', 422],
    ['no servers', '{"a":1}', 422],
    ['comments', '// a\n{"servers":{},}', 200],
    [
      'too many',
      JSON.stringify({
        servers: Object.fromEntries(
          Array.from({ length: 101 }, (_, i) => [`s${i}`, { url: url('x') }]),
        ),
      }),
      422,
    ],
  ])('[REG-6] of %s', async (_what, body, status) => {
    const headers = {
      authorization: `Bearer ${env.PORTICO_ADMIN_TOKEN}`,
      'content-type': 'application/json',
    };
    expect((await portico.fetch(IMPORT, { method: 'POST', headers, body })).status).toBe(status);
    const text = { ...headers, 'content-type': 'text/plain' };
    expect((await portico.fetch(IMPORT, { method: 'POST', headers: text, body })).status).toBe(415);
  });

  it('[ACC-2] [SEC-6] that stores secrets requires the scope for them too', async () => {
    const writer = await createToken(portico, { scopes: ['servers:read', 'servers:write'] });
    const sent = { token: writer.token };
    // Disabled, so that no monitor writes while the database is compared.
    const plain = { servers: { plain: { url: url('plain'), disabled: true } } };
    const secret = { servers: { secret: { url: url('s'), headers: { token: CANARY } } } };
    expect((await portico.api('POST', IMPORT, plain, sent)).status).toBe(200);
    const before = await dumpDatabase();
    expect((await portico.api('POST', IMPORT, secret, sent)).status).toBe(403);
    expect(await dumpDatabase()).toBe(before);
  });
});
