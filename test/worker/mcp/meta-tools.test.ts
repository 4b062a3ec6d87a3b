/** The endpoint with the three meta tools: what it lists and advertises, what selects it, and what it finds and describes. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  ask,
  createPortico,
  createToken,
  initialize,
  inSession,
  modern,
  registerConnected,
  type Portico,
  type RpcAnswer,
  type Sent,
} from '../support/portico.ts';

const THREE = ['search_tools', 'describe_tool', 'call_tool'];
const ERAS = ['legacy', 'modern'] as const;
type Era = (typeof ERAS)[number];

const schema = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map(name => [name, { type: 'string' }])),
  required: names,
});
const definition = {
  title: 'File an issue',
  description: 'Opens a new issue in a repository',
  inputSchema: schema('repository', 'title'),
  outputSchema: { type: 'object' },
  annotations: { destructiveHint: false },
};
const tracker = new FakeServer({
  tools: [
    toolOf('create_issue', { ...definition, icons: [{ src: 'https://x.invalid/a.png' }] }),
    toolOf('list_issues', {
      description: 'Lists the issues of a repository',
      annotations: { readOnlyHint: true },
    }),
    toolOf('search_tools', { description: 'Finds screwdrivers' }),
  ],
});
const kitchen = new FakeServer({
  tools: [
    toolOf('boil_egg', { description: 'Boils\u0000 an\u202E egg\u200B,\nthen\r\n\tpeels   it' }),
    toolOf('bake', { description: 'Bakes bread. '.repeat(100) }),
  ],
});
const portico = createPortico();
let guest: string;

async function rpc(
  era: Era,
  method: string,
  params: Record<string, unknown> = {},
  path = '/mcp?tools=search',
  sent: Sent = {},
  through: Portico = portico,
): Promise<{ status: number; text: string; answer: RpcAnswer }> {
  const { message, headers } = ask(era, method, params);
  const response = await through.post(message, { ...sent, headers }, path);
  const text = await response.text();
  return { status: response.status, text, answer: JSON.parse(text) as RpcAnswer };
}

const namesAt = async (path: string, sent: Sent = {}, through: Portico = portico) => {
  const { answer } = await rpc('legacy', 'tools/list', {}, path, sent, through);
  return answer.result?.tools?.map(({ name }) => name) ?? answer.error;
};

const use = async (era: Era, name: string, given: object, path?: string, sent?: Sent) =>
  (await rpc(era, 'tools/call', { name, arguments: given }, path, sent)).answer.result;
const textOf = (result: RpcAnswer['result']) => result?.content?.[0]?.text ?? '';
function found(result: RpcAnswer['result']): Record<string, unknown>[] {
  const structured = result?.['structuredContent'] as
    { tools: Record<string, unknown>[] } | undefined;
  return structured?.tools ?? [];
}

beforeAll(async () => {
  serve({ tracker, kitchen });
  await registerConnected(portico, 'tracker');
  await registerConnected(portico, 'kitchen');
  for (const [name, more] of [
    ['few', { tools: 'search' }],
    ['many', {}],
  ] as const) {
    await portico.api('POST', '/api/v1/toolsets', { name, include: ['tracker'], ...more });
  }
  guest = (await createToken(portico, { servers: ['kitchen'] })).token;
});

beforeEach(() => void serve({ tracker, kitchen }));

describe('the list of three', () => {
  it.each(ERAS)('[FIND-2] has the same bytes for everybody, in any case: %s', async era => {
    const list = (path: string, token?: string) =>
      rpc(era, 'tools/list', {}, path, token === undefined ? {} : { token });
    const { answer, text } = await list('/mcp?tools=search');
    expect(answer.result?.tools?.map(({ name }) => name)).toEqual(THREE);
    expect(answer.result?.tools).toMatchObject([
      { annotations: { readOnlyHint: true }, outputSchema: { required: ['tools'] } },
      { annotations: { readOnlyHint: true } },
      { inputSchema: { required: ['name'] } },
    ]);
    for (const [path, token] of [
      ['/mcp?tools=search', guest],
      ['/mcp?tools=search&names=underscore', undefined],
      ['/mcp/servers/kitchen?tools=search', guest],
      ['/mcp/toolsets/many?tools=search', undefined],
    ] as const) {
      expect((await list(path, token)).text).toBe(text);
    }
  });

  it('[FIND-2] [AG-US7-AC7] is selected by the URL, else by the toolset, else by the deployment', async () => {
    const searching = createPortico({ PORTICO_TOOLS: 'search' });
    const all = await namesAt('/mcp');
    expect(all).toHaveLength(5);
    expect(await namesAt('/mcp', {}, searching)).toEqual(THREE);
    expect(await namesAt('/mcp?tools=all', {}, searching)).toEqual(all);
    expect(await namesAt('/mcp/toolsets/few')).toEqual(THREE);
    expect(await namesAt('/mcp/toolsets/few?tools=all')).toHaveLength(3);
    expect(await namesAt('/mcp/toolsets/many')).toHaveLength(3);
    expect(await namesAt('/mcp/toolsets/many', {}, searching)).toEqual(THREE);
    const { status, answer } = await rpc('modern', 'tools/list', {}, '/mcp?tools=some');
    expect([status, answer.error?.message]).toEqual([
      400,
      'tools must be one of all, search, ask, chat',
    ]);
  });

  it('[FIND-2] [ACC-2] requires the scope of any list, and has one page', async () => {
    const { token } = await createToken(portico, { scopes: ['tools:call'] });
    const refused = await rpc('modern', 'tools/list', {}, '/mcp?tools=search', { token });
    expect([refused.status, refused.answer.error?.code]).toEqual([403, 4030]);
    const { answer } = await rpc('modern', 'tools/list', { cursor: 'eyJ9' });
    expect(answer.error).toMatchObject({ code: -32602 });
  });

  it('[FIND-2] [MCP-3] is advertised as one that never changes; the rest is as elsewhere', async () => {
    const capabilities = async (path: string) => {
      const { message, headers } = modern('server/discover');
      const discovered = await (await portico.post(message, { headers }, path)).json<RpcAnswer>();
      return discovered.result?.['capabilities'];
    };
    expect(await capabilities('/mcp?tools=search')).toMatchObject({ tools: {} });
    expect(await capabilities('/mcp?tools=search')).not.toHaveProperty('tools.listChanged');
    expect(await capabilities('/mcp')).toHaveProperty('tools.listChanged', true);
    const session = await initialize(portico, {}, '/mcp?tools=search');
    const { message } = ask('legacy', 'prompts/list');
    const sent = { headers: inSession(session) };
    const prompts = await portico.post(message, sent, '/mcp?tools=search');
    expect((await prompts.json<RpcAnswer>()).result).toEqual({ prompts: [] });
  });
});

describe('search_tools', () => {
  it.each(ERAS)('[FIND-2] finds by description, in short and stable answers: %s', async era => {
    const result = await use(era, 'search_tools', { query: 'open a new issue' });
    expect(found(result)[0]).toEqual({
      name: 'tracker.create_issue',
      signature: '(repository*: string, title*: string)',
      description: 'Opens a new issue in a repository',
      score: expect.any(Number),
      server: 'tracker',
    });
    const [first] = textOf(result).split('\n');
    expect(first).toBe(
      'tracker.create_issue(repository*: string, title*: string): Opens a new issue in a repository',
    );
    const [list] = textOf(await use(era, 'search_tools', { query: 'list issues' })).split('\n');
    expect(list).toMatch(/^tracker\.list_issues\(\) \[read-only\]: /);
    expect(result?.['resultType']).toBe(era === 'modern' ? 'complete' : undefined);
    expect(await use(era, 'search_tools', { query: 'open a new issue' })).toEqual(result);
  });

  it('[FIND-2] names tools as the endpoint does, and accepts filters', async () => {
    const query = 'list the issues';
    const namesOf = async (given: object, path?: string) =>
      found(await use('modern', 'search_tools', { query, ...given }, path)).map(({ name }) => name);
    expect((await namesOf({ limit: 1 }, '/mcp?tools=search&names=underscore'))[0]).toBe(
      'tracker__list_issues',
    );
    expect((await namesOf({ limit: 1 }, '/mcp/servers/tracker?tools=search'))[0]).toBe(
      'list_issues',
    );
    expect(await namesOf({ servers: ['kitchen'] })).not.toContain('tracker.list_issues');
    expect(await namesOf({ servers: ['nobody'] })).toEqual([]);
    const none = await use('modern', 'search_tools', { query, servers: ['nobody'] });
    expect(textOf(none).split('\n')).toEqual([
      'No tool fits; search with other or fewer words.',
      'No server here is called nobody; here are: kitchen, tracker.',
    ]);
  });

  it("[FIND-2] [SEC-8] keeps servers' text on one short, fully visible line", async () => {
    const result = await use('modern', 'search_tools', { query: 'boil an egg, bake bread' });
    const lines = textOf(result).split('\n');
    expect(lines).toHaveLength(found(result).length);
    const egg = found(result).find(({ name }) => name === 'kitchen.boil_egg');
    expect(egg?.['description']).toBe('Boils an egg, then peels it');
    const bread = found(result).find(({ name }) => name === 'kitchen.bake');
    expect(String(bread?.['description'])).toMatch(/^Bakes bread\. .{140,148}…$/);
  });

  it.each([
    [{}, 'give query, or queries with up to 5 of them, each a task in a few words'],
    [{ query: 1 }, 'query must be a string: say in a few words what the tool should do'],
    [{ queries: ['a', ''] }, 'queries.1 is empty; say in a few words what the tool should do'],
    [{ queries: [...'abcdef'] }, 'queries may have up to 5 queries'],
    [
      { query: 'f', queries: [...'abcde'] },
      'give query, or queries with up to 5 of them, each a task in a few words',
    ],
    [{ query: '  ' }, 'query is empty; say in a few words what the tool should do'],
    [{ query: 'x', limit: 51 }, 'limit must be an integer from 1 to 50'],
    [{ query: 'x', servers: 'a' }, 'servers must be a list of names of servers'],
    [
      { query: 'x', top: 3 },
      'does not know top; it takes query, queries, limit, servers and skill',
    ],
    [{ query: 'x'.repeat(1_001) }, 'query may have up to 1000 characters; say it in fewer words'],
  ])('[FIND-2] reports what is wrong with %j', async (given, said) => {
    const result = await use('modern', 'search_tools', given);
    expect(result).toMatchObject({ isError: true, _meta: { 'portico/reason': 'invalid_params' } });
    expect(textOf(result)).toBe(`portico: search_tools: ${said} (invalid_params).`);
  });

  it('[FIND-2] [ACC-2] is refused if the token may not list', async () => {
    const { token } = await createToken(portico, { scopes: ['tools:call'] });
    for (const [name, given] of [
      ['search_tools', { query: 'egg' }],
      ['describe_tool', { name: 'kitchen.bake' }],
    ] as const) {
      const params = { name, arguments: given };
      const { status } = await rpc('modern', 'tools/call', params, undefined, { token });
      expect([name, status]).toEqual([name, 403]);
    }
  });
});

describe('describe_tool', () => {
  it.each(ERAS)('[FIND-2] shows a tool as the full list does: %s', async era => {
    const result = await use(era, 'describe_tool', { name: 'tracker.create_issue' });
    const shown = { name: 'tracker.create_issue', ...definition };
    expect(result?.['structuredContent']).toEqual({ tools: [shown] });
    const { title: _title, outputSchema: _output, ...read } = shown;
    expect(JSON.parse(textOf(result))).toEqual(read);
    const both = { names: ['kitchen:bake', 'tracker__list_issues'] };
    expect(found(await use(era, 'describe_tool', both)).map(({ name }) => name)).toEqual([
      'kitchen.bake',
      'tracker.list_issues',
    ]);
  });

  it('[FIND-2] [ACC-3] reveals nothing hidden', async () => {
    const ofGuest = async (name: string) => {
      const params = { name: 'describe_tool', arguments: { name } };
      const { text } = await rpc('modern', 'tools/call', params, undefined, { token: guest });
      return text.replaceAll(name, 'NAME');
    };
    const unknown = await ofGuest('nobody.nothing');
    expect(unknown).toContain('Tool not found: NAME; find names with search_tools');
    expect(await ofGuest('tracker.create_issue')).toBe(unknown);
  });

  it.each([{}, { name: '' }, { name: 'a', names: ['b'] }, { names: [] }, { names: [1] }])(
    '[FIND-2] reports what is wrong with %j',
    async given => {
      expect(textOf(await use('legacy', 'describe_tool', given))).toBe(
        'portico: describe_tool: give name, or names with up to 5 of them, as search_tools gave them (invalid_params).',
      );
    },
  );
});
