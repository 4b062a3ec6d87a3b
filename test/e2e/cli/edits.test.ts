/** Edits of an `mcp.json` while `portico connect` or `portico up` runs with it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { ConnectStand } from '../support/connect-process.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { COMPILE_CACHE, MAIN } from '../support/portico-command.ts';

const WAIT_MS = 60_000;

let gateway: Gateway;
let upstream: Upstream;
let stand: ConnectStand;

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([startGateway(), startFixture('rich-modern')]);
});

beforeEach(async () => {
  stand = await ConnectStand.create();
});

afterEach(() => stand.remove());

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const write = (mcpServers: object) => stand.write('mcp.json', { mcpServers });
const startsOf = (name: string) =>
  stand.log(name).filter(line => line.startsWith('started')).length;

async function statusOf(origin: string, token: string): Promise<Record<string, string>> {
  const response = await fetch(`${origin}/api/v1/aggregator/servers`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { servers } = (await response.json()) as { servers: { name: string; status: string }[] };
  return Object.fromEntries(servers.map(({ name, status }) => [name, status]));
}

const becomes = (origin: string, token: string, name: string, status: string) =>
  until(`${name} is ${status}`, WAIT_MS, async () =>
    (await statusOf(origin, token))[name] === status ? true : undefined,
  );

it('[CLI-1] programs are added, changed and removed with the file of portico connect', async () => {
  const { origin, adminToken } = gateway;
  write({ one: stand.tools('one'), two: stand.tools('two') });
  const env = { PORTICO_TOKEN: adminToken };
  const connecting = stand.start(['--url', origin, '--enroll', 'edited'], env);
  await becomes(origin, adminToken, 'one', 'CONNECTED');
  await becomes(origin, adminToken, 'two', 'CONNECTED');
  write({
    one: stand.tools('one'),
    two: stand.tools('two', { MORE: '1' }),
    three: stand.tools('three'),
  });
  await connecting.says('mcp.json was edited: started three; restarted two');
  await becomes(origin, adminToken, 'three', 'CONNECTED');
  await until('two was started anew', WAIT_MS, async () => startsOf('two') === 2 || undefined);
  const call = async (name: string) => {
    const body = { name, arguments: { text: 'hi' } };
    return (await gateway.api('POST', '/api/v1/tools/call', body)).json;
  };
  await until('two is called', WAIT_MS, async () =>
    JSON.stringify(await call('two.echo')).includes('"hi"') ? true : undefined,
  );
  // Unchanged programs keep running.
  expect(startsOf('one')).toBe(1);
  stand.write('mcp.json', '{"mcpServers": {');
  await connecting.says('mcp.json was edited, but not applied:');
  expect(JSON.stringify(await call('three.echo'))).toContain('"hi"');
  write({ one: stand.tools('one'), three: stand.tools('three') });
  await connecting.says('mcp.json was edited: stopped two');
  await becomes(origin, adminToken, 'two', 'ERROR');
  expect(connecting.child.exitCode).toBeNull();
  connecting.child.kill('SIGTERM');
  expect(await connecting.ended).toBe(0);
  expect([startsOf('one'), startsOf('two'), startsOf('three')]).toEqual([1, 2, 1]);
});

it('[CLI-3] programs and URLs are added with the file of portico up', async () => {
  write({ one: stand.tools('one') });
  const data = stand.path('data');
  const args = [MAIN, 'up', '--config', stand.path('mcp.json'), '--data', data, '--port', '0'];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: stand.folder, ...COMPILE_CACHE },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(child, 'close');
  const says = (pattern: RegExp) =>
    until(`${String(pattern)} is said`, WAIT_MS, async () => pattern.exec(said) ?? undefined);
  await until('one is started', WAIT_MS, async () => startsOf('one') === 1 || undefined);
  write({ one: stand.tools('one'), early: stand.tools('early') });
  const [, origin = ''] = await says(/ready: (\S+)\/mcp/);
  const secrets = readFileSync(join(data, 'secrets.json'), 'utf8');
  const { adminToken } = JSON.parse(secrets) as { adminToken: string };
  await becomes(origin, adminToken, 'one', 'CONNECTED');
  await says(/was edited: started early/);
  const url = `${upstream.origin}/mcp`;
  const programs = { one: stand.tools('one'), early: stand.tools('early') };
  write({ ...programs, two: stand.tools('two'), web: { url } });
  await says(/was edited: started two; registered web/);
  await becomes(origin, adminToken, 'two', 'CONNECTED');
  await becomes(origin, adminToken, 'web', 'CONNECTED');
  write({ ...programs, two: stand.tools('two'), web: { url: `${url}?x=1` } });
  await says(/web keeps its registered settings; see portico servers edit/);
  expect(startsOf('one')).toBe(1);
  child.kill('SIGTERM');
  await ended;
  expect(child.exitCode).toBe(0);
});
