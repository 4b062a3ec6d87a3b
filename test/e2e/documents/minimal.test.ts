/**
 * The minimal client of several servers, line by line (`test/source-documents/minimal.ts`): its file to the letter, except for two
 * addresses.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MINIMAL, type MinimalLine } from '../../source-documents/minimal.ts';
import {
  startFixture,
  stopAllFixtures,
  until,
  type Upstream,
} from '../../fixtures/start-fixture.ts';
import { richTools } from '../../fixtures/rich-tools.ts';
import { packageProgram } from '../support/connected.ts';
import { openLegacy } from '../support/raw-client.ts';
import { startUpHost, type UpHost } from '../support/up-host.ts';

const WAIT_MS = 60_000;

interface Page {
  servers: { id: string; name: string; status: string; tool_count: number }[];
}

let database: Upstream;
let host: UpHost;
let tools: { name: string }[];

const program = (folder: string) => {
  const { command, args = [] } = packageProgram(
    '@modelcontextprotocol/server-filesystem/dist/index.js',
    folder,
  );
  return { transport: 'stdio', command: [command, ...args] };
};

/** Where the second of two equal programs works, inside the folder of the first. */
const copied = (folder: string) => {
  const inner = join(folder, 'copied');
  mkdirSync(inner, { recursive: true });
  return inner;
};

beforeAll(async () => {
  database = await startFixture('rich-sse');
  host = await startUpHost(folder => ({
    servers: {
      database: { transport: 'sse', endpoint: `${database.origin}/sse` },
      github: program(folder),
      copy: program(copied(folder)),
      broken: { transport: 'stdio', command: [join(folder, 'not-there')] },
    },
  }));
  tools = await host.offers('database.echo', 'github.read_text_file', 'copy.read_text_file');
}, 180_000);
afterAll(async () => {
  await host?.end();
  await stopAllFixtures();
});

const textOf = async (name: string, given: object) =>
  JSON.stringify((await host.ask('tools/call', { name, arguments: given })).result);
const serverOf = async (name: string) =>
  (await host.api<Page>('/aggregator/servers')).servers.find(server => server.name === name);
const statusOf = (name: string, wanted: string) =>
  until(`${name} is ${wanted}`, WAIT_MS, async () => {
    const server = await serverOf(name);
    return server?.status === wanted ? server : undefined;
  });

async function readsNote(server: string, text: string, folder = host.folder): Promise<void> {
  const path = join(folder, 'note.txt');
  await writeFile(path, text);
  expect(await textOf(`${server}.read_text_file`, { path })).toContain(text);
}

/** Returns the ids of the processes that serve files of a folder. */
const programsOf = (folder: string) =>
  execFileSync('pgrep', ['-f', `server-filesystem/dist/index.js ${folder}`], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number);

const shows: Record<MinimalLine, () => void | Promise<void>> = {
  async M1() {
    const { servers } = await host.api<Page>('/aggregator/servers');
    expect(servers.map(({ name }) => name)).toEqual(['broken', 'copy', 'database', 'github']);
  },
  async M2() {
    expect(await statusOf('database', 'CONNECTED')).toMatchObject({ transport_type: 'SSE' });
  },
  async M3() {
    expect(await statusOf('github', 'CONNECTED')).toMatchObject({ transport_type: 'STDIO' });
  },
  async M4() {
    const { tool_count: count } = await statusOf('database', 'CONNECTED');
    expect(count).toBe(richTools.length);
    expect(tools.filter(({ name }) => name.startsWith('database.'))).toHaveLength(count);
  },
  async M5() {
    const before = await database.counters();
    expect(await textOf('database.echo', { message: 'to the database' })).toContain('to the data');
    const after = await database.counters();
    expect(after).not.toEqual(before);
  },
  async M6() {
    const text = 'what the tool answers';
    await readsNote('github', text);
    const path = join(host.folder, 'note.txt');
    const { result } = await host.ask('tools/call', {
      name: 'github.read_text_file',
      arguments: { path },
    });
    expect(result).toEqual({
      content: [{ type: 'text', text }],
      structuredContent: { content: text },
    });
  },
  async M7() {
    const counted = await host.api<Page>('/aggregator/servers');
    const sum = counted.servers.reduce((all, server) => all + server.tool_count, 0);
    expect(await host.offers('github.write_file')).toHaveLength(sum);
  },
  async M8() {
    const named = tools.filter(({ name }) => name.endsWith('.read_text_file'));
    expect(named.map(({ name }) => name).toSorted()).toEqual([
      'copy.read_text_file',
      'github.read_text_file',
    ]);
    const inner = copied(host.folder);
    expect(await textOf('copy.list_allowed_directories', {})).toContain(inner);
    const outer = await textOf('github.list_allowed_directories', {});
    expect(outer).toContain(host.folder);
    expect(outer).not.toContain(inner);
  },
  async M9() {
    await readsNote('github', 'first');
    await readsNote('github', 'second');
  },
  M10: () => expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length),
  async M11() {
    expect(host.errors()).toContain('broken');
    expect(tools.some(({ name }) => name.startsWith('broken.'))).toBe(false);
    await readsNote('copy', 'goes on', copied(host.folder));
  },
  async M12() {
    const { id } = await statusOf('database', 'CONNECTED');
    const path = `/aggregator/servers/${id}/health`;
    const { checks } = await host.api<{ checks: { finding: string }[] }>(path);
    expect(checks[0]).toMatchObject({ finding: 'good' });
    for (const pid of programsOf(host.folder)) process.kill(pid, 'SIGKILL');
    const file = join(host.folder, 'note.txt');
    await writeFile(file, 'there again');
    await until('the program is there again', WAIT_MS, async () => {
      const text = await textOf('github.read_text_file', { path: file });
      return text?.includes('there again') || undefined;
    });
  },
  async M13() {
    const read = (name: string) =>
      JSON.parse(readFileSync(join(host.folder, 'data', name), 'utf8')) as Record<string, string>;
    const url = `${read('running.json')['origin']}/mcp`;
    const token = read('secrets.json')['adminToken'];
    const client = await openLegacy({ url, token });
    const answer = await client.call('database.echo', { message: 'from an application' });
    expect(answer.text).toContain('from an application');
  },
  async M14() {
    const ready = JSON.parse(readFileSync(join(host.folder, 'mcp.json'), 'utf8')) as object;
    const started = await startUpHost(() => ready);
    const [tool] = await started.offers('database.echo');
    expect(tool?.name).toMatch(/^\w+\./u);
    const params = { name: 'database.echo', arguments: { message: 'step four' } };
    expect(JSON.stringify((await started.ask('tools/call', params)).result)).toContain('step four');
    await started.end();
  },
};

it.each(MINIMAL.lines.map(({ id, says }) => [id as MinimalLine, says] as const))(
  '[CLI-3] %s: %s',
  async id => {
    expect.hasAssertions();
    await shows[id]();
  },
);
