/**
 * Tokens: a revoked token is refused within a second; a restricted one sees only its servers, and everything else looks as if it did not
 * exist.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { lastUnaware } from '../support/revocation.ts';
import { QUIET, startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { listAllTools, open, textOf } from '../support/raw-client.ts';
import type { Answer, Era } from '../support/raw-client.ts';

const REVOKED_WITHIN_MS = 1_000;
const eras = ['legacy', 'modern'] as const;
let upstream: Upstream;
let gateway: Gateway;
let narrow: string;

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([
    startFixture('rich-modern'),
    startGateway({ env: QUIET }),
  ]);
  await gateway.register('open', `${upstream.origin}/mcp`);
  await gateway.register('secret', `${upstream.origin}/mcp`);
  narrow = (await gateway.createToken({ name: 'narrow', servers: ['open'] })).token;
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const connect = (era: Era, token: string, path = '/mcp') =>
  open(era, { url: `${gateway.origin}${path}`, token });

describe.each(eras)('%s client', era => {
  it('[ACC-1] is refused within a second after its token was revoked', async () => {
    const { id, token } = await gateway.createToken({ name: `short-lived-${era}` });
    const client = await connect(era, token);
    expect(textOf(await client.call('open.echo', { message: 'yes' }))).toBe('Echo: yes');
    const { requests } = await upstream.counters();
    expect((await gateway.api('DELETE', `/api/v1/tokens/${id}`)).status).toBe(204);
    const isRefused = async () => (await client.request('tools/list')).status === 401;
    expect(await lastUnaware(isRefused)).toBeLessThan(REVOKED_WITHIN_MS);
    const answer = await client.request('tools/list');
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/u);
    expect((await client.call('open.echo', { message: 'no' })).status).toBe(401);
    expect((await upstream.counters())['requests']).toBe(requests);
  });

  it('[ACC-3] [MCP-9] sees only the servers of its token', async () => {
    const client = await connect(era, narrow);
    const names = (await listAllTools(client)).map(tool => tool.name);
    expect(names.length).toBeGreaterThan(0);
    expect(names.every(name => name.startsWith('open.'))).toBe(true);
    expect(textOf(await client.call('open.echo', { message: 'in' }))).toBe('Echo: in');
  });

  it('[MCP-9] [ACC-3] cannot tell a hidden tool or server from an unknown one', async () => {
    const seen = (answer: Answer, name: string) => [
      answer.status,
      answer.text.replaceAll(name, 'NAME'),
      answer.headers.get('content-type'),
    ];
    const client = await connect(era, narrow);
    const { requests } = await upstream.counters();
    const hidden = seen(await client.call('secret.echo', { message: 'x' }, 1), 'secret.echo');
    const unknown = seen(await client.call('nobody.echo', { message: 'x' }, 1), 'nobody.echo');
    expect(hidden).toEqual(unknown);
    expect(hidden[1]).toContain('Tool not found: NAME');
    const endpoint = async (name: string) => {
      const { url, token } = { url: `${gateway.origin}/mcp/servers/${name}`, token: narrow };
      const direct = era === 'legacy' ? open(era, { url, token }) : undefined;
      if (direct) return String(await direct.catch(String)).replaceAll(name, 'NAME');
      const answer = await (await open('modern', { url, token })).request('tools/list', {}, 1);
      return String(seen(answer, name));
    };
    expect(await endpoint('secret')).toBe(await endpoint('nobody'));
    expect((await upstream.counters())['requests']).toBe(requests);
  });
});

it('[ACC-3] [REG-7] restricts REST the same way', async () => {
  const { json } = await gateway.api('GET', '/api/v1/tools', undefined, narrow);
  expect((json['servers'] as { name: string }[]).map(server => server.name)).toEqual(['open']);
  const call = (name: string) =>
    gateway.api('POST', '/api/v1/tools/call', { name, arguments: { message: 'x' } }, narrow);
  expect((await call('open.echo')).status).toBe(200);
  const [hidden, unknown] = [await call('secret.echo'), await call('nobody.echo')];
  expect(hidden.status).toBe(404);
  expect(hidden.text.replaceAll('secret', 'nobody')).toBe(unknown.text);
});

it('[ACC-1] [ACC-2] never shows a token again, and lets no plain token administer anything', async () => {
  const { token } = await gateway.createToken({ name: 'plain', scopes: ['tools:read'] });
  const listed = await gateway.api('GET', '/api/v1/tokens');
  expect(listed.status).toBe(200);
  expect(listed.text).toContain('"plain"');
  expect(listed.text).not.toContain(token.slice('portico_'.length));
  const servers = '/api/v1/aggregator/servers';
  const body = { name: 'x', transport_type: 'HTTP', connection_config: { url: upstream.origin } };
  expect((await gateway.api('POST', servers, body, token)).status).toBe(403);
  expect((await gateway.api('POST', '/api/v1/principals', { name: 'more' }, token)).status).toBe(
    403,
  );
  const client = await connect('modern', token);
  expect((await client.request('tools/list')).status).toBe(200);
  const { requests } = await upstream.counters();
  await client.call('open.echo', { message: 'x' });
  expect((await upstream.counters())['requests']).toBe(requests);
});
