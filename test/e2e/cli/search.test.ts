/** `portico search` against a real gateway: what it prints for people and for programs, how it filters, how it ends. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico, type Ran } from '../support/portico-command.ts';

let gateway: Gateway;
let upstream: Upstream;

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([
    startGateway({ env: { PORTICO_TOOLS: 'search' } }),
    startFixture('rich-modern'),
  ]);
  await gateway.register('rich', `${upstream.origin}/mcp`);
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const portico = (args: string[], token = gateway.adminToken): Promise<Ran> =>
  runPortico(args, { env: { PORTICO_URL: gateway.origin, PORTICO_TOKEN: token } });

interface Found {
  tools: { name: string; score: number }[];
  metadata: object;
}

it('[CLI-4] [FIND-1] shows people the best match first, with its score and description', async () => {
  const { code, out, err } = await portico(['search', 'report', 'progress', '--limit', '3']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const [heading, ...rows] = out.trimEnd().split('\n');
  expect(heading).toMatch(/^SCORE {2}NAME +DESCRIPTION$/);
  expect(rows).toHaveLength(3);
  for (const row of rows) expect(row).toMatch(/^[01]\.\d\d {3}rich\.\S+/);
});

it("[CLI-4] [FIND-1] gives programs the gateway's response", async () => {
  const all = (await portico(['search', 'report progress', '--json'])).json<Found>();
  expect(all.tools[0]?.name).toMatch(/^rich\./);
  expect(all.metadata).toMatchObject({ servers_searched: 1 });
  const none = await portico(['search', 'x', '--server', 'nobody', '--server', 'no-one', '--json']);
  expect(none.json<Found>()).toMatchObject({ tools: [], metadata: { servers_searched: 0 } });
});

it('[CLI-4] [FIND-1] says that nothing matches, and exits with 0', async () => {
  const ran = await portico(['search', 'x', '--server', 'nobody']);
  expect(ran).toMatchObject({ code: 0, out: '', err: 'none of 0 tools of 0 servers fits\n' });
});

it.each([
  ['no words', ['search'], 2, /missing required argument/],
  ['no number', ['search', 'x', '--limit', 'many'], 2, /--limit must be a number from 1 to 50/],
  ['too many', ['search', 'x', '--limit', '51'], 2, /--limit must be a number from 1 to 50/],
  ['too long', ['search', 'x'.repeat(1_001)], 2, /query/],
] as const)('[CLI-4] reports errors: %s', async (_title, args, code, message) => {
  const ran = await portico([...args]);
  expect(ran.code).toBe(code);
  expect(ran.err).toMatch(message);
});

it('[CLI-4] [ACC-2] exits with 3 if the token may not list', async () => {
  const { token } = await gateway.createToken({ name: 'caller', scopes: ['tools:call'] });
  expect((await portico(['search', 'x'], token)).code).toBe(3);
});

it('[CLI-4] [FIND-2] lists and calls all tools of a gateway that shows only three', async () => {
  const listed = (await portico(['tools', '--json'])).json<{ name: string }[]>();
  expect(listed.map(({ name }) => name)).toContain('rich.mirror');
  const called = await portico(['call', 'rich.mirror', '--args', '{"a":1}']);
  expect(called).toMatchObject({ code: 0, out: expect.stringContaining('{"a":1}') });
});

it('[CLI-4] [FIND-4] forgets what was learned from use, for an administrator', async () => {
  const ran = await portico(['learning', 'forget']);
  expect(ran).toMatchObject({ code: 0, out: '', err: 'what was learned from use is forgotten\n' });
  const audit = await portico(['audit', '--json']);
  expect(audit.out).toContain('"learning.forget"');
  const refused = await portico(['learning', 'forget'], 'pt_nobody');
  expect([refused.code, refused.out]).toEqual([3, '']);
});
