/**
 * The report on an integration system: its conversations, wire format and sessions, line by line (`test/source-documents/integration.ts`),
 * with its server of files as it draws it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { WIRE_LINES, type WireLine } from '../../source-documents/integration.ts';
import {
  LOG,
  SECRET,
  startIntegration,
  type IntegrationStand,
} from '../support/integration-stand.ts';
import { openLegacy } from '../support/raw-client.ts';

const SOON_MS = 60_000;
const message = 'What is the content of the latest error log?';
const one = (tool: string, given: Record<string, unknown> = {}) => ({
  calls: [{ name: tool.includes('__') ? tool : `files__${tool}`, arguments: given }],
});
const read = one('read_file', { path: 'error.log' });

let stand: IntegrationStand;
/** A call that is never answered, started first, with the default settings. */
let hanging: Promise<{ content: string; seconds: number }>;

beforeAll(async () => {
  stand = await startIntegration();
  const from = performance.now();
  hanging = stand.tell('hang').then(({ content }) => ({
    content,
    seconds: (performance.now() - from) / 1_000,
  }));
}, 240_000);
afterAll(() => stand?.stop());

const sent = (method: string) => stand.desktop.came.filter(each => each.message.method === method);
const last = () => sent('tools/call').at(-1);
const api = (method: string, path: string, body?: object) =>
  stand.gateway.api(method, `/api/v1${path}`, body);
const toolsOf = async (format: string, name: string) => {
  const { json } = await api('GET', `/tools?format=${format}`);
  return (json['tools'] as Record<string, unknown>[]).find(each =>
    JSON.stringify(each).includes(`"${name}"`),
  );
};
const chatOf = async (...turns: (typeof read | { text: string })[]) =>
  stand.converse({ message }, turns);
const fails = async (tool: string, code: string) => {
  const answer = await stand.call(tool);
  expect(answer).toMatchObject({ status: 502, code, text: '' });
};
const target = () => ({
  url: `${stand.gateway.origin}/mcp`,
  token: stand.gateway.adminToken,
});
const tokenOf = async (name: string) => (await stand.gateway.createToken({ name })).token;
const textOf = (path: string) => readFileSync(join(stand.folder, path), 'utf8');
const given = async (tool: string, args: object = {}) => {
  const { status, text } = await stand.call(tool, args);
  expect([tool, status]).toEqual([tool, 200]);
  return text;
};
const isAlive = (pid: number) => existsSync(`/proc/${pid}`);

