/** The protocol of a stdio aggregator, line by line (`test/source-documents/protocol.ts`): its requests and responses to the letter. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PROTOCOL, type ProtocolLine } from '../../source-documents/protocol.ts';
import { until } from '../../fixtures/start-fixture.ts';
import { fixtureProgram, packageProgram } from '../support/connected.ts';
import { startUpHost, type UpHost } from '../support/up-host.ts';

const WAIT_MS = 60_000;
const FILE = { path: '/folder/document.txt' };
const CONTENTS = { content: [{ type: 'text', text: 'File contents here...' }] };

let host: UpHost;
let tools: { name: string; description?: string; inputSchema?: object }[];

const child = (folder: string) => fixtureProgram('document-child.ts', join(folder, 'child.ndjson'));
const configOf = (folder: string) => ({
  mcpServers: {
    filesystem: child(folder),
    postgres: child(folder),
    'fs-home': packageProgram('@modelcontextprotocol/server-filesystem/dist/index.js', folder),
    'fs-work': packageProgram('@modelcontextprotocol/server-filesystem/dist/index.js', folder),
    'my-server_v2': packageProgram(
      '@modelcontextprotocol/server-everything/dist/index.js',
      'stdio',
    ),
  },
});

beforeAll(async () => {
  const capabilities = { sampling: {} };
  host = await startUpHost(configOf, { capabilities, words: ['--names', 'colon'] });
  tools = await host.offers('filesystem:read_file', 'postgres:query', 'my-server_v2:echo');
  await host.offers('fs-home:read_file', 'fs-work:read_file');
}, 180_000);
afterAll(async () => {
  await host?.end();
});

const call = (name: string, given?: object) =>
  host.ask('tools/call', { name, ...(given ? { arguments: given } : {}) });
const toolOf = (name: string) => tools.find(tool => tool.name === name);
/** Returns what the children received, as it arrived. */
const sentToChildren = () =>
  readFileSync(join(host.folder, 'child.ndjson'), 'utf8').trim().split('\n');

