/** `portico usage` against a real gateway that stores calls before they are sent and counts them at once. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico, type Ran } from '../support/portico-command.ts';

const WAIT_MS = 30_000;

interface Page {
  usage: { tool?: string; calls: number; denied: number; result_chars: number }[];
  counted_until: string;
}

let gateway: Gateway;
let upstream: Upstream;

const portico = (args: string[], token = gateway.adminToken): Promise<Ran> =>
  runPortico(args, { env: { PORTICO_URL: gateway.origin, PORTICO_TOKEN: token } });

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([
    startGateway({ env: { PORTICO_AUDIT_CALLS: 'before' } }),
    startFixture('rich-modern'),
  ]);
  await gateway.register('rich', `${upstream.origin}/mcp`);
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

it('[CLI-4] [OPS-7] shows how many calls were made, as a table, JSON and CSV', async () => {
  const made = await gateway.api('POST', '/api/v1/principals', { name: 'Ada', groups: ['dev'] });
  const { token } = await gateway.createToken({ name: 'laptop', principal: made.json['id'] });
  for (const message of ['a', 'b', 'c']) {
    await portico(['call', 'rich.echo', '--message', message], token);
  }
  await gateway.api('POST', '/api/v1/tools/call', { name: 'rich.none', arguments: {} }, token);
  const { usage } = await until('all calls are counted', WAIT_MS, async () => {
    const page = (await portico(['usage', '--principal', 'Ada', '--json'])).json<Page>();
    const calls = page.usage.reduce((sum, row) => sum + row.calls, 0);
    return calls >= 4 ? page : undefined;
  });
  expect(usage.map(({ tool, calls, denied }) => [tool, calls, denied])).toEqual([
    ['rich.echo', 3, 0],
    ['', 1, 1],
  ]);
  expect(usage[0]?.result_chars).toBeGreaterThan(3 * '{"content":[]}'.length);
  const table = await portico(['usage', '--by', 'group,tool', '--group', 'dev']);
  expect(table.out).toMatch(/^GROUP +TOOL +CALLS +ERRORS +DENIED +MEAN MS +P95 MS +CHARS\n/);
  expect(table.out).toMatch(/^dev +rich\.echo +3 +0 +0 +\d+ +\d+ +\d+$/m);
  expect(table.out).toMatch(/^dev +\(unknown\) +1 +0 +1 /m);
  expect(table.err).toMatch(/^includes calls recorded until \S+$/m);
  const csv = await portico(['usage', '--by', 'principal', '--tool', 'rich__echo', '--csv']);
  expect(csv.out).toMatch(/^principal,principal_name,calls,errors,denied,/);
  expect(csv.out.split('\r\n')[1]).toMatch(/^[0-9a-f-]{36},Ada,3,0,0,/);
  const ofToken = await portico(['usage', '--with-token', 'laptop', '--json']);
  expect(ofToken.json<Page>().usage).toEqual(usage);
  expect((await portico(['usage', '--with-token', token])).code).toBe(2);
  const own = (await portico(['usage', '--json'], token)).json<Page>();
  expect(own.usage.map(({ tool }) => tool)).toEqual(['rich.echo', '']);
});

it('[CLI-4] [OPS-7] reports errors in a request', async () => {
  expect(await portico(['usage', '--by', 'color'])).toMatchObject({ code: 2, out: '' });
  expect((await portico(['usage', '--from', '2001-01-01', '--to', '2001-01-02'])).err).toContain(
    'no matching calls',
  );
});
