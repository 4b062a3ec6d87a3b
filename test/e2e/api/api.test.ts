/** The REST routes of the registry and of tools, over real upstreams. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { richTools } from '../../fixtures/rich-tools.ts';
import { startFixture } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway } from '../support/gateway.ts';
import type { ApiAnswer, Gateway } from '../support/gateway.ts';
import { openModern } from '../support/raw-client.ts';

const SERVERS = '/api/v1/aggregator/servers';
let legacy: Upstream;
let sse: Upstream;
let gateway: Gateway;

beforeAll(async () => {
  [legacy, sse, gateway] = await Promise.all([
    startFixture('rich-legacy'),
    startFixture('rich-sse'),
    startGateway({ env: { PORTICO_DISCOVERY_INTERVAL_MS: '1000' } }),
  ]);
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all([legacy?.stop(), sse?.stop()]);
});

const problemOf = ({ status, headers, json }: ApiAnswer) => ({
  status,
  type: headers.get('content-type')?.split(';')[0],
  code: json['code'],
});
const problem = (status: number, code: string) => ({
  status,
  code,
  type: 'application/problem+json',
});

describe('servers', () => {
  it('[REG-1] [AG-US1-AC1] [AG-US1-AC4] [AG-US1-AC8] registers over HTTP within two seconds', async () => {
    // Warms up: what a process does once at its first request is not measured.
    await gateway.api('GET', SERVERS);
    const startedAt = performance.now();
    const answer = await gateway.api('POST', SERVERS, {
      name: 'rich',
      description: 'Rich tools',
      transport_type: 'HTTP',
      connection_config: { url: `${legacy.origin}/mcp`, headers: { 'X-Key': 'hidden-4711' } },
      auto_connect: true,
    });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      name: 'rich',
      description: 'Rich tools',
      transport_type: 'HTTP',
    });
    expect(answer.text).not.toContain('hidden-4711');
    const record = await gateway.waitFor(String(answer.json['id']), 'CONNECTED');
    expect(record).toMatchObject({ tool_count: richTools.length, era: 'legacy', last_error: null });
  });

  it('[REG-1] [AG-US1-AC3] registers over HTTP+SSE', async () => {
    const record = await gateway.register('events', `${sse.origin}/sse`, { transport_type: 'sse' });
    expect(record).toMatchObject({ transport_type: 'SSE', tool_count: richTools.length });
  });

  it('[REG-1] [AG-US1] registers a server that refers to a secret not yet set, and names the missing secret', async () => {
    const body = {
      name: 'github-mcp',
      transport_type: 'SSE',
      connection_config: {
        url: `${sse.origin}/sse`,
        headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' },
      },
      auto_connect: true,
    };
    const answer = await gateway.api('POST', SERVERS, body);
    expect([answer.status, answer.json['status']]).toEqual([201, 'CONNECTING']);
    const id = String(answer.json['id']);
    const failed = await gateway.waitFor(id, 'ERROR');
    expect(failed).toMatchObject({ last_error: 'missing secret GITHUB_TOKEN', tool_count: 0 });
    const elsewhere = { value: 'v', origins: ['https://elsewhere.example.com'] };
    expect((await gateway.api('PUT', '/api/v1/secrets/GITHUB_TOKEN', elsewhere)).status).toBe(409);
    const secret = { value: 'v', origins: [sse.origin] };
    expect((await gateway.api('PUT', '/api/v1/secrets/GITHUB_TOKEN', secret)).status).toBe(200);
    const record = await gateway.waitFor(id, 'CONNECTED');
    expect(record).toMatchObject({ last_error: null, tool_count: richTools.length });
    expect((await gateway.api('DELETE', '/api/v1/secrets/GITHUB_TOKEN')).status).toBe(409);
    expect((await gateway.api('DELETE', `${SERVERS}/${id}`)).status).toBe(204);
  });

  it('[REG-1] [REG-8] [AG-US1-AC7] refuses a duplicate name', async () => {
    const body = {
      name: 'rich',
      transport_type: 'HTTP',
      connection_config: { url: `${legacy.origin}/mcp` },
    };
    const answer = await gateway.api('POST', SERVERS, body);
    expect(answer.status).toBe(409);
    expect(problemOf(answer)).toEqual(problem(409, 'conflict'));
  });

  it.each([
    [{}, ['name', 'transport_type', 'connection_config']],
    [
      { name: 'a.b', transport_type: 'HTTP', connection_config: { url: 'http://127.0.0.1:1/' } },
      ['name'],
    ],
    [
      { name: 'x', transport_type: 'CARRIER', connection_config: { url: 'http://127.0.0.1:1/' } },
      ['transport_type'],
    ],
    [{ name: 'x', transport_type: 'HTTP', connection_config: {} }, ['url']],
    [
      { name: 'x', transport_type: 'HTTP', connection_config: { url: 'file:///etc/passwd' } },
      ['url'],
    ],
    [{ name: 'x', transport_type: 'HTTP', connection_config: { url: 'not a url' } }, ['url']],
  ])('[REG-1] [REG-8] [AG-US1-AC6] refuses %j and names every field', async (body, fields) => {
    const answer = await gateway.api('POST', SERVERS, body);
    expect(problemOf(answer)).toEqual(problem(422, 'validation_failed'));
    const named = (answer.json['errors'] as { field: string }[])
      .map(error => error.field)
      .join(' ');
    for (const field of fields) expect(named).toContain(field);
  });

  it.each([
    'http://10.0.0.1/mcp',
    'http://169.254.169.254/latest/meta-data',
    'http://example.com/mcp',
  ])('[SEC-3] refuses the upstream %s', async url => {
    const body = { name: 'inside', transport_type: 'HTTP', connection_config: { url } };
    expect((await gateway.api('POST', SERVERS, body)).status).toBe(422);
  });

  it('[REG-2] [AG-US5-AC6] lists and gets servers, and never shows their headers', async () => {
    const list = await gateway.api('GET', SERVERS);
    const servers = list.json['servers'] as { id: string; name: string }[];
    expect(servers.map(server => server.name).toSorted()).toEqual(['events', 'rich']);
    expect(list.text).not.toContain('hidden-4711');
    const one = await gateway.api('GET', `${SERVERS}/${servers[0]?.id}`);
    expect(one.json).toMatchObject({ name: servers[0]?.name });
    expect(problemOf(await gateway.api('GET', `${SERVERS}/nobody`))).toEqual(
      problem(404, 'not_found'),
    );
  });
});

describe('tools', () => {
  const call = (body: object) => gateway.api('POST', '/api/v1/tools/call', body);
  const given = { message: 'rest' };

  it('[REG-7] [AG-US2-AC2] [AG-US7-AC2] [AG-US7-AC5] lists tools by server', async () => {
    const { json } = await gateway.api('GET', '/api/v1/tools');
    const servers = json['servers'] as { name: string; tools: Record<string, unknown>[] }[];
    expect(servers.map(server => server.name).toSorted()).toEqual(['events', 'rich']);
    expect(json['total']).toBe(2 * richTools.length);
    const rich = servers.find(server => server.name === 'rich');
    expect(rich?.tools[0]).toMatchObject({ name: 'rich.echo', original_name: 'echo' });
  });

  it('[REG-7] [AG-US4-AC1] [AG-US4-AC2] [AG-US7-AC4] calls by either name', async () => {
    const { json } = await gateway.api('GET', SERVERS);
    const id = (json['servers'] as { id: string; name: string }[]).find(s => s.name === 'rich')?.id;
    const bodies = [
      { name: 'rich.echo' },
      { original_name: 'echo', server_id: id },
      { name: 'echo', server_id: id },
    ];
    for (const body of bodies) {
      const answer = await call({ ...body, arguments: given });
      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject({
        content: [{ type: 'text', text: 'Echo: rest' }],
        isError: false,
        metadata: {
          routing_time_ms: expect.any(Number) as number,
          execution_time_ms: expect.any(Number) as number,
        },
      });
      expect(JSON.stringify(answer.json['metadata'])).toContain('rich');
    }
  });

  it('[AG-US4-AC6] adds less than 50 ms to most calls', async () => {
    const times: number[] = [];
    for (let n = 0; n < 21; n += 1) {
      const { json } = await call({ name: 'rich.echo', arguments: given });
      times.push((json['metadata'] as { routing_time_ms: number }).routing_time_ms);
    }
    expect(times.toSorted((a, b) => a - b)[10]).toBeLessThan(50);
  });

  it('[REG-7] [MCP-7] returns isError and structuredContent unchanged', async () => {
    expect((await call({ name: 'rich.refused' })).json).toMatchObject({ isError: true });
    const { json } = await call({ name: 'rich.structured' });
    expect(json['structuredContent']).toMatchObject({ celsius: 21.5, words: ['b', 'a'] });
  });

  it('[REG-7] [REG-8] [AG-US4-AC7] answers 404 to an unknown tool', async () => {
    for (const body of [{ name: 'rich.nothing' }, { original_name: 'echo', server_id: 'nobody' }]) {
      expect((await call({ ...body, arguments: given })).status).toBe(404);
    }
  });

  it('[REG-7] [AG-US4-AC3] answers 503 with the state of a disconnected server', async () => {
    const made = await gateway.api('POST', SERVERS, {
      name: 'resting',
      transport_type: 'HTTP',
      connection_config: { url: `${legacy.origin}/mcp` },
      auto_connect: false,
    });
    expect(made.json).toMatchObject({ status: 'DISCONNECTED', tool_count: 0 });
    const { id } = made.json;
    const bodies = [{ name: 'resting.echo' }, { original_name: 'echo', server_id: id }];
    for (const body of bodies) {
      const answer = await call({ ...body, arguments: given });
      expect(problemOf(answer)).toEqual(problem(503, 'server_disconnected'));
      expect(answer.json['server']).toMatchObject({ id, name: 'resting', status: 'DISCONNECTED' });
    }
    expect((await gateway.api('GET', '/api/v1/tools')).text).not.toContain('resting.echo');
  });

  it('[REG-4] [AG-US5-AC4] shows the state of an unreachable server, and tells callers', async () => {
    await sse.stop();
    const { json } = await gateway.api('GET', SERVERS);
    const id = (json['servers'] as { id: string; name: string }[]).find(
      s => s.name === 'events',
    )?.id;
    const record = await gateway.waitFor(String(id), 'ERROR');
    expect(record.last_error).toContain('upstream_unreachable');
    expect(record.last_error).not.toContain('127.0.0.1');
    const answer = await call({ name: 'events.echo', arguments: given });
    expect(answer.text).toContain('events');
    expect(answer.text).toContain('upstream_unreachable');
    expect(answer.text).not.toContain('127.0.0.1');
  });
});

it('[REG-2] [AG-US6-AC6] removes a server with its tools', async () => {
  const { json } = await gateway.api('GET', SERVERS);
  const id = (json['servers'] as { id: string; name: string }[]).find(s => s.name === 'rich')?.id;
  expect((await gateway.api('DELETE', `${SERVERS}/${id}`)).status).toBe(204);
  expect((await gateway.api('GET', `${SERVERS}/${id}`)).status).toBe(404);
  const client = openModern({ url: `${gateway.origin}/mcp`, token: gateway.adminToken });
  const listed = await client.request('tools/list');
  expect(JSON.stringify(listed.message.result)).not.toContain('"rich.');
  expect((await client.call('rich.echo', { message: 'x' })).message.error?.code).toBe(-32_602);
});
