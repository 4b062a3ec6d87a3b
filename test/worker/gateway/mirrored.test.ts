/** `Mcp-Param-*` headers through the Worker: written upstream, checked downstream, invalid tools left out. */
import { describe, expect, it, vi } from 'vitest';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  PATIENT,
  TRUSTED,
  ask,
  createPortico,
  modern,
  registerConnected,
  type Portico,
  type RpcAnswer,
  WHOLE,
} from '../support/portico.ts';

const inputSchema = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    at: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } } },
    plain: { type: 'string' },
  },
};
const tools = [
  toolOf('query', { inputSchema }),
  toolOf('free'),
  toolOf('bad', {
    inputSchema: { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } },
  }),
];

let made = 0;

/** A server with its own name, since storage outlives a test. */
async function createMirror(era: 'legacy' | 'modern') {
  made += 1;
  const own = `mirror-${made}`;
  const server = new FakeServer({ era, tools });
  serve({ [own]: server });
  const portico = createPortico();
  const record = await registerConnected(portico, own, TRUSTED);
  const call = (args: object, headers: Record<string, string>, name = 'query') => {
    const sent = modern('tools/call', { name: `${own}.${name}`, arguments: args });
    return portico.post(sent.message, { headers: { ...WHOLE, ...sent.headers, ...headers } });
  };
  const seen = () => {
    const { headers } = server.of('tools/call').at(-1) ?? {};
    return [...(headers ?? [])].filter(([name]) => name.startsWith('mcp-param-'));
  };
  return { server, portico, record, call, seen, own };
}

const errorOf = async (response: Response) => (await response.json<RpcAnswer>()).error;

describe('a tool with mirrored parameters', () => {
  it('[MCP-4] [UP-1] gets them from a modern client, the name rewritten with the body', async () => {
    const { server, call, seen } = await createMirror('modern');
    const headers = { 'mcp-param-region': 'us-west1', 'Mcp-Param-Zone': '=?base64?w6k=?=' };
    const response = await call({ region: 'us-west1', at: { zone: 'é' }, count: null }, headers);
    expect(response.status).toBe(200);
    expect(seen()).toEqual([
      ['mcp-param-region', 'us-west1'],
      ['mcp-param-zone', '=?base64?w6k=?='],
    ]);
    expect(server.of('tools/call').at(-1)?.headers.get('mcp-name')).toBe('query');
  });

  it('[MCP-4] [MCP-5] gets them for a legacy client and over REST, which send none', async () => {
    const { portico, seen, own } = await createMirror('modern');
    const args = '{"region":"a b","count":9007199254740993}';
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${own}.query","arguments":${args}}}`;
    await portico.post(body);
    const expected = [
      ['mcp-param-count', '9007199254740993'],
      ['mcp-param-region', 'a b'],
    ];
    expect(seen()).toEqual(expected);
    await portico.api('POST', '/api/v1/tools/call', {
      name: `${own}.query`,
      arguments: { count: 7 },
    });
    expect(seen()).toEqual([['mcp-param-count', '7']]);
  });

  it("[MCP-4] at a legacy server gets none, and the client's are still checked", async () => {
    const { call, seen } = await createMirror('legacy');
    expect((await call({ region: 'a' }, { 'mcp-param-region': 'a' })).status).toBe(200);
    expect(seen()).toEqual([]);
    expect((await call({ region: 'a' }, {})).status).toBe(400);
  });

  it.each([
    ['missing', { region: 'a' }, {}],
    ['different', { region: 'a' }, { 'mcp-param-region': 'b' }],
    ['malformed', { region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8?=' }],
    ['claimed for nothing', {}, { 'mcp-param-region': 'a' }],
    ['another number', { count: 42 }, { 'mcp-param-count': '41' }],
  ])(
    '[MCP-4] [SEC-4] is not called if a header is %s: 400 and -32020',
    async (_what, args, headers) => {
      const { server, call } = await createMirror('modern');
      const response = await call(args, headers as Record<string, string>);
      expect(response.status).toBe(400);
      expect(await errorOf(response)).toMatchObject({ code: -32020 });
      expect(server.of('tools/call')).toEqual([]);
    },
  );

  it('[MCP-4] compares integers as numbers and ignores undeclared headers', async () => {
    const { call, seen } = await createMirror('modern');
    const headers = { 'mcp-param-count': '42.0', 'mcp-param-other': 'x' };
    expect((await call({ count: 42 }, headers)).status).toBe(200);
    expect(seen()).toEqual([['mcp-param-count', '42']]);
    expect((await call({ region: 'a' }, { 'mcp-param-region': 'b' }, 'free')).status).toBe(200);
    expect(seen()).toEqual([]);
  });
});

it('[MCP-4] [REG-5] a server that refuses a header because its schema changed is discovered again', async () => {
  const { server, call, portico, own } = await createMirror('modern');
  const refusal = { code: -32020, message: 'Header mismatch' };
  server.call = ({ id }) => Response.json({ jsonrpc: '2.0', id, error: refusal }, { status: 400 });
  server.tools = [toolOf('query')];
  expect(await errorOf(await call({ region: 'a' }, { 'mcp-param-region': 'a' }))).toEqual(refusal);
  await portico.settle();
  await vi.waitFor(async () => expect(await namesListed(portico, own)).toEqual(['query']), PATIENT);
  expect(server.of('tools/call')).toHaveLength(1);
});

async function namesListed(portico: Portico, server: string) {
  const { message, headers } = ask('modern', 'tools/list');
  const response = await portico.post(message, { headers }, `/mcp/servers/${server}`);
  return (await response.json<RpcAnswer>()).result?.tools?.map(({ name }) => name);
}

describe('discovery', () => {
  it.each(['legacy', 'modern'] as const)(
    '[MCP-4] [REG-5] leaves out a tool with an invalid annotation of a %s server and reports that',
    async era => {
      const { portico, record, own } = await createMirror(era);
      expect(await namesListed(portico, own)).toEqual(['query', 'free']);
      expect(record).toMatchObject({ tool_count: 2, status: 'CONNECTED' });
      expect(record.last_error).toContain('1 invalid items were left out ("bad": x-mcp-header');
    },
  );
});
