/**
 * The report on an integration system: its kinds of tools and what operators see, line by line (`test/source-documents/integration.ts`),
 * with real files and processes.
 */
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findFreePort, until } from '../../fixtures/start-fixture.ts';
import { TOOL_LINES, type ToolLine } from '../../source-documents/integration.ts';
import { addServer } from '../support/chat-gateway.ts';
import {
  startIntegration,
  startSales,
  type IntegrationStand,
} from '../support/integration-stand.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const SOON_MS = 60_000;

let stand: IntegrationStand;

beforeAll(async () => {
  stand = await startIntegration();
}, 240_000);
afterAll(() => stand?.stop());

const given = async (tool: string, args: object = {}) => {
  const { status, text } = await stand.call(tool, args);
  expect([tool, status]).toEqual([tool, 200]);
  return text;
};
const textOf = (path: string) => readFileSync(join(stand.folder, path), 'utf8');
const isAlive = (pid: number) => existsSync(`/proc/${pid}`);
const api = (method: string, path: string, body?: object) =>
  stand.gateway.api(method, `/api/v1${path}`, body);
/** Waits for the audit row of a call whose arguments contain a word. */
const rowOf = (word: string) =>
  until('the row is there', SOON_MS, async () => {
    const { json } = await api('GET', '/audit?limit=100');
    const rows = json['events'] as { detail: object }[];
    return rows.find(({ detail }) => JSON.stringify(detail).includes(word));
  });

