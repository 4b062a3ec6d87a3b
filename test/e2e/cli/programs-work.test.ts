/**
 * What an assistant does on a machine, through `/mcp` and with a public server (Desktop Commander) behind `portico connect`: files,
 * processes, search, configuration and the shell, with real clients of both eras; each action is checked on the machine.
 */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { connectPrograms, type Connected } from '../support/connected.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { ERAS, makeMachine, openClient, textIn, type Machine } from '../support/programs.ts';
import type { McpClient } from '../support/sdk-clients.ts';
import { isAlive } from '../support/is-alive.ts';

/** How long the server waits for missing output, in milliseconds; long, for a busy machine. */
const OUTPUT_MS = 20_000;
const WAIT_MS = 60_000;
const TIME_MS = 300_000;

let gateway: Gateway;
let machine: Machine;
let connected: Connected;

beforeAll(async () => {
  [machine, gateway] = await Promise.all([makeMachine(), startGateway()]);
  connected = await connectPrograms(gateway, 'desk', { desktop: machine.programs.desktop });
}, TIME_MS);

afterAll(async () => {
  await connected?.end('SIGTERM');
  await gateway?.stop();
  await machine?.remove();
});

/** Returns a function that calls a tool of the server and returns its text. */
const callerOf =
  (client: McpClient) =>
  async (tool: string, given: Record<string, unknown> = {}): Promise<string> =>
    textIn(await client.callTool(`desktop.${tool}`, given));
type Call = ReturnType<typeof callerOf>;

const pidIn = (text: string): number => {
  const [, digits] = /PID (\d+)/.exec(text) ?? [];
  if (digits === undefined) throw new Error(`no process id in: ${text}`);
  return Number(digits);
};

/** Returns the last lines of a process, once they contain a text. */
const untilSaid = (call: Call, pid: number, wanted: string) =>
  until(`process ${pid} says ${wanted}`, WAIT_MS, async () => {
    const text = await call('read_process_output', { pid, offset: -50 });
    return text.includes(wanted) ? text : undefined;
  });

const untilGone = (pid: number) =>
  until(`process ${pid} is gone`, WAIT_MS, async () => (isAlive(pid) ? undefined : true));

