/** The report on an integration system: how its tools are used, line by line (`test/source-documents/integration-use.ts`). */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { USE_LINES, type UseLine } from '../../source-documents/integration-use.ts';
import { openStream } from '../support/chat-gateway.ts';
import { LOG, startIntegration, type IntegrationStand } from '../support/integration-stand.ts';
import { listAllTools, openLegacy, textOf } from '../support/raw-client.ts';

const SOON_MS = 60_000;
const message = 'What were our top 5 products last month?';
const one = (name: string, given: Record<string, unknown> = {}) => ({
  calls: [{ name, arguments: given }],
});
const read = one('files__read_file', { path: 'error.log' });
const sales = one('sales__query_sales_data');

let stand: IntegrationStand;

beforeAll(async () => {
  stand = await startIntegration();
}, 240_000);
afterAll(() => stand?.stop());

const api = (method: string, path: string, body?: object) =>
  stand.gateway.api(method, `/api/v1${path}`, body);
const made = async (path: string, body: object) => {
  const { status, json } = await api('POST', path, body);
  expect([path, status]).toEqual([path, 201]);
  return String(json['id']);
};
const given = async (tool: string, args: object = {}) => {
  const { status, text } = await stand.call(tool, args);
  expect([tool, status]).toEqual([tool, 200]);
  return text;
};
const sent = () =>
  stand.desktop.came.filter(({ message: { method } }) => method === 'tools/call').at(-1)?.message;
const asked = async () =>
  (await stand.chats.requests()) as { messages: { role: string; content: string }[] }[];
const open = (path: string) =>
  openLegacy({ url: `${stand.gateway.origin}${path}`, token: stand.gateway.adminToken });
