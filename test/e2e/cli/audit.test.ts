/** `portico audit` against a real gateway: who called what, by names, and whether the chains verify. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico, type Ran } from '../support/portico-command.ts';

const WAIT_MS = 30_000;

interface Row {
  action: string;
  subject: string;
  principal_name: string;
  outcome: string;
}

let gateway: Gateway;
let upstream: Upstream;

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([startGateway(), startFixture('rich-modern')]);
  await gateway.register('rich', `${upstream.origin}/mcp`);
  const made = await gateway.api('POST', '/api/v1/principals', { name: 'Ada' });
  const { token } = await gateway.createToken({ name: 'laptop', principal: made.json['id'] });
  await portico(['call', 'rich.echo', '--message', 'hi'], token);
  await portico(['call', 'rich.none'], token);
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const portico = (args: string[], token = gateway.adminToken): Promise<Ran> =>
  runPortico(args, { env: { PORTICO_URL: gateway.origin, PORTICO_TOKEN: token } });
const found = async (...args: string[]) => {
  const rows = (await portico(['audit', ...args, '--json'])).json<Row[]>();
  return rows.map(({ action, subject, outcome }) => `${action} ${subject} ${outcome}`);
};

it('[CLI-4] [SEC-6] shows calls and changes, by names', async () => {
  const calls = await until('the call is recorded', WAIT_MS, async () => {
    const rows = await found('--principal', 'ada', '--since', '1h');
    return rows.length > 0 ? rows : undefined;
  });
  expect(calls).toContain('tool.call rich.echo done');
  for (const tool of ['rich.echo', 'rich__echo', 'rich:echo', 'rich/echo']) {
    expect(await found('--tool', tool)).toEqual(['tool.call rich.echo done']);
  }
  expect(await found('--server', 'rich', '--principal', 'Ada', '--outcome', 'done')).toEqual([
    'tool.call rich.echo done',
  ]);
  expect(await found('--tool', 'echo')).toEqual([]);
  expect(await found('--with-token', 'laptop', '--tool', 'rich.echo')).toEqual([
    'tool.call rich.echo done',
  ]);
  expect(await found('--with-token', 'nobody')).toEqual([]);
  const pasted = await portico(['audit', '--with-token', gateway.adminToken]);
  expect(pasted).toMatchObject({ code: 2, out: '' });
  expect(pasted.err).toContain('not its value');
  expect(pasted.err).not.toContain(gateway.adminToken);
  expect(await found('--limit', '1')).toHaveLength(1);
  const { out } = await portico(['audit', '--tool', 'rich.echo']);
  expect(out).toMatch(
    /^TIME +PRINCIPAL +ACTION +WHAT +OUTCOME\n\S+ +Ada +tool\.call +rich\.echo +done\n$/,
  );
});

it('[CLI-4] [SEC-6] verifies every chain', async () => {
  const { out, code } = await portico(['audit', 'verify']);
  expect(code).toBe(0);
  expect(out).toMatch(/^admin +\d+ +intact$/m);
});

it('[OPS-8] [SEC-6] exports everything, one row per line, and resumes where it broke off', async () => {
  const { out, err, code } = await portico(['audit', 'export', '--principal', 'Ada']);
  expect([code, err]).toEqual([0, '']);
  const rows = out
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Row & { id: string });
  expect(rows.map(({ subject }) => subject)).toContain('rich.echo');
  const rest = await portico([
    'audit',
    'export',
    '--principal',
    'Ada',
    '--after',
    rows[0]?.id ?? '',
  ]);
  expect(rest.out).toBe(out.slice(out.indexOf('\n') + 1));
  const refused = await portico(['audit', 'export', '--after', 'nothing']);
  expect(refused).toMatchObject({ code: 2, out: '' });
});

it('[CLI-4] reports invalid arguments', async () => {
  expect(await portico(['audit', '--since', 'yesterday'])).toMatchObject({ code: 2 });
  expect(await portico(['audit', '--outcome', 'odd'])).toMatchObject({ code: 2 });
  const { token } = await gateway.createToken({ name: 'looker', scopes: ['servers:read'] });
  expect(await portico(['audit'], token)).toMatchObject({ code: 3, out: '' });
});
