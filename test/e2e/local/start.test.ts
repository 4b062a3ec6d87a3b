/** `npm start` as users run it: first and second start, options, a port in use, Ctrl-C, and health. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findFreePort, startFixture, until } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { endGateway, spawnStart, startGateway, withoutSettings } from '../support/gateway.ts';
import { openModern, textOf } from '../support/raw-client.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TOKEN = /portico_[A-Za-z0-9_-]{43}/u;
const folders: string[] = [];
let modern: Upstream;
let sse: Upstream;

const newFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-start-'));
  folders.push(folder);
  return folder;
};

beforeAll(async () => {
  [modern, sse] = await Promise.all([startFixture('rich-modern'), startFixture('rich-sse')]);
});

afterAll(async () => {
  await Promise.all([modern?.stop(), sse?.stop()]);
  await Promise.all(folders.map(folder => rm(folder, { recursive: true, force: true })));
});

it('[OPS-3] [ACC-2] creates an admin token once, and a second start keeps everything', async () => {
  const data = await newFolder();
  const port = await findFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const args = ['--port', String(port), '--data', data, '--no-demo'];
  const ready = (child: { exitCode: number | null }) =>
    until('the gateway serves', 60_000, async () => {
      if (child.exitCode !== null) return false;
      return (await fetch(`${origin}/health`)).ok ? true : undefined;
    });

  const first = spawnStart(args, { PORTICO_ADMIN_TOKEN: undefined });
  expect(await ready(first.child)).toBe(true);
  const token = await until(
    'the token is shown',
    60_000,
    async () => TOKEN.exec(first.output())?.[0],
  );
  expect(first.output()).toContain(origin);
  // The snippets contain another token than the admin's, which can call tools and administer nothing.
  const header = await until(
    'the snippets are shown',
    60_000,
    async () => /--header "Authorization: Bearer (portico_\S+)"/.exec(first.output())?.[1],
  );
  expect(header).not.toBe(token);
  expect(first.output().split(token).length - 1).toBe(1);
  const asMember = (path: string) =>
    fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${header}` } });
  expect((await asMember('/api/v1/tools')).status).toBe(200);
  expect((await asMember('/api/v1/aggregator/servers')).status).toBe(403);
  expect((await asMember('/api/v1/principals')).status).toBe(403);

  const api = (method: string, path: string, body?: object) =>
    fetch(`${origin}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const connection_config = { url: `${modern.origin}/mcp` };
  const body = { name: 'kept', transport_type: 'HTTP', connection_config, auto_connect: true };
  expect((await api('POST', '/api/v1/aggregator/servers', body)).status).toBe(201);
  const client = openModern({ url: `${origin}/mcp`, token });
  const works = () =>
    until('the server works', 60_000, async () => {
      const answer = await client.call('kept.echo', { message: 'hi' });
      return textOf(answer) === 'Echo: hi' ? true : undefined;
    });
  await works();

  expect(await endGateway(first.child)).toBe(0);
  await expect(fetch(`${origin}/health`)).rejects.toThrow('fetch failed');

  const second = spawnStart(args, { PORTICO_ADMIN_TOKEN: undefined });
  expect(await ready(second.child)).toBe(true);
  await works();
  expect(second.output()).not.toContain(token);
  expect(second.output()).not.toContain(header);
  await until('the snippets are shown again', 60_000, async () =>
    second.output().includes('Ctrl-C stops') ? true : undefined,
  );
  expect(second.output()).toMatch(/export PORTICO_TOKEN=\$\(node .*\)\.memberToken'\)/);
  const listed = (await (await api('GET', '/api/v1/aggregator/servers')).json()) as {
    servers: object[];
  };
  expect(listed.servers).toMatchObject([{ name: 'kept' }]);
  await endGateway(second.child);
});

it('[OPS-3] ends with npm, whichever is ended', async () => {
  const port = await findFreePort();
  const args = ['--port', String(port), '--data', await newFolder(), '--no-demo'];
  const npm = spawn('npm', ['start', '--silent', '--', ...args], {
    cwd: ROOT,
    env: withoutSettings(process.env),
    stdio: 'ignore',
  });
  const answers = () => fetch(`http://127.0.0.1:${port}/health`).then(({ ok }) => ok);
  await until('the gateway serves', 120_000, async () => (await answers()) || undefined);
  npm.kill('SIGTERM');
  await until('nobody answers', 60_000, () =>
    answers().then(
      () => undefined,
      () => true,
    ),
  );
  await expect(answers()).rejects.toThrow('fetch failed');
});

it('[OPS-3] [REG-6] registers the URL servers of a given mcp.json, once', async () => {
  const data = await newFolder();
  const config = join(data, 'mcp.json');
  const mcpServers = {
    web: { url: `${modern.origin}/mcp` },
    events: { type: 'sse', url: `${sse.origin}/sse`, headers: { 'X-Kept': 'yes' } },
    local: { command: 'some-program', args: ['--flag'] },
  };
  await writeFile(config, JSON.stringify({ mcpServers }));
  for (const round of ['first', 'second']) {
    const gateway = await startGateway({ data: join(data, 'store'), args: ['--config', config] });
    const names = async () => {
      const { json } = await gateway.api('GET', '/api/v1/aggregator/servers');
      return (json['servers'] as { name: string }[]).map(server => server.name).toSorted();
    };
    await until(`servers of the ${round} start`, 60_000, async () =>
      (await names()).length === 2 ? true : undefined,
    );
    expect(await names()).toEqual(['events', 'web']);
    const client = openModern({ url: `${gateway.origin}/mcp`, token: gateway.adminToken });
    for (const name of ['web', 'events']) {
      await until(`${name} works`, 60_000, async () => {
        const answer = await client.call(`${name}.echo`, { message: 'hi' });
        return textOf(answer) === 'Echo: hi' ? true : undefined;
      });
    }
    await gateway.stop();
  }
});

it('[OPS-3] says in one line that a port is in use, and exits with 1', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const args = ['--port', String(port), '--data', await newFolder(), '--no-demo'];
  const { child, output } = spawnStart(args);
  // Its last output may come after its exit.
  const [code] = (await once(child, 'close')) as [number | null];
  await endGateway(child);
  server.close();
  expect(code).toBe(1);
  const lines = output()
    .split('\n')
    .filter(line => line.includes(String(port)));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/port/iu);
  expect(output()).not.toMatch(/^\s+at /mu);
});

it.each([
  ['an unknown option', ['--no-such-option']],
  ['a port that is none', ['--port', 'eighty']],
  ['a config that is not there', ['--config', '/no/such/mcp.json']],
])('[OPS-3] says in one line what is wrong with %s', async (_, args) => {
  const given = [
    '--data',
    await newFolder(),
    '--no-demo',
    '--port',
    String(await findFreePort()),
    ...args,
  ];
  const { child, output } = spawnStart(given);
  // Its last output may come after its exit.
  const [code] = (await once(child, 'close')) as [number | null];
  await endGateway(child);
  expect(code).toBeGreaterThan(0);
  expect(output().trim()).toMatch(/^.+$/u);
});

it('[OPS-2] answers GET /health without a credential', async () => {
  const gateway = await startGateway();
  const answer = await fetch(`${gateway.origin}/health`);
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok', version: '0.1.0' }]);
  await gateway.stop();
});