const shows: Record<ToolLine, () => void | Promise<void>> = {
  async I54() {
    await given('make_directory', { path: 'd' });
    await given('create_file', { path: 'd/empty' });
    await given('write_file', { path: 'd/a.txt', content: 'one ' });
    await given('append_file', { path: 'd/a.txt', content: 'two' });
    expect(textOf('d/a.txt')).toBe('one two');
    await given('copy_file', { src: 'd/a.txt', dest: 'd/b.txt' });
    await given('move_file', { src: 'd/b.txt', dest: 'moved.txt' });
    await given('delete_file', { path: 'd/empty' });
    expect(await given('read_file', { path: 'moved.txt' })).toBe('one two');
    expect(await given('list_directory', { path: 'd' })).toBe('["a.txt"]');
    expect(await given('get_file_info', { path: 'd/a.txt' })).toBe('{"size":7}');
    expect(await given('search_files', { name_pattern: 'moved' })).toBe('["moved.txt"]');
  },
  async I55() {
    const [path, content] = ['Grüße 漢字 😀.txt', 'naïve \u2028 "x" \\ עברית 😀\n'];
    await given('write_file', { path, content });
    expect(textOf(path)).toBe(content);
    expect(await given('read_file', { path })).toBe(content);
    writeFileSync(join(stand.folder, 'b.bin'), Buffer.from([0, 255, 137, 10]));
    expect(await given('read_binary_file', { path: 'b.bin' })).toBe('AP+JCg==');
  },
  async I56() {
    const text = 'line of a long file, é😀\n'.repeat(100_000);
    writeFileSync(join(stand.folder, 'large.txt'), text);
    expect((await given('read_file', { path: 'large.txt' })) === text).toBe(true);
  },
  async I57() {
    const { detail } = await stand.call('write_file', { path: '', content: 'x' });
    expect(detail).toBe('Access denied (-32002)');
    const pid = Number(await given('start_process', { command: 'not-a-program 2>&1' }));
    expect(
      await until(
        'it has said so',
        SOON_MS,
        async () => (await given('read_process_output', { pid })) || undefined,
      ),
    ).toContain('not found');
  },
  async I58() {
    const pid = Number(await given('start_process', { command: 'echo hello; cat' }));
    await until(
      'it has said hello',
      SOON_MS,
      async () => (await given('read_process_output', { pid })).includes('hello') || undefined,
    );
    expect(await given('write_process_input', { pid, input: 'a\n' })).toContain('a');
    expect(await given('interact_process', { pid, input: 'b\n' })).toContain('b');
    expect(JSON.parse(await given('list_processes'))).toContain(pid);
    expect(isAlive(pid)).toBe(true);
    await given('kill_process', { pid });
    await until('it is gone', SOON_MS, async () => !isAlive(pid) || undefined);
    expect((await stand.call('read_process_output', { pid })).detail).toContain(
      'Process not found',
    );
  },
  async I59() {
    for (const n of [1, 2, 3]) writeFileSync(join(stand.folder, `found-${n}`), '');
    const id = Number(await given('start_search', { query: 'found-', path: '' }));
    const next = (most: number) =>
      given('get_search_results', { search_id: id, max_results: most });
    expect([await next(2), await next(2)]).toEqual(['["found-1","found-2"]', '["found-3"]']);
    writeFileSync(join(stand.folder, 'note'), 'needle of a search');
    const content = await given('start_search', { query: 'needle of', path: '' });
    expect(await given('get_search_results', { search_id: Number(content), max_results: 9 })).toBe(
      '["note"]',
    );
    await given('stop_search', { search_id: id });
    const { detail } = await stand.call('get_search_results', { search_id: id, max_results: 1 });
    expect(detail).toContain('Search not found');
  },
  async I60() {
    await given('set_config_value', { key: 'verbose', value: 'on' });
    expect(JSON.parse(await given('get_config'))).toMatchObject({ verbose: 'on' });
    expect(await given('run_command', { command_line: 'pwd' })).toContain('portico-integration');
  },
  async I61() {
    await stand.call('read_file', { path: 'not-there' });
    expect(await rowOf('not-there')).toMatchObject({
      at: expect.stringMatching(/^\d{4}-/u),
      subject: 'files.read_file',
      detail: { is_error: true, rpc_code: -32001 },
    });
    expect(JSON.stringify(await rowOf('not-there'))).not.toContain('File not found');
  },
  async I62() {
    const port = await findFreePort();
    const hook = { name: 'on-call', url: `http://127.0.0.1:${port}/`, events: ['server.down'] };
    const { status, json } = await api('POST', '/webhooks', hook);
    expect(status).toBe(201);
    const receiver = await startWebhookReceiver(port, String(json['secret']));
    const going = await startSales();
    await addServer(stand.chats, 'going', going.url);
    await going.close();
    const told = await until('somebody is told', SOON_MS, async () => {
      await stand.call('going.read_file');
      return receiver.taken.find(({ body }) => body.type === 'server.down')?.body;
    });
    expect(told.data.server).toMatchObject({ name: 'going' });
    await receiver.stop();
  },
  async I93() {
    const locked = await startSales();
    await addServer(stand.chats, 'locked', locked.url);
    await locked.close();
    const refusing = createServer((asked, answer) => {
      asked.resume().on('end', () => answer.writeHead(401).end());
    });
    refusing.listen(Number(new URL(locked.url).port), '127.0.0.1');
    await once(refusing, 'listening');
    const told = await until('it is told', SOON_MS, async () => {
      await stand.call('locked.read_file');
      const { text } = await stand.gateway.api('GET', '/metrics');
      return /portico_server_status\{server="locked",status="(?!CONNECTED)\w+"\} 1/.exec(text)?.[0];
    });
    refusing.closeAllConnections();
    refusing.close();
    expect(told).toContain('DEGRADED');
  },
  async I63() {
    const masked = { key: 'of-the-mask', api_key: 'hunter2-hunter2' };
    await given('set_config_value', masked);
    const row = JSON.stringify(await rowOf('of-the-mask'));
    expect(row).not.toContain('hunter2');
    expect(row).toContain('api_key');
  },
  async I64() {
    await given('read_file', { path: 'error.log' });
    await rowOf('error.log');
    const { text } = await api('GET', '/audit/export');
    const rows = text.trim().split('\n');
    const subjects = rows.map(line => (JSON.parse(line) as { subject: string }).subject);
    expect(subjects).toContain('files.read_file');
  },
};

it.each(TOOL_LINES.map(({ id, says }) => [id, says] as const))(
  '[LLM-2] [SEC-6] [OPS-7] %s: %s',
  async id => {
    expect.hasAssertions();
    await shows[id]();
  },
);