describe.each(ERAS)('a %s client', era => {
  let client: McpClient;
  let call: Call;
  let folder: string;

  beforeAll(async () => {
    client = await openClient(era, gateway);
    call = callerOf(client);
    folder = join(machine.folder, era);
    await mkdir(folder);
  });

  afterAll(() => client?.close());

  it('[CLI-1] [MCP-7] files: writes, reads, edits, lists and moves them, in any script', async () => {
    const path = join(folder, 'größe 文 🙂.txt');
    const content = 'first "line"\\n\nзweite\tZeile\n';
    await call('write_file', { path, content });
    expect(await readFile(path, 'utf8')).toBe(content);
    await call('write_file', { path, content: 'more\n', mode: 'append' });
    expect(await call('read_file', { path })).toContain(`${content}more`);
    const [old_string, new_string] = ['зweite', 'dritte'];
    await call('edit_block', { file_path: path, old_string, new_string });
    expect(await readFile(path, 'utf8')).toContain('dritte\tZeile');
    await call('create_directory', { path: join(folder, 'deep', 'er') });
    const moved = join(folder, 'deep', 'er', 'moved.txt');
    await call('move_file', { source: path, destination: moved });
    await expect(stat(path)).rejects.toThrow('ENOENT');
    expect(await call('list_directory', { path: folder, depth: 3 })).toContain('moved.txt');
    const { size } = await stat(moved);
    expect(await call('get_file_info', { path: moved })).toContain(`size: ${size}`);
    expect(await call('read_file', { path: join(folder, 'none') })).toMatch(/^error: .*ENOENT/su);
  });

  it('[CLI-1] processes: starts one, finds it, reads its output, and ends it', async () => {
    const started = await call('start_process', {
      command: 'echo on its way; exec sleep 600',
      timeout_ms: 100,
    });
    const pid = pidIn(started);
    await untilSaid(call, pid, 'on its way');
    expect(await call('list_sessions')).toContain(`PID: ${pid}`);
    expect(await call('list_processes')).toContain(`PID: ${pid}`);
    expect(isAlive(pid)).toBe(true);
    await call('force_terminate', { pid });
    await untilGone(pid);
    const second = pidIn(await call('start_process', { command: 'exec sleep 600', timeout_ms: 1 }));
    await call('kill_process', { pid: second });
    await untilGone(second);
  });

  it('[CLI-1] search: starts one by content, fetches its results in pages, and stops one', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `found-${String(at).padStart(2, '0')}.txt`);
    for (const name of names) await writeFile(join(folder, name), `the needle of ${era}`);
    await writeFile(join(folder, 'other.txt'), 'hay');
    const begun = await call('start_search', {
      path: folder,
      pattern: `needle of ${era}`,
      searchType: 'content',
    });
    const [, sessionId = ''] = /session: (\S+)/.exec(begun) ?? [];
    const page = (offset: number) =>
      call('get_more_search_results', { sessionId, offset, length: 20 });
    await until('the search is over', WAIT_MS, async () =>
      (await page(0)).includes('COMPLETED') ? true : undefined,
    );
    const text = (await page(0)) + (await page(20));
    for (const name of names) expect(text).toContain(join(folder, name));
    expect(text).not.toContain('other.txt');
    expect(await call('list_searches')).toContain(sessionId);
    const files = await call('start_search', { path: folder, pattern: 'found-07' });
    const [, other = ''] = /session: (\S+)/.exec(files) ?? [];
    expect(await call('stop_search', { sessionId: other })).toContain(other);
  });

  it('[CLI-1] configuration: reads it, and a new value applies from then on', async () => {
    expect(await call('get_config')).toContain('"blockedCommands"');
    const value = era === 'legacy' ? 711 : 712;
    await call('set_config_value', { key: 'fileReadLineLimit', value });
    expect(await call('get_config')).toContain(`"fileReadLineLimit": ${value}`);
  });

  it('[CLI-1] shell: runs a command, reports a failing one, and refuses a blocked one', async () => {
    const run = (command: string) => call('start_process', { command, timeout_ms: 100 });
    await writeFile(join(folder, 'counted.txt'), 'a\nb\nc\n');
    // The server may miss output right before a process ends: these processes end only on request.
    const count = `printf 'lines:%d\\n' "$(wc -l < '${folder}/counted.txt')"; exec sleep 600`;
    const counting = pidIn(await run(count));
    await untilSaid(call, counting, 'lines:3');
    await call('force_terminate', { pid: counting });
    const missing = pidIn(await run('no-such-program-here; code=$?; read line; exit $code'));
    await untilSaid(call, missing, 'not found');
    await call('interact_with_process', { pid: missing, input: 'end', timeout_ms: 100 });
    await untilSaid(call, missing, 'exit code 127');
    expect(await run('sudo true')).toMatch(/^error: .*not allowed/su);
  });
});

it('[CLI-1] [MCP-5] a modern client talks to one process in several calls, and so does the next client', async () => {
  const [first, second] = await Promise.all([
    openClient('modern', gateway),
    openClient('modern', gateway),
  ]);
  const [mine, other] = [callerOf(first), callerOf(second)];
  const command = `"${process.execPath}" -i`;
  const pid = pidIn(await mine('start_process', { command, timeout_ms: OUTPUT_MS }));
  const say = (call: Call, input: string) =>
    call('interact_with_process', { pid, input, timeout_ms: OUTPUT_MS });
  await say(mine, 'let kept = 40');
  await say(mine, 'kept += 1; `kept: ${kept}`');
  await untilSaid(mine, pid, 'kept: 41');
  await say(other, 'kept += 1; `then: ${kept}`');
  await untilSaid(other, pid, 'then: 42');
  expect(await mine('list_sessions')).toContain(`PID: ${pid}`);
  await first.close();
  await say(other, '`still ${kept}`');
  await untilSaid(other, pid, 'still 42');
  await other('force_terminate', { pid });
  await untilGone(pid);
  await second.close();
});
