/**
 * Fifteen public MCP servers behind one `portico up`, offline, as in a user's `mcp.json`: most work, one has no database, one prints lines
 * that are no messages, and four lack their key. The gateway answers while they start; each missing server is reported with the program's
 * own reason, the same everywhere; each working server's tools are listed as it lists them.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findFreePort, until } from '../../fixtures/start-fixture.ts';
import type { Program } from '../support/connected.ts';
import { crowdOf, listDirectly } from '../support/crowd.ts';
import { COMPILE_CACHE, MAIN, runPortico } from '../support/portico-command.ts';
import { clients, type ClientName } from '../support/sdk-clients.ts';

const WAIT_MS = 120_000;
/** How soon everything is ready, and how soon a request is answered meanwhile, in milliseconds. */
const READY_MS = 20_000;
const ANSWER_MS = 1_000;
/** How many processes already share a processor; the times above are for an idle machine. */
const BUSY = Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

interface Shown {
  name: string;
  status: string;
  last_error: string | null;
  tool_count: number;
  held_tools: number;
}

let folder: string;
let programs: Record<string, Program>;
let child: ChildProcess;
let said = '';
let origin: string;
let token: string;
let readyMs: number;
const answersMs: number[] = [];

/** The reasons that the programs give which cannot work here. */
const REASONS: Record<string, string> = {
  slack: 'exited with code 1; it said: Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID',
  brave: 'exited with code 1; it said: Error: BRAVE_API_KEY environment variable is required',
  gitlab:
    'exited with code 1; it said: GITLAB_PERSONAL_ACCESS_TOKEN environment variable is not set',
  maps: 'exited with code 1; it said: GOOGLE_MAPS_API_KEY environment variable is not set',
  missing: 'cannot be started: spawn no-program-of-this-name ENOENT',
  postgres: 'Its resources cannot be listed: The server refused (-32603: connect ECONNREFUSED',
};
/** The programs that cannot run at all. */
const isGone = (name: string) => name in REASONS && name !== 'postgres';

const environment = () => ({
  PATH: process.env['PATH'] ?? '',
  HOME: folder,
  ...COMPILE_CACHE,
});

async function readServers(): Promise<Shown[]> {
  const response = await fetch(`${origin}/api/v1/aggregator/servers?limit=100`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { servers: Shown[] }).servers;
}

const findToken = async (): Promise<string | undefined> =>
  /portico_[\w-]{40,}/.exec(
    await readFile(join(folder, 'data/secrets.json'), 'utf8').catch(() => ''),
  )?.[0];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-crowd-'));
  programs = crowdOf(folder);
  await writeFile(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: programs }));
  const port = await findFreePort();
  origin = `http://127.0.0.1:${port}`;
  const args = ['up', '--config', 'mcp.json', '--data', 'data', '--port', String(port)];
  let endedAt: number | undefined;
  child = spawn(process.execPath, [MAIN, ...args], { env: environment(), cwd: folder });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (said.includes('ready: http')) endedAt ??= performance.now();
  });
  await until('an answer', WAIT_MS, async () => {
    const health = await fetch(`${origin}/health`).catch(() => undefined);
    return health?.ok ? true : undefined;
  });
  const startedAt = performance.now();
  token = (await findToken()) ?? '';
  for (;;) {
    if (endedAt !== undefined || performance.now() - startedAt > WAIT_MS) break;
    const askedAt = performance.now();
    await readServers();
    answersMs.push(performance.now() - askedAt);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  readyMs = (endedAt ?? Infinity) - startedAt;
}, WAIT_MS * 2);

afterAll(async () => {
  if (child.exitCode === null) {
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    await ended;
  }
  await rm(folder, { recursive: true, force: true });
});

it('[CLI-3] [UP-5] is ready soon, and answers requests meanwhile', () => {
  console.log(
    `ready after ${readyMs.toFixed(0)} ms; ${answersMs.length} answers, the slowest after ${Math.max(...answersMs).toFixed(0)} ms (busy: ${BUSY.toFixed(1)})`,
  );
  expect(readyMs).toBeLessThan(READY_MS * BUSY);
  expect(answersMs.length).toBeGreaterThan(5);
  expect(Math.max(...answersMs)).toBeLessThan(ANSWER_MS * BUSY);
});

it('[CLI-3] [SEC-7] connects every server that can run, and holds no tool for approval', async () => {
  const servers = await readServers();
  expect(servers.map(({ name }) => name).toSorted()).toEqual(Object.keys(programs).toSorted());
  expect(servers.filter(({ held_tools: held }) => held > 0)).toEqual([]);
  const byStatus = Object.groupBy(servers, ({ status }) => status);
  const namesOf = (status: string) => (byStatus[status] ?? []).map(({ name }) => name).toSorted();
  expect(namesOf('ERROR')).toEqual(Object.keys(programs).filter(isGone).toSorted());
  expect(namesOf('DEGRADED')).toEqual(['postgres']);
  expect(Object.keys(byStatus).toSorted()).toEqual(['CONNECTED', 'DEGRADED', 'ERROR']);
});

it.each(Object.entries(REASONS))(
  '[CLI-4] [REG-2] reports why %s is not complete, the same in up, registry and doctor',
  async (name, reason) => {
    const record = (await readServers()).find(server => server.name === name);
    expect(record?.last_error).toContain(reason);
    const line = said.split('\n').find(text => text.startsWith(`${name} is `));
    expect(line).toBe(`${name} is ${record?.status}: ${record?.last_error}`);
    const { out } = await runPortico(['doctor', '--url', origin], {
      env: { HOME: folder, PORTICO_TOKEN: token },
      cwd: folder,
    });
    expect(out).toContain(`server ${name}: ${record?.status}: ${record?.last_error}`);
  },
);

const PINNED = 'SDK 2.x pinned to 2026-07-28';
/** Returns a tool as a modern client reads it, without members that its revision does not have. */
const asModern = ({ execution: _legacy, ...tool }: Record<string, unknown>) => tool;

it('[MCP-7] [MCP-5] lists for each program what the program itself lists, for each kind of client', async () => {
  const kinds: ClientName[] = ['SDK 1.x', 'SDK 2.x legacy', PINNED];
  for (const [name, program] of Object.entries(programs).filter(([key]) => !isGone(key))) {
    const direct = await listDirectly(program, environment());
    expect([name, direct.length > 0]).toEqual([name, true]);
    for (const kind of kinds) {
      const client = await clients[kind]({ url: `${origin}/mcp/servers/${name}`, token });
      const tools = await client.listTools();
      await client.close();
      // Its list depends on its client's capabilities, and behind a connector all clients share it.
      const known = kind === PINNED ? direct.map(asModern) : direct;
      const names = new Set(direct.map(tool => tool.name));
      const shown = tools.filter(tool => name !== 'everything' || names.has(tool.name));
      expect({ name, kind, tools: shown }).toEqual({ name, kind, tools: known });
    }
  }
});
