/**
 * The report on an integration system: its servers, failures, security and formats, line by line (`test/source-documents/integration.ts`).
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { SERVICE_LINES, type ServiceLine } from '../../source-documents/integration.ts';
import { addServer } from '../support/chat-gateway.ts';
import { connectPrograms, fixtureProgram } from '../support/connected.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import {
  HEADERS,
  LOG,
  startIntegration,
  startSales,
  storeKey,
  type IntegrationStand,
} from '../support/integration-stand.ts';
import { openLegacy } from '../support/raw-client.ts';

const SOON_MS = 60_000;
const message = 'What is the content of the latest error log?';
const one = (name: string, given: Record<string, unknown> = {}) => ({
  calls: [{ name, arguments: given }],
});
const read = one('files__read_file', { path: 'error.log' });

let stand: IntegrationStand;
/** Another gateway with the same servers that limits a principal to five calls per minute. */
let other: Gateway;

beforeAll(async () => {
  [stand, other] = await Promise.all([
    startIntegration(),
    startGateway({ env: { PORTICO_RATE_LIMIT: '5' } }),
  ]);
  await other.register('sales', stand.sales.url);
}, 240_000);
afterAll(async () => {
  await other?.stop();
  await stand?.stop();
});

const api = (method: string, path: string, body?: object) =>
  stand.gateway.api(method, `/api/v1${path}`, body);
const given = async (tool: string, args: object = {}) => {
  const { status, text } = await stand.call(tool, args);
  expect([tool, status]).toEqual([tool, 200]);
  return text;
};
const definition = async (format: string, name: string) => {
  const { json } = await api('GET', `/tools?format=${format}`);
  const tools = json['tools'] as { functionDeclarations?: object[]; function?: object }[];
  const all = tools.flatMap(each => each.functionDeclarations ?? [each.function ?? each]);
  return all.find(each => 'name' in each && each.name === name);
};
const isIn = (path: string) => existsSync(join(stand.folder, path));
const textOf = (path: string) => readFileSync(join(stand.folder, path), 'utf8');
const idOf = async (name: string) => {
  const { json } = await api('GET', '/aggregator/servers');
  const servers = json['servers'] as { id: string; name: string }[];
  return servers.find(server => server.name === name)?.id;
};
/** Registers a server of sales that stops before it is used. */
async function addDead(name: string): Promise<void> {
  const dead = await startSales();
  await addServer(stand.chats, name, dead.url);
  await dead.close();
}
const PARAMETERS = {
  type: 'object',
  properties: { path: { type: 'string', description: 'The file path to read' } },
  required: ['path'],
};
const READ_FILE = {
  name: 'files__read_file',
  description: 'Read the contents of a text file from the server',
};