const shows: Record<ProtocolLine, () => void | Promise<void>> = {
  P1: () => expect(host.initialized).toMatchObject({ jsonrpc: '2.0', id: 1, result: {} }),
  P2: () =>
    expect(host.initialized.result?.['capabilities']).toEqual({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
    }),
  P3: () => expect(host.initialized.result?.['protocolVersion']).toBe('2024-11-05'),
  P4: () => expect(host.initialized.result?.['serverInfo']).toMatchObject({ name: 'portico' }),
  P5: () =>
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['filesystem:read_file', 'postgres:query']),
    ),
  P6: () => {
    expect(toolOf('filesystem:read_file')).toMatchObject({
      description: 'Read contents of a file',
      inputSchema: {
        type: 'object',
        properties: { path: { type: 'string' } },
        required: ['path'],
      },
    });
    expect(toolOf('postgres:query')).toMatchObject({ description: 'Execute SQL query' });
  },
  async P7() {
    await call('filesystem:read_file', FILE);
    const [sent] = sentToChildren().filter(line => line.includes(FILE.path));
    expect(sent).toContain('"method":"tools/call"');
    expect(sent).toContain('"name":"read_file"');
    expect(sent).toContain('"arguments":{"path":"/folder/document.txt"}');
  },
  async P8() {
    expect((await call('filesystem:read_file', FILE)).result).toEqual(CONTENTS);
  },
  async P9() {
    for (const name of ['invalid:tool_name', 'filesystem:tool_name']) {
      const error = { code: -32601, message: `Tool not found: ${name}` };
      expect((await call(name)).error).toEqual(error);
    }
  },
  async P10() {
    const message = 'Tool name must be prefixed with server key: tool_name';
    expect((await call('tool_name')).error).toEqual({ code: -32602, message });
  },
  async P11() {
    expect((await call('filesystem:read_file', { path: '/invalid/path.txt' })).error).toEqual({
      code: -32603,
      message: 'File not found: /invalid/path.txt',
      data: { errno: -2, code: 'ENOENT' },
    });
  },
  async P12() {
    for (const server of ['fs-home', 'fs-work']) {
      const { result } = await call(`${server}:list_directory`, { path: host.folder });
      expect(JSON.stringify(result)).toContain('[FILE] mcp.json');
    }
  },
  async P13() {
    const { result } = await call('my-server_v2:echo', { message: 'kept' });
    expect(JSON.stringify(result)).toContain('kept');
  },
  async P14() {
    expect((await call('filesystem:odd:name')).result).toEqual(CONTENTS);
    expect(sentToChildren().at(-1)).toContain('"name":"odd:name"');
  },
  P15() {
    expect(host.lines.length).toBeGreaterThan(2);
    const messages = host.lines.map(line => JSON.parse(line) as { jsonrpc: string });
    expect(messages.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
  },
  async P16() {
    const { result } = await call('my-server_v2:get-tiny-image');
    const content = result?.['content'] as { type: string; data?: string }[];
    const image = Buffer.from(content.find(({ type }) => type === 'image')?.data ?? '', 'base64');
    expect(image.subarray(1, 4).toString()).toBe('PNG');
  },
  async P17() {
    expect((await host.ask('aggregator/servers')).error?.code).toBe(-32601);
  },
  async P18() {
    const { result } = await host.ask('resources/list');
    const [first] = (result?.['resources'] ?? []) as { uri: string }[];
    const read = await host.ask('resources/read', { uri: first?.uri });
    expect(read.result?.['contents']).toMatchObject([{ uri: first?.uri }]);
  },
  async P19() {
    const { result } = await host.ask('prompts/list');
    const [first] = (result?.['prompts'] ?? []) as { name: string }[];
    expect(first?.name).toBe('my-server_v2:simple-prompt');
    const got = await host.ask('prompts/get', { name: first?.name });
    expect(got.result?.['messages']).toHaveLength(1);
  },
  async P20() {
    const answered = call('my-server_v2:trigger-sampling-request', { prompt: 'say hello' });
    const question = await host.message(({ method }) => method === 'sampling/createMessage');
    const content = { type: 'text', text: 'hello from the host' };
    host.answer(question.id, { role: 'assistant', content, model: 'none' });
    expect(JSON.stringify((await answered).result)).toContain('hello from the host');
  },
  async P21() {
    const { mcpServers } = configOf(host.folder);
    const more = child(host.folder);
    await host.configure({ mcpServers: { ...mcpServers, late: more } });
    await host.message(({ method }) => method === 'notifications/tools/list_changed');
    const listed = await until('the new tools', WAIT_MS, () => host.offers('late:query'));
    expect(listed.length).toBe(tools.length + 3);
  },
  P22() {
    const [sent] = sentToChildren().filter(line => line.includes('"method":"initialize"'));
    const { params } = JSON.parse(sent ?? '{}') as { params?: object };
    const sampling = expect.any(Object) as object;
    expect(params).toMatchObject({ clientInfo: { name: 'portico' }, capabilities: { sampling } });
  },
  async P23() {
    expect((await call('query')).error).toEqual({
      code: -32602,
      message: 'Tool name must be prefixed with server key: query',
    });
  },
  P24() {
    expect(tools.length).toBeGreaterThan(20);
    expect(tools.filter(({ inputSchema }) => typeof inputSchema !== 'object')).toEqual([]);
    const types = tools.map(({ inputSchema }) => (inputSchema as { type?: string }).type);
    expect(new Set(types)).toEqual(new Set(['object']));
    // Its child lists it without a schema.
    expect(toolOf('filesystem:formless')).toBeUndefined();
  },
  async P25() {
    host.send('{"jsonrpc":"2.0","id":', '{"jsonrpc":"2.0","id":"x1"}');
    const isTold =
      (code: number) =>
      ({ error }: { error?: { code: number } }) =>
        error?.code === code;
    expect(await host.message(isTold(-32700))).toMatchObject({ id: null });
    expect(await host.message(isTold(-32600))).toMatchObject({ id: 'x1' });
    expect((await host.ask('no/such/method')).error?.code).toBe(-32601);
  },
  async P26() {
    const { servers } = await host.api<{ servers: { name: string; transport_type: string }[] }>(
      '/aggregator/servers',
    );
    const names = Object.keys(configOf(host.folder).mcpServers);
    expect(servers.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    expect(new Set(servers.map(each => each.transport_type))).toEqual(new Set(['STDIO']));
    // Its second argument told it what to record, and where.
    expect(sentToChildren().length).toBeGreaterThan(2);
  },
  P27() {
    // One file holds what the children of both keys received.
    const heard = sentToChildren().map(line => JSON.parse(line) as { id?: number; method: string });
    const methods = heard.map(({ method }) => method);
    const at = (method: string) => methods.indexOf(method);
    expect(at('initialize')).toBeLessThan(at('notifications/initialized'));
    expect(at('notifications/initialized')).toBeLessThan(at('tools/list'));
    for (const { id, method } of heard) {
      expect([method, id !== undefined]).toEqual([method, !method.startsWith('notifications/')]);
    }
  },
};

it.each(PROTOCOL.lines.map(({ id, says }) => [id as ProtocolLine, says] as const))(
  '[CLI-3] %s: %s',
  async id => {
    expect.hasAssertions();
    await shows[id]();
  },
);