const shows: Record<UseLine, () => void | Promise<void>> = {
  async I77() {
    const before = stand.sales.calls();
    const chat = await stand.converse({ message }, [read, sales, { text: 'Pens, ink, paper.' }]);
    expect(chat).toMatchObject({ stop_reason: 'answered', answer: 'Pens, ink, paper.', steps: 3 });
    expect(await stand.told()).toEqual([LOG, 'top 5: pens, ink, paper']);
    expect(stand.sales.calls() - before).toBe(1);
  },
  async I78() {
    const outside = { path: '../../..' };
    expect((await stand.call('read_file', outside)).detail).toBe('Access denied (-32002)');
    expect(sent()?.params?.arguments).toEqual(outside);
  },
  async I79() {
    const subject = { kind: 'group', name: 'chatbots' };
    const rule = { effect: 'deny', subject, server: '*', tool: 'kill_*' };
    const id = await made('/access/rules', rule);
    const principal = await made('/principals', { name: 'chatbot', groups: ['chatbots'] });
    const { token } = await stand.gateway.createToken({ name: 'chatbot', principal });
    expect(await stand.seen(token)).not.toContain('files__kill_process');
    expect((await stand.call('kill_process', { pid: 1 }, token)).status).toBe(404);
    expect((await api('DELETE', `/access/rules/${id}`)).status).toBe(204);
    expect(await stand.seen(token)).toContain('files__kill_process');
  },
  async I80() {
    const call = (name: string, args: object) =>
      api('POST', '/tools/call', { name, arguments: args });
    const { json } = await call('files:read_file', { path: 'error.log' });
    expect(json['content']).toEqual([{ type: 'text', text: LOG }]);
    const alone = await call('query_sales_data', {});
    expect([alone.status, alone.json['code']]).toEqual([400, 'tool_name_unprefixed']);
  },
  async I81() {
    const renamed = { server: 'files', tool: 'read_file', name: 'show_file' };
    await made('/toolsets', { name: 'renamed', include: ['files.*'], overrides: [renamed] });
    const client = await open('/mcp/toolsets/renamed');
    const names = (await listAllTools(client)).map(({ name }) => name);
    expect(names).toContain('show_file');
    expect(names).not.toContain('files__read_file');
    expect(textOf(await client.call('show_file', { path: 'error.log' }))).toBe(LOG);
    expect(sent()?.params?.name).toBe('read_file');
  },
  async I82() {
    let right = 0;
    for (let round = 0; round < 10; round += 1) {
      const calls = Array.from({ length: 20 }, () =>
        stand.call('read_file', { path: 'error.log' }),
      );
      right += (await Promise.all(calls)).filter(({ text }) => text === LOG).length;
    }
    expect(right / 200).toBeGreaterThan(0.99);
  },
  async I83() {
    const { json } = await api('GET', '/tools?format=openai-chat');
    const tools = json['tools'] as { function: { name: string; parameters: object } }[];
    const listed = tools.find(({ function: { name } }) => name === 'files__place_order');
    const lines = { type: 'array', items: { type: 'object' } };
    const order = { type: 'object', properties: { lines }, required: ['lines'] };
    expect(listed?.function.parameters).toEqual({ type: 'object', properties: { order } });
    const args = { order: { lines: [{ product: 'ink', options: { colours: ['blue', null] } }] } };
    await stand.tell('place_order', args);
    expect(sent()?.params?.arguments).toEqual(args);
  },
  async I84() {
    const endless = Array.from({ length: 5 }, () => read);
    const chat = await stand.converse({ message, limits: { calls: 3 } }, endless);
    expect(chat.stop_reason).toBe('calls');
    expect(chat.calls.filter(({ is_error: isError }) => isError === false)).toHaveLength(3);
    const [first] = await asked();
    const system = first?.messages.find(({ role }) => role === 'system')?.content;
    expect(system).toContain('Call a tool only where it serves the user');
  },
  async I85() {
    const chat = await stand.converse({ message }, [{ text: 'Which month?' }]);
    await stand.chats.script({ turns: [one('files__hang'), { text: 'It takes long.' }] });
    const gone = new AbortController();
    const running = await openStream(
      stand.gateway,
      { message, stream: true },
      chat.id,
      gone.signal,
    );
    const other = await until('it runs', SOON_MS, async () => {
      const answer = await api('POST', `/chat/${chat.id}`, { message: 'March' });
      return answer.status === 409 ? answer : undefined;
    });
    expect(other.json['code']).toBe('conflict');
    gone.abort();
    await running.body?.cancel().catch(() => {});
  },
  async I86() {
    const client = await open('/mcp?tools=search');
    expect(await listAllTools(client)).toHaveLength(3);
    const found = await client.call('search_tools', { query: message });
    expect(textOf(found)).toContain('query_sales_data');
    expect(textOf(found)).not.toContain('kill_process');
  },
  async I87() {
    const functions = (await api('GET', '/tools?format=openai-chat')).json['tools'];
    expect(functions).toContainEqual(expect.objectContaining({ type: 'function' }));
    const call = { name: 'files__read_file', arguments: '{"path":"error.log"}' };
    const tool_calls = [{ id: 'c1', type: 'function', function: call }];
    const choice = {
      index: 0,
      message: { role: 'assistant', content: null, tool_calls },
      finish_reason: 'tool_calls',
    };
    const body = { format: 'openai-chat', response: { choices: [choice] } };
    const { json } = await api('POST', '/tools/execute', body);
    expect(json['messages']).toEqual([{ role: 'tool', tool_call_id: 'c1', content: LOG }]);
  },
  async I88() {
    await made('/ask/allowlist', { server: 'files', tool: 'read_file' });
    const args = { path: 'error.log' };
    const plan = { type: 'call_tool', server: 'files', tool: 'read_file', args };
    await stand.chats.script({ turns: [{ text: JSON.stringify(plan) }] });
    const { json } = await api('POST', '/ask', { request: 'Read error.log' });
    expect(JSON.stringify(json['result'])).toContain('E1042');
    const [request] = await asked();
    expect(request).not.toHaveProperty('tools');
    expect(JSON.stringify(request)).toContain('The file path to read');
  },
  async I90() {
    writeFileSync(join(stand.folder, 'edited'), 'one two three');
    await given('edit_block', { path: 'edited', old_text: 'two', new_text: '2' });
    expect(readFileSync(join(stand.folder, 'edited'), 'utf8')).toBe('one 2 three');
    expect(JSON.parse(await given('system_info'))).toEqual({ platform: process.platform });
  },
  async I92() {
    const url = 'http://mcp.example.com/mcp';
    const server = { name: 'plain', transport_type: 'HTTP', connection_config: { url } };
    const hook = { name: 'plain', url: 'http://hooks.example.com/', events: ['server.down'] };
    const answers = [
      await api('POST', '/aggregator/servers', server),
      await api('POST', '/webhooks', hook),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 422]);
    for (const { json } of answers) expect(JSON.stringify(json)).toContain('use https');
  },
};

it.each(USE_LINES.map(({ id, says }) => [id, says] as const))(
  '[LLM-1] [LLM-3] [FIND-2] %s: %s',
  async id => {
    expect.hasAssertions();
    await shows[id]();
  },
);
