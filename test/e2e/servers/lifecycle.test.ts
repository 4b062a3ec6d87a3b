/**
 * The life of servers as an administrator controls it, with real upstreams: registered, disconnected, reconnected, renamed, moved by file.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { openModern } from '../support/raw-client.ts';

const SERVERS = '/api/v1/aggregator/servers';
const IMPORT = '/api/v1/aggregator/import';
let rich: Upstream;
let many: Upstream;
let sse: Upstream;
let gateway: Gateway;

beforeAll(async () => {
  [rich, many, sse, gateway] = await Promise.all([
    startFixture('rich-legacy'),
    startFixture('many-tools', { tools: 7 }),
    startFixture('rich-sse'),
    startGateway({ env: { PORTICO_DISCOVERY_INTERVAL_MS: '1000' } }),
  ]);
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all([rich?.stop(), many?.stop(), sse?.stop()]);
});

const client = () => openModern({ url: `${gateway.origin}/mcp`, token: gateway.adminToken });
const toolsOf = async (prefix: string): Promise<string[]> => {
  const { message } = await client().request('tools/list');
  const tools = (message.result?.['tools'] ?? []) as { name: string }[];
  return tools.map(({ name }) => name).filter(name => name.startsWith(`${prefix}.`));
};
const call = (name: string, given: object = {}) =>
  gateway.api('POST', '/api/v1/tools/call', { name, arguments: given });

describe('a server', () => {
  it('[REG-1] [AG-US1-AC5] with auto_connect is connected at once, without it only on request', async () => {
    const make = async (name: string, auto_connect: boolean) =>
      gateway.api('POST', SERVERS, {
        name,
        transport_type: 'HTTP',
        connection_config: { url: `${many.origin}/mcp` },
        auto_connect,
      });
    const waiting = await make('waiting', false);
    expect(waiting.json['status']).toBe('DISCONNECTED');
    const before = await many.counters();
    expect(before).toEqual({});
    const eager = await make('eager', true);
    expect(eager.json['status']).toBe('CONNECTING');
    await gateway.waitFor(String(eager.json['id']), 'CONNECTED');
    expect(await toolsOf('eager')).toHaveLength(7);
    expect(await toolsOf('waiting')).toEqual([]);
    const record = await gateway.api('GET', `${SERVERS}/${String(waiting.json['id'])}`);
    expect(record.json).toMatchObject({ status: 'DISCONNECTED', tool_count: 0 });
  });

  it('[REG-3] [AG-US6-AC2] [AG-US6-AC3] [AG-US6-AC4] [AG-US6-AC5] is drained, disconnected and comes back', async () => {
    const { id } = await gateway.register('resting', `${rich.origin}/mcp`);
    const slow = call('resting.slow', { ms: 1_500, message: 'under way' });
    await until('the call is under way', 60_000, async () => {
      const { text } = await call('resting.executions', { of: 'slow' });
      return text.includes('"1"') ? true : undefined;
    });
    const down = await gateway.api('POST', `${SERVERS}/${id}/disconnect`);
    const pending = expect.any(Number) as number;
    expect(down.json).toEqual({ status: 'DISCONNECTED', pending_requests: pending });
    expect((await slow).text).toContain('Slow: under way');
    expect(await toolsOf('resting')).toEqual([]);
    expect((await gateway.api('GET', '/api/v1/tools')).text).not.toContain('"resting.echo"');
    const refused = await call('resting.echo', { message: 'x' });
    expect(refused.status).toBe(503);
    expect(refused.json).toMatchObject({ code: 'server_disconnected', server: { id } });
    const up = await gateway.api('POST', `${SERVERS}/${id}/connect`);
    expect(up.json).toEqual({ status: 'CONNECTING', message: 'Connection initiated' });
    await gateway.waitFor(id, 'CONNECTED');
    expect(await toolsOf('resting')).toContain('resting.echo');
    expect((await call('resting.echo', { message: 'again' })).text).toContain('Echo: again');
  });

  it('[REG-2] [AG-US7-AC6] that is renamed renames its tools, by the revision that was read', async () => {
    const { id } = await gateway.register('before', `${rich.origin}/mcp`);
    const read = await gateway.api('GET', `${SERVERS}/${id}`);
    expect(read.headers.get('etag')).toBe('"r1"');
    const renamed = await gateway.api('PATCH', `${SERVERS}/${id}`, { name: 'after' });
    expect(renamed.json).toMatchObject({ name: 'after', revision: 2 });
    expect(await toolsOf('after')).toContain('after.echo');
    expect(await toolsOf('before')).toEqual([]);
    expect((await call('after.echo', { message: 'renamed' })).text).toContain('Echo: renamed');
    expect((await call('before.echo', { message: 'x' })).status).toBe(404);
  });
});

describe('a file', () => {
  it('[REG-6] [SEC-6] of a client is imported completely, and its servers are connected', async () => {
    const file = {
      mcpServers: {
        'Rich tools': { type: 'http', url: `${rich.origin}/mcp`, headers: { 'X-Key': 'k-4711' } },
        events: { url: `${sse.origin}/sse` },
        local: { command: 'npx', args: ['-y', 'something'] },
      },
    };
    const dry = await gateway.api('POST', `${IMPORT}?dry_run=true`, file);
    expect(dry.status).toBe(200);
    expect(dry.text).not.toContain('k-4711');
    expect((await gateway.api('GET', `${SERVERS}?name=rich-tools`)).json['total']).toBe(0);
    const done = await gateway.api('POST', IMPORT, file);
    const entries = done.json['entries'] as Record<string, string>[];
    expect(entries).toMatchObject([
      {
        given_name: 'Rich tools',
        name: 'Rich-tools',
        action: 'create',
        secrets: ['RICH_TOOLS_X_KEY'],
      },
      { name: 'events', action: 'create' },
      { name: 'local', action: 'unsupported' },
    ]);
    for (const entry of entries.slice(0, 2)) {
      const id = entry['server_id'] ?? '';
      const record = await gateway.waitFor(id, 'CONNECTED');
      expect(record.tool_count).toBeGreaterThan(10);
      const audit = await gateway.api('GET', `/api/v1/audit?subject=${id}`);
      expect(audit.json['events']).toMatchObject([{ action: 'server.create', outcome: 'done' }]);
    }
    expect((await call('Rich-tools.echo', { message: 'imported' })).text).toContain(
      'Echo: imported',
    );
    const check = await gateway.api('GET', '/api/v1/audit/verify');
    expect(check.json).toMatchObject({ is_intact: true });
  });

  it('[REG-6] of the registry gives the same registry in another deployment', async () => {
    const exported = await gateway.api('GET', '/api/v1/aggregator/export?format=registry');
    expect(exported.text).not.toContain('k-4711');
    const other = await startGateway();
    try {
      const secret = { value: 'k-4711', origins: [rich.origin] };
      for (const name of exported.json['secrets'] as string[]) {
        expect((await other.api('PUT', `/api/v1/secrets/${name}`, secret)).status).toBe(200);
      }
      expect((await other.api('POST', IMPORT, exported.json)).status).toBe(200);
      const again = await other.api('GET', '/api/v1/aggregator/export?format=registry');
      expect(again.json).toEqual(exported.json);
    } finally {
      await other.stop();
    }
  });
});

it('[REG-8] npm start serves the API page', async () => {
  const page = await fetch(`${gateway.origin}/docs`);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  const renderer = await fetch(`${gateway.origin}/docs/swagger-ui-bundle.js`);
  expect((await renderer.text()).length).toBeGreaterThan(1_000_000);
});
