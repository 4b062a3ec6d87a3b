/**
 * `portico up`: one command turns an `mcp.json` into a gateway, over HTTP and over stdio. The details of the seeds (names, errors, special
 * characters, the same server twice, one SSE and two stdio servers) are tested word for word.
 */
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, stopAllFixtures, until } from '../../fixtures/start-fixture.ts';
import { fixtureProgram, packageProgram } from '../support/connected.ts';
import { COMPILE_CACHE, MAIN } from '../support/portico-command.ts';
import { familyOf, linesOf, parents } from '../support/processes.ts';

const WAIT_MS = 60_000;
const filesystem = (folder: string) =>
  packageProgram('@modelcontextprotocol/server-filesystem/dist/index.js', folder);

let folder: string;
let file: string;
const started: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-up-'));
  file = join(folder, 'mcp.json');
  await writeFile(join(folder, 'note.txt'), 'kept here');
  const { origin } = await startFixture('rich-sse');
  const { command, args = [] } = fixtureProgram('rich-stdio.ts', '--sdk', '1');
  const servers = {
    database: { transport: 'sse', endpoint: `${origin}/sse` },
    'fs-home': filesystem(folder),
    'fs-work': filesystem(folder),
    'my-server_v2': { transport: 'stdio', command: [command, ...args] },
  };
  await writeFile(file, JSON.stringify({ servers }));
});

afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await stopAllFixtures();
  await rm(folder, { recursive: true, force: true });
});

const environment = () => ({
  PATH: process.env['PATH'] ?? '',
  HOME: folder,
  ...COMPILE_CACHE,
});
const argsOf = (...more: string[]) => [MAIN, 'up', '--config', file, ...more];

function up(...more: string[]) {
  const child = spawn(process.execPath, argsOf(...more), { env: environment(), cwd: folder });
  started.push(child);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const says = (text: string) =>
    until(`"${text}" said`, WAIT_MS, async () => (said.includes(text) ? said : undefined));
  const ready = async () => {
    const [, origin = ''] = /ready: (\S+)\/mcp/.exec(await says('ready: ')) ?? [];
    return origin;
  };
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, says, said: () => said, ready, ended };
}

/** The admin token of a data folder. */
const adminTokenOf = (data: string): string =>
  (JSON.parse(readFileSync(join(data, 'secrets.json'), 'utf8')) as { adminToken: string })
    .adminToken;

/** Asks the gateway of an admin token for something. */
const ask = (origin: string, path: string, adminToken: string, method = 'GET') =>
  fetch(`${origin}/api/v1/${path}`, { method, headers: { authorization: `Bearer ${adminToken}` } });

/** Returns the ids of the processes whose command line contains this test's folder. */
const processesOfTest = () => linesOf('pgrep', '-f', folder);

it('[CLI-3] [CLI-2] is a stdio server in front of one SSE and three stdio servers, word for word as in the seeds', async () => {
  const data = join(folder, 'stdio-data');
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: argsOf('--data', data, '--stdio', '--names', 'colon'),
    env: environment(),
    stderr: 'ignore',
  });
  const client = new Client1({ name: 'claude-desktop', version: '1.0.0' });
  await client.connect(transport, { timeout: WAIT_MS });
  const wanted = ['fs-home:read_file', 'fs-work:read_file', 'database:echo', 'my-server_v2:echo'];
  // On a busy machine they are not all ready at once.
  await until('all are offered', WAIT_MS, async () => {
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    return wanted.every(name => names.includes(name)) || undefined;
  });
  const read = await client.callTool({
    name: 'fs-home:read_text_file',
    arguments: { path: join(folder, 'note.txt') },
  });
  expect(read.content).toEqual([{ type: 'text', text: 'kept here' }]);
  for (const name of ['database:echo', 'my-server_v2:echo', 'database.echo']) {
    const { content } = await client.callTool({ name, arguments: { message: name } });
    expect(JSON.stringify(content)).toContain(name);
  }
  await expect(client.callTool({ name: 'invalid:tool_name' })).rejects.toMatchObject({
    code: -32601,
    message: 'MCP error -32601: Tool not found: invalid:tool_name',
  });
  await expect(client.callTool({ name: 'tool_name' })).rejects.toMatchObject({
    code: -32602,
    message: 'MCP error -32602: Tool name must be prefixed with server key: tool_name',
  });
  // The error of the program's server, passed on unchanged.
  await expect(client.callTool({ name: 'my-server_v2:broken' })).rejects.toMatchObject({
    code: -31999,
    data: { kind: 'demo', list: [1, null, 'ü'] },
  });
  await client.close();
  await until('nothing is left', WAIT_MS, async () =>
    (await processesOfTest()).length === 0 ? true : undefined,
  );
});

it('[CLI-3] [CLI-2] serves a second host of the same folder with the running gateway', async () => {
  const data = join(folder, 'shared-data');
  const connect = async (name: string) => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: argsOf('--data', data, '--stdio'),
      env: environment(),
      stderr: 'ignore',
    });
    const client = new Client1({ name, version: '1.0.0' });
    await client.connect(transport, { timeout: WAIT_MS });
    return client;
  };
  const read = async (client: Client1) => {
    const path = join(folder, 'note.txt');
    return until('the file is read', WAIT_MS, async () => {
      const { content } = await client.callTool({
        name: 'fs-home.read_text_file',
        arguments: { path },
      });
      return JSON.stringify(content).includes('kept here') || undefined;
    });
  };
  // Both at once: the second waits for the first.
  const [claude, cursor] = await Promise.all([connect('claude'), connect('cursor')]);
  expect(await Promise.all([read(claude), read(cursor)])).toEqual([true, true]);
  const gateways = (await processesOfTest()).length;
  const third = await connect('vscode');
  expect(await read(third)).toBe(true);
  // One more process: the command itself, without another gateway or program.
  expect((await processesOfTest()).length).toBe(gateways + 1);
  await Promise.all([claude, cursor, third].map(client => client.close()));
  await until('nothing is left', WAIT_MS, async () =>
    (await processesOfTest()).length === 0 ? true : undefined,
  );
  expect(existsSync(join(data, 'running.json'))).toBe(false);
});