const shows: Record<ServiceLine, () => void | Promise<void>> = {
  async I29() {
    expect(await stand.seen()).toEqual(
      expect.arrayContaining(['files__read_file', 'sales__read_file', 'sales__query_sales_data']),
    );
  },
  async I30() {
    const before = stand.sales.calls();
    expect(await given('sales.read_file')).toContain('top 5');
    expect(await given('read_file', { path: 'error.log' })).toBe(LOG);
    expect(stand.sales.calls() - before).toBe(1);
  },
  async I31() {
    const jira = await startSales('create_issue');
    await addServer(stand.chats, 'jira', jira.url);
    expect(await stand.seen()).toContain('jira__create_issue');
    expect(await given('jira.create_issue')).toContain('top 5');
    expect((await api('DELETE', `/aggregator/servers/${await idOf('jira')}`)).status).toBe(204);
    expect(await stand.seen()).not.toContain('jira__create_issue');
    expect((await stand.call('jira.create_issue')).status).toBe(404);
    await jira.close();
  },
  async I32() {
    const begun = () =>
      stand.desktop.came.filter(({ message: { params } }) => params?.name === 'hang').length;
    const before = begun();
    let isSlow = true;
    const slow = stand.call('hang').finally(() => (isSlow = false));
    await until('the slow call runs', SOON_MS, async () => begun() > before || undefined);
    expect(await given('sales.query_sales_data')).toContain('top 5');
    expect(isSlow).toBe(true);
    expect((await slow).code).toBe('upstream_timeout');
  },
  async I33() {
    await addDead('gone');
    const turns = [one('gone__query_sales_data'), read, { text: 'It is unavailable.' }];
    const chat = await stand.converse({ message }, turns);
    expect(chat.calls.map(({ is_error: isError }) => isError)).toEqual([true, false]);
    const [down, there] = await stand.told();
    expect(down).toContain('gone: The server cannot be reached');
    expect(there).toBe(LOG);
  },
  async I34() {
    const answer = await stand.call('lost');
    expect(answer).toMatchObject({ status: 502, code: 'upstream_no_response', text: '' });
    expect((await stand.tell('lost')).content).not.toContain('half');
  },
  async I35() {
    expect(await stand.call('malformed')).toMatchObject({ status: 502, code: 'upstream_bad_json' });
    expect(await given('read_file', { path: 'error.log' })).toBe(LOG);
  },
  async I36() {
    await addDead('away');
    const both = { calls: [...read.calls, ...one('away__read_file').calls] };
    const answer = 'The disk is full; the sales are not to be had now.';
    const chat = await stand.converse({ message }, [both, { text: answer }]);
    expect(chat).toMatchObject({ stop_reason: 'answered', answer });
    expect(await stand.told()).toEqual([LOG, expect.stringContaining('cannot be reached')]);
  },
  async I37() {
    for (const path of ['/api/v1/tools', '/api/v1/tools/call', '/api/v1/chat', '/mcp']) {
      const answer = await fetch(`${stand.gateway.origin}${path}`, { method: 'POST', body: '{}' });
      expect([path, answer.status]).toEqual([path, 401]);
    }
  },
  async I38() {
    writeFileSync(join(stand.folder, 'precious.txt'), 'kept');
    const remove = one('files__delete_file', { path: 'precious.txt' });
    const turns = [remove, { text: 'Deleted.' }];
    const chat = await stand.converse({ message, approve: 'writes' }, turns);
    expect(chat).toMatchObject({ status: 'waiting', stop_reason: 'approval' });
    expect(isIn('precious.txt')).toBe(true);
    const decisions = [{ call_id: chat.pending?.[0]?.id, approve: true }];
    expect((await stand.chats.chat({ decisions }, chat.id)).answer).toBe('Deleted.');
    expect(isIn('precious.txt')).toBe(false);
  },
  async I39() {
    const body = { name: 'sales.query_sales_data' };
    const calls = Array.from({ length: 12 }, () => other.api('POST', '/api/v1/tools/call', body));
    const answers = await Promise.all(calls);
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThanOrEqual(6);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(5);
    expect(Number(limited[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
  },
  async I40() {
    const secret = String(stand.desktop.came[0]?.headers['mcp-auth-token']);
    writeFileSync(join(stand.folder, 'pay.txt'), `salary 4711, key ${secret}`);
    const { content } = await stand.tell('read_file', { path: 'pay.txt' });
    expect(content).toContain('salary 4711');
    expect(content).not.toContain(secret);
  },
  async I41() {
    const calls = Array.from({ length: 50 }, () => stand.call('read_file', { path: 'error.log' }));
    const texts = (await Promise.all(calls)).map(({ text }) => text);
    expect(texts).toEqual(Array.from({ length: 50 }, () => LOG));
  },
  async I42() {
    const rule = { server: 'files', tool: 'read_file', ttl_seconds: 600 };
    const { json, status } = await api('POST', '/cache/rules', rule);
    expect(status).toBe(201);
    const path = { path: 'pay.txt' };
    writeFileSync(join(stand.folder, 'pay.txt'), 'first');
    expect(await stand.call('read_file', path)).toMatchObject({ text: 'first', isHit: false });
    writeFileSync(join(stand.folder, 'pay.txt'), 'second');
    expect(await stand.call('read_file', path)).toMatchObject({ text: 'first', isHit: true });
    await api('DELETE', `/cache/rules/${String(json['id'])}`);
  },
  async I43() {
    const gateway = await startGateway({ env: { PORTICO_SESSION_IDLE_MS: '2000' } });
    const target = { url: `${gateway.origin}/mcp`, token: gateway.adminToken };
    const client = await openLegacy(target);
    expect((await client.request('ping')).status).toBe(200);
    // Each request restarts the idle time, so each check comes later than the one before.
    let status = 200;
    for (let wait = 3_000; status === 200 && wait < SOON_MS; wait *= 2) {
      await delay(wait);
      ({ status } = await client.request('ping'));
    }
    expect(status).toBe(404);
    await gateway.stop();
    const operations = readFileSync(
      new URL('../../../docs/operations.md', import.meta.url),
      'utf8',
    );
    expect(operations).toMatch(/`PORTICO_SESSION_IDLE_MS` +\| 1800000 /u);
  },
  async I44() {
    const names = await stand.seen();
    expect(names.some(name => name.startsWith('files__run_the_report'))).toBe(true);
    expect(names.filter(name => !/^[a-zA-Z0-9_-]{1,64}$/u.test(name))).toEqual([]);
    await addServer(stand.chats, 'Sales-EU', stand.sales.url);
    expect(await stand.seen()).toContain('Sales-EU__query_sales_data');
  },
  async I45() {
    const { description = '' } = (await definition('openai-chat', 'files__long')) as {
      description?: string;
    };
    expect(description.length).toBeGreaterThan(256);
    expect(description.length).toBeLessThanOrEqual(1_024);
  },
  async I46() {
    const { json } = await api('GET', '/tools?format=openai-chat');
    const tools = json['tools'] as object[];
    expect(tools).toContainEqual({
      type: 'function',
      function: { ...READ_FILE, parameters: PARAMETERS },
    });
  },
  async I47() {
    // Its server says only that it takes an object.
    expect(await definition('openai-chat', 'files__long')).toMatchObject({
      parameters: { type: 'object', properties: {} },
    });
  },
  async I48() {
    expect(await definition('anthropic', 'files__read_file')).toEqual({
      ...READ_FILE,
      input_schema: PARAMETERS,
    });
  },
  async I49() {
    const { json } = await api('GET', '/tools?format=gemini');
    expect(json['tools']).toHaveLength(1);
    expect(await definition('gemini', 'files__read_file')).toEqual({
      ...READ_FILE,
      parametersJsonSchema: PARAMETERS,
    });
  },
  async I50() {
    expect((await stand.tell('read_file', { path: 'error.log' })).content).toBe(LOG);
    expect((await stand.tell('read_file', { path: 'gone' })).content).toBe(
      'The tool failed: files: File not found (-32001) (upstream_4xx).',
    );
  },
  async I51() {
    await given('list_directory');
    expect(new Set(stand.desktop.came.map(({ url }) => url))).toEqual(new Set(['/mcp']));
  },
  async I52() {
    await given('list_directory');
    const posts = stand.desktop.came.filter(({ http }) => http === 'POST');
    for (const { headers } of posts) {
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      });
    }
  },
  async I53() {
    const record = join(stand.folder, 'child.ndjson');
    const programs = { local: fixtureProgram('document-child.ts', record) };
    const connected = await connectPrograms(stand.gateway, 'laptop', programs);
    expect(await given('local.read_file', { path: 'x' })).toBe('File contents here...');
    expect(textOf('child.ndjson')).toContain('"method":"tools/call"');
    await connected.end('SIGTERM');
  },
  async I91() {
    const own = new Set(stand.desktop.sessions.keys());
    const { desktop, gateway } = stand;
    await storeKey(other, desktop.origin);
    const headers = HEADERS;
    await other.register('files', `${desktop.origin}/mcp`, { headers });
    expect([...desktop.sessions.keys()].some(id => !own.has(id))).toBe(true);
    const body = { name: 'files.read_file', arguments: { path: 'error.log' } };
    const { json } = await gateway.api('POST', '/api/v1/tools/call', body);
    expect(json['content']).toEqual([{ type: 'text', text: LOG }]);
    const last = desktop.came.findLast(({ message: { method } }) => method === 'tools/call');
    expect(own).toContain(last?.headers['mcp-session-id']);
  },
};

it.each(SERVICE_LINES.map(({ id, says }) => [id, says] as const))(
  '[LLM-1] [LLM-2] %s: %s',
  async id => {
    expect.hasAssertions();
    await shows[id]();
  },
);
