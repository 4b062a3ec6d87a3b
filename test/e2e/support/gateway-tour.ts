/**
 * Everything that people and clients do with a gateway, once: records of every kind are created, edited and deleted, clients of both eras
 * call, a token is revoked, and the audit records it. Everything that it creates is deleted at its end.
 */
import { expect } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { openLegacy, openModern, listAllTools, textOf } from './raw-client.ts';

const SOON_MS = 60_000;
const SERVERS = '/api/v1/aggregator/servers';

export interface Toured {
  origin: string;
  adminToken: string;
}

export interface ApiResult {
  status: number;
  json: Record<string, unknown>;
}

/** Sends a request to the REST API. */
export async function askApi(
  { origin, adminToken }: Toured,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<ApiResult> {
  const response = await fetch(`${origin}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${adminToken}`,
      'content-type': 'application/json',
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  return { status: response.status, json: isJson ? JSON.parse(text) : {} };
}

interface Chain {
  shard: string;
}

/** Registers a server and waits until it is connected. @returns its id */
export async function connectServer(to: Toured, name: string, url: string): Promise<string> {
  const body = { name, transport_type: 'HTTP', connection_config: { url }, auto_connect: true };
  const { status, json } = await askApi(to, 'POST', SERVERS, body);
  expect([name, status, json]).toEqual([name, 201, json]);
  const id = String(json['id']);
  await until(`${name} is connected`, SOON_MS, async () => {
    const seen = await askApi(to, 'GET', `${SERVERS}/${id}`);
    return seen.json['status'] === 'CONNECTED' ? true : undefined;
  });
  return id;
}

/** @param upstream the URL of a server with the tool `echo` */
export async function tour(to: Toured, tag: string, upstream: string): Promise<void> {
  const ask = (method: string, path: string, body?: object) => askApi(to, method, path, body);
  const good = async (method: string, path: string, body?: object) => {
    const { status, json } = await ask(method, path, body);
    const at = `${tag}: ${method} ${path} ${JSON.stringify(json)}`;
    expect([at, status < 300]).toEqual([at, true]);
    return json;
  };
  const made: string[] = [];
  const make = async (path: string, body: object, edit?: object) => {
    const json = await good('POST', path, body);
    const id = String(json['id'] ?? (json['connector'] as { id: string } | undefined)?.id);
    if (edit) await good('PATCH', `${path}/${id}`, edit);
    await good('GET', path);
    made.unshift(`${path}/${id}`);
    return id;
  };

  const server = await connectServer(to, tag, `${upstream}/mcp`);
  made.unshift(`${SERVERS}/${server}`);
  await good('PATCH', `${SERVERS}/${server}`, { description: 'edited' });
  const person = await make('/api/v1/principals', { name: tag }, { groups: ['staff'] });
  const group = { kind: 'group', name: 'staff' };
  await make('/api/v1/access/rules', { effect: 'allow', subject: group }, { tool: '*' });
  await make(
    '/api/v1/toolsets',
    { name: `${tag}-set`, include: [`${tag}.*`] },
    { description: 'edited' },
  );
  await make(
    '/api/v1/cache/rules',
    { server: tag, tool: 'none', ttl_seconds: 60 },
    { ttl_seconds: 90 },
  );
  await make('/api/v1/ask/allowlist', { server: '*', tool: 'none' });
  await make('/api/v1/connectors', { name: `${tag}-box` });
  const secret = `/api/v1/secrets/${tag.toUpperCase().replaceAll('-', '_')}`;
  await good('PUT', secret, { value: 'a value', origins: [upstream] });
  made.unshift(secret);

  const given = { name: tag, principal: person, scopes: ['tools:read', 'tools:call'] };
  const { id: tokenId, token } = await good('POST', '/api/v1/tokens', given);
  const target = { url: `${to.origin}/mcp`, token: String(token) };
  for (const client of [openModern(target), await openLegacy(target)]) {
    const tools = (await listAllTools(client)).map(({ name }) => name);
    expect([tag, client.era, tools]).toEqual([
      tag,
      client.era,
      expect.arrayContaining([`${tag}.echo`]),
    ]);
    expect(textOf(await client.call(`${tag}.echo`, { message: tag }))).toContain(tag);
  }
  await until('the audit has the calls', SOON_MS, async () => {
    const { events } = await good('GET', `/api/v1/audit?action=tool.call&limit=50`);
    const own = (events as { principal: string }[]).filter(row => row.principal === person);
    return own.length === 2 ? true : undefined;
  });

  await good('DELETE', `/api/v1/tokens/${String(tokenId)}`);
  await until('the token is of no use any more', SOON_MS, async () => {
    const answer = await openModern(target).request('tools/list');
    return answer.status === 401 ? true : undefined;
  });
  for (const path of made) await good('DELETE', path);
  for (const { shard } of (await good('GET', '/api/v1/audit/shards'))['shards'] as Chain[]) {
    const found = await good('GET', `/api/v1/audit/verify?shard=${shard}`);
    expect(found).toMatchObject({ shard, is_intact: true });
  }
}