it('[CLI-3] serves /mcp, keeps its data, and on a signal ends with everything that it started', async () => {
  const data = join(folder, 'http-data');
  const first = up('--port', '0', '--data', data);
  const origin = await first.ready();
  const adminToken = adminTokenOf(data);
  expect(statSync(join(data, 'connectors.json')).mode & 0o777).toBe(0o600);
  const serversOf = async (of: string) => {
    const response = await ask(of, 'aggregator/servers', adminToken);
    const page = (await response.json()) as {
      servers: { name: string; status: string; id: string }[];
    };
    return page.servers.map(({ name, status, id }) => ({ name, status, id }));
  };
  const before = await until('all are connected', WAIT_MS, async () => {
    const found = await serversOf(origin);
    const isWhole = found.length === 4 && found.every(({ status }) => status === 'CONNECTED');
    return isWhole ? found : undefined;
  });
  expect(before.map(({ name, status }) => `${name} ${status}`)).toEqual([
    'database CONNECTED',
    'fs-home CONNECTED',
    'fs-work CONNECTED',
    'my-server_v2 CONNECTED',
  ]);
  const second = up('--port', '0', '--data', data);
  expect(await second.ended).toBe(1);
  expect(second.said()).toContain('Another gateway uses the data folder');
  const { port } = new URL(origin);
  const third = up('--port', port, '--data', join(folder, 'other'));
  expect([await third.ended, third.said()]).toEqual([
    1,
    expect.stringContaining(`port ${port} is taken`),
  ]);
  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
  expect(await processesOfTest()).toEqual([]);
  // With the same data it is the same machine, also on another port.
  const again = up('--port', '0', '--data', data);
  expect((await serversOf(await again.ready())).map(({ id }) => id)).toEqual(
    before.map(({ id }) => id),
  );
  expect(again.said()).not.toContain(adminToken);
  again.child.kill('SIGINT');
  expect(await again.ended).toBe(0);
});

it('[CLI-3] a rotated token of its connector ends it, and the next start gets another', async () => {
  const data = join(folder, 'rotated-data');
  const program = fixtureProgram('rich-stdio.ts');
  await writeFile(join(folder, 'one.json'), JSON.stringify({ servers: { one: program } }));
  const start = () => up('--config', join(folder, 'one.json'), '--port', '0', '--data', data);
  const first = start();
  const origin = await first.ready();
  const rotation = ask(origin, 'connectors/this-machine/rotate', adminTokenOf(data), 'POST');
  // The gateway may end before it answers.
  await Promise.allSettled([rotation]);
  expect(await first.ended).toBe(3);
  expect(first.said()).toContain('start portico up again');
  const again = start();
  await again.says('ready: ');
  expect(again.said()).toContain('connected as this-machine');
  again.child.kill('SIGTERM');
  expect(await again.ended).toBe(0);
});

it('[CLI-3] when it is killed, leaves no gateway on its port and its data', async () => {
  const data = join(folder, 'killed-data');
  const first = up('--port', '0', '--data', data);
  const origin = await first.ready();
  // Another test may take the port as soon as it is free, but does not know this token.
  const adminToken = adminTokenOf(data);
  const answers = () =>
    ask(origin, 'token', adminToken).then(
      ({ ok }) => ok,
      () => false,
    );
  expect(await answers()).toBe(true);
  const family = await familyOf(first.child.pid ?? 0);
  first.child.kill('SIGKILL');
  await first.ended;
  await until('it no longer answers', WAIT_MS, async () => !(await answers()) || undefined);
  await until('nothing is left', WAIT_MS, async () => {
    const running = await parents();
    return [...family].every(pid => !running.has(pid)) || undefined;
  });
  const second = up('--port', '0', '--data', data);
  await second.ready();
  second.child.kill('SIGTERM');
  expect(await second.ended).toBe(0);
});

it('[CLI-3] [CLI-4] reports errors in one line', async () => {
  const run = async (...args: string[]) => {
    const child = spawn(process.execPath, [MAIN, 'up', ...args], {
      env: environment(),
      cwd: folder,
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [code] = (await once(child, 'close')) as [number];
    return { code, lines: said.trim().split('\n') };
  };
  expect(await run('--config', 'nowhere.json')).toEqual({
    code: 2,
    lines: ['portico: nowhere.json cannot be read (ENOENT); name a file with --config'],
  });
  await writeFile(join(folder, 'broken.json'), '{"servers": 7}');
  const broken = await run('--config', 'broken.json');
  expect([broken.code, broken.lines.length]).toEqual([2, 1]);
  const port = await run('--config', 'mcp.json', '--port', 'many');
  expect([port.code, port.lines.at(-1)]).toEqual([2, expect.stringContaining("not 'many'")]);
  expect(existsSync(join(folder, '.local'))).toBe(false);
});