const shows: Record<WireLine, () => void | Promise<void>> = {
  async I1() {
    const args = { path: 'error.log' };
    const name = 'files__read_file';
    const anthropic = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't1', name, input: args }],
    };
    const gemini = { role: 'model', parts: [{ functionCall: { name, args } }] };
    const openai = {
      type: 'function',
      id: 'c1',
      function: { name, arguments: JSON.stringify(args) },
    };
    for (const [format, said] of [
      ['anthropic', { message: anthropic }],
      ['gemini', { message: gemini }],
      ['openai-chat', { calls: [openai] }],
    ] as const) {
      expect(await toolsOf(format, name)).toBeDefined();
      const { json } = await api('POST', '/tools/execute', { format, ...said });
      expect(JSON.stringify(json['messages'])).toContain('E1042');
    }
  },
  async I2() {
    const chat = await chatOf(read, { text: 'The disk is full.' });
    expect(chat).toMatchObject({ stop_reason: 'answered', answer: 'The disk is full.' });
    expect(await stand.told()).toEqual([LOG]);
    expect(await stand.chats.problems()).toEqual([]);
  },
  async I3() {
    const rule = { effect: 'deny', subject: { kind: 'group', name: 'readers' }, server: 'files' };
    const principal = await api('POST', '/principals', { name: 'reader', groups: ['readers'] });
    const id = String(principal.json['id']);
    expect((await api('POST', '/access/rules', { ...rule, tool: 'delete_*' })).status).toBe(201);
    const { token } = await stand.gateway.createToken({ name: 'reader', principal: id });
    const seen = await stand.seen(token);
    expect(seen).toContain('files__read_file');
    expect(seen).not.toContain('files__delete_file');
    expect((await stand.call('delete_file', { path: 'error.log' }, token)).status).toBe(404);
    expect(textOf('error.log')).toBe(LOG);
  },
  async I4() {
    await given('read_file', { path: 'error.log' });
    const row = await until('the row is there', SOON_MS, async () => {
      const { json } = await api('GET', '/audit?limit=100');
      const rows = json['events'] as { subject: string; detail: { arguments: object } }[];
      return rows.find(
        ({ subject, detail }) => subject === 'files.read_file' && 'path' in detail.arguments,
      );
    });
    expect(row).toMatchObject({
      principal: 'setup-admin',
      at: expect.stringMatching(/^\d{4}-/u),
      outcome: 'done',
      detail: { arguments: { path: 'error.log' }, is_error: false },
    });
  },
  async I5() {
    const before = sent('tools/call').length;
    await stand.tell('read_file', { path: 'error.log' });
    const params = { name: 'read_file', arguments: { path: 'error.log' } };
    expect(sent('tools/call').slice(before)).toMatchObject([{ message: { params } }]);
  },
  async I6() {
    const told = await stand.tell('read_file', { path: 'error.log' });
    expect(told).toEqual({ role: 'function', name: 'files__read_file', content: LOG });
  },
  async I7() {
    const search = one('search_files', { name_pattern: 'error' });
    const chat = await chatOf(search, read, { text: 'Full.' });
    expect(chat).toMatchObject({ stop_reason: 'answered', steps: 3 });
    expect(await stand.told()).toEqual(['["error.log"]', LOG]);
  },
  async I8() {
    await chatOf(one('read_file', { path: 'gone' }), {
      text: 'Sorry, I could not find that file.',
    });
    expect((await stand.told())[0]).toContain('File not found');
  },
  async I9() {
    await given('list_directory');
    for (const method of ['initialize', 'tools/list', 'tools/call']) {
      const [request] = sent(method);
      expect(request?.message).toMatchObject({ jsonrpc: '2.0', id: expect.any(Number), method });
    }
    expect(last()?.message).toHaveProperty('params');
  },
  async I10() {
    await given('read_file', { path: 'error.log' });
    expect(last()?.message.params).not.toHaveProperty('tool');
    expect(last()?.message.params?.name).toBe('read_file');
  },
  async I11() {
    const seen = await stand.seen();
    expect(seen).toContain('files__read_file');
    expect(seen).not.toContain('files__as_drawn');
  },
  I12: () => fails('accepted', 'upstream_bad_message'),
  async I13() {
    // The server splits every response so: one has more than ten `data` lines.
    expect(await given('read_file', { path: 'error.log' })).toBe(LOG);
  },
  I14: () => fails('partials', 'upstream_bad_message'),
  I15: () => fails('lost', 'upstream_no_response'),
  async I16() {
    expect((await stand.call('unknown')).detail).toBe('Tool not found (-32601)');
  },
  async I17() {
    await chatOf(one('particular'), read, { text: 'There.' });
    const [wrong, right] = await stand.told();
    expect(wrong).toContain('Missing path (-32602); correct the arguments and call again');
    expect(right).toBe(LOG);
  },
  async I18() {
    const missing = await stand.call('read_file', { path: 'gone' });
    expect(missing.detail).toBe('File not found (-32001)');
    const { content } = await stand.tell('read_file', { path: '' });
    expect(content).toContain('Access denied (-32002)');
  },
  async I19() {
    const { content, seconds } = await hanging;
    expect(content).toContain('upstream_timeout');
    expect(seconds).toBeGreaterThanOrEqual(29.9);
    expect(seconds).toBeLessThan(45);
  },
  I21() {
    const keys = stand.desktop.came.map(({ headers }) => [
      headers.authorization,
      headers['mcp-auth-token'],
    ]);
    expect(keys.length).toBeGreaterThan(4);
    expect(new Set(keys.map(String)).size).toBe(1);
  },
  async I22() {
    const { text } = await api('GET', '/secrets');
    const key = String(stand.desktop.came[0]?.headers['mcp-auth-token']);
    const servers = (await api('GET', '/aggregator/servers')).text;
    expect(text).toContain(SECRET);
    expect(text + servers).not.toContain(key);
    expect(servers).toContain('files');
  },
  async I23() {
    await given('list_directory');
    const [asked, first, ...rest] = stand.desktop.came;
    const methods = [asked, first].map(each => each?.message.method);
    expect(methods).toEqual(['server/discover', 'initialize']);
    const later = rest.filter(({ message: { method } }) => method !== 'initialize');
    const ids = later.map(({ headers }) => String(headers['mcp-session-id']));
    expect(ids.length).toBeGreaterThan(2);
    expect(ids.filter(id => !id.startsWith('ABC123-'))).toEqual([]);
  },
  async I24() {
    // The server of sales assigns no session, and works without one.
    expect(await given('sales.query_sales_data')).toContain('top 5');
    expect(sent('tools/list').some(({ headers }) => !headers['mcp-session-id'])).toBe(false);
  },
  async I25() {
    await given('list_directory');
    stand.desktop.forget();
    const before = sent('tools/call').length;
    expect(await given('read_file', { path: 'error.log' })).toBe(LOG);
    expect(sent('tools/call').length - before).toBe(2);
  },
  async I26() {
    const ids = new Set<unknown>();
    for (const client of await Promise.all([openLegacy(target()), openLegacy(target())])) {
      await client.call('files__list_directory');
      ids.add(last()?.headers['mcp-session-id']);
    }
    expect(ids.size).toBe(2);
    const [own, other] = await Promise.all([tokenOf('own'), tokenOf('other')]);
    const { text: pid } = await stand.call('start_process', { command: 'cat' }, own);
    const listed = async (token: string) => (await stand.call('list_processes', {}, token)).text;
    expect([await listed(own), await listed(other)]).toEqual([`[${pid}]`, '[]']);
  },
  async I27() {
    const { url, token } = target();
    const client = await openLegacy({ url, token });
    await client.call('files__start_process', { command: 'cat' });
    const id = String(last()?.headers['mcp-session-id']);
    const [pid] = stand.desktop.sessions.get(id)?.processes.keys() ?? [];
    expect(isAlive(Number(pid))).toBe(true);
    const headers = { authorization: `Bearer ${token}`, 'mcp-session-id': `${client.sessionId}` };
    await fetch(url, { method: 'DELETE', headers });
    const isOver = async () => !stand.desktop.sessions.has(id) || undefined;
    await until('the session has ended', SOON_MS, isOver);
    expect(stand.desktop.came.some(({ http }) => http === 'DELETE')).toBe(true);
    await until('its shell has ended', SOON_MS, async () => !isAlive(Number(pid)) || undefined);
  },
  async I28() {
    const chat = await chatOf(one('start_process', { command: 'sh' }), { text: 'Started.' });
    const pid = Number((await stand.told())[0]);
    const input = one('interact_process', { pid, input: 'ls\n' });
    const turns = [input, one('kill_process', { pid }), { text: 'Ended.' }];
    await stand.converse({ message: 'run ls' }, turns, chat.id);
    expect((await stand.told()).slice(1)).toEqual([expect.stringContaining('error.log'), 'killed']);
    await until('the shell has ended', SOON_MS, async () => !isAlive(pid) || undefined);
  },
};

it.each(WIRE_LINES.map(({ id, says }) => [id, says] as const))(
  '[LLM-2] [LLM-3] %s: %s',
  async id => {
    expect.hasAssertions();
    await shows[id]();
  },
);
