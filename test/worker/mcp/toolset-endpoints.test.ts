/** The endpoint of a toolset: its selection, its names, and its members; and the styles of names. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  ask,
  createPortico,
  createToken,
  initialize,
  inSession,
  legacy,
  registerConnected,
  type Portico,
  type RpcAnswer,
  type Sent,
} from '../support/portico.ts';

const portico = createPortico();
const view = { ui: { resourceUri: 'ui://list' }, 'openai/outputTemplate': 'ui://list' };
const shownView = {
  ui: { resourceUri: 'ui://tracker/list' },
  'openai/outputTemplate': 'ui://tracker/list',
};
const tracker = new FakeServer({
  tools: [toolOf('list', { _meta: view }), toolOf('create'), toolOf('drop')],
});
const wiki = new FakeServer({ tools: ['list', 'edit'].map(name => toolOf(name)) });
let member: string;
let stranger: string;

async function create(path: string, body: object): Promise<Record<string, string>> {
  const response = await portico.api('POST', path, body);
  expect([path, response.status]).toEqual([path, 201]);
  return response.json();
}

async function names(path: string, sent: Sent = {}, through: Portico = portico): Promise<string[]> {
  const answer = await through.post(legacy('tools/list'), sent, path);
  const { result } = await answer.json<RpcAnswer>();
  return result?.tools?.map(({ name }) => name) ?? [`${answer.status}`];
}

beforeAll(async () => {
  serve({ tracker, wiki });
  await registerConnected(portico, 'tracker');
  await registerConnected(portico, 'wiki');
  await create('/api/v1/toolsets', {
    name: 'desk',
    include: ['tracker', '*.list'],
    exclude: ['tracker.drop'],
    overrides: [
      { server: 'tracker', tool: 'create', name: 'file-issue', description: 'Files an issue' },
      { server: 'wiki', tool: 'edit', name: 'never-shown' },
    ],
    name_style: 'colon',
  });
  const { id } = await create('/api/v1/principals', { name: 'ada', groups: ['desk'] });
  await create('/api/v1/toolsets', {
    name: 'private',
    include: ['wiki'],
    members: { groups: ['desk'] },
  });
  member = (await createToken(portico, { principal: id })).token;
  stranger = (await createToken(portico)).token;
});

beforeEach(() => void serve({ tracker, wiki }));

describe('a toolset', () => {
  it('[ACC-4] [MCP-3] lists what it selects, under its names and descriptions', async () => {
    const answer = await portico.post(legacy('tools/list'), {}, '/mcp/toolsets/desk');
    const { result } = await answer.json<RpcAnswer>();
    expect(result?.tools).toMatchObject([
      { name: 'tracker:list' },
      { name: 'file-issue', description: 'Files an issue' },
      { name: 'wiki:list' },
    ]);
  });

  it("[ACC-4] [MCP-3] links a tool to its server's view, also under the server's own name for it", async () => {
    await create('/api/v1/toolsets', {
      name: 'plain',
      include: ['tracker.list'],
      overrides: [{ server: 'tracker', tool: 'list', name: 'list' }],
    });
    for (const path of ['/mcp/toolsets/plain', '/mcp/toolsets/desk']) {
      const answer = await portico.post(legacy('tools/list'), {}, path);
      const { result } = await answer.json<RpcAnswer>();
      expect(result?.tools?.[0]).toMatchObject({ _meta: shownView });
    }
  });

  it.each(['legacy', 'modern'] as const)(
    '[ACC-4] [MCP-9] calls what it lists and nothing else: %s',
    async era => {
      const call = async (name: string) => {
        const { message, headers } = ask(era, 'tools/call', { name, arguments: {} });
        const answer = await portico.post(message, { headers }, '/mcp/toolsets/desk');
        const { result, error } = await answer.json<RpcAnswer>();
        return result ? 'called' : error?.message.replace(name, 'NAME');
      };
      const before = tracker.of('tools/call').length;
      expect(await call('file-issue')).toBe('called');
      expect(tracker.of('tools/call').at(-1)?.params['name']).toBe('create');
      expect(await call('tracker:list')).toBe('called');
      expect(tracker.of('tools/call')).toHaveLength(before + 2);
      expect(await call('tracker.drop')).toBe('Tool not found: NAME');
      expect(await call('wiki.edit')).toBe('Tool not found: NAME');
      expect(await call('never-shown')).toContain('must be prefixed');
      expect(tracker.of('tools/call')).toHaveLength(before + 2);
    },
  );

  it('[ACC-4] [MCP-8] takes the style of names from the URL, else its own, else the deployment’s', async () => {
    expect(await names('/mcp/toolsets/desk?names=dot')).toEqual([
      'tracker.list',
      'file-issue',
      'wiki.list',
    ]);
    const underscored = createPortico({ PORTICO_NAME_STYLE: 'underscore' });
    expect(await names('/mcp/toolsets/desk', {}, underscored)).toContain('tracker:list');
    expect(await names('/mcp/toolsets/private', {}, underscored)).toEqual([
      'wiki__list',
      'wiki__edit',
    ]);
    expect(await names('/mcp', {}, underscored)).toContain('tracker__drop');
    expect(await names('/mcp?names=dot', {}, underscored)).toContain('tracker.drop');
  });

  it('[ACC-4] [ACC-3] exists for its members, and looks unknown to others', async () => {
    expect(await names('/mcp/toolsets/private', { token: member })).toEqual([
      'wiki.list',
      'wiki.edit',
    ]);
    for (const path of ['/mcp/toolsets/NAME', '/sse/toolsets/NAME']) {
      const answerOf = async (name: string) => {
        const method = path.startsWith('/sse') ? 'GET' : 'POST';
        const init = { method, headers: { authorization: `Bearer ${stranger}` } };
        const answer = await portico.fetch(path.replace('NAME', name), {
          ...init,
          ...(method === 'POST' ? { body: JSON.stringify(legacy('tools/list')) } : {}),
        });
        return [answer.status, (await answer.text()).replaceAll(name, 'NAME')];
      };
      expect(await answerOf('private')).toEqual(await answerOf('nothing'));
      expect((await answerOf('private'))[0]).toBe(404);
    }
  });

  it('[ACC-4] [MCP-10] has sessions of its own', async () => {
    const session = await initialize(portico, {}, '/mcp/toolsets/desk');
    const headers = inSession(session);
    expect(await names('/mcp/toolsets/desk', { headers })).toHaveLength(3);
    expect(await names('/mcp', { headers })).toEqual(['404']);
  });

  it('[ACC-4] [ACC-1] that a token is limited to restricts it on every endpoint', async () => {
    const { token } = await createToken(portico, { toolsets: ['desk'] });
    expect(await names('/mcp', { token })).toEqual(['tracker.list', 'tracker.create', 'wiki.list']);
    expect(await names('/mcp/servers/wiki', { token })).toEqual(['list']);
    expect(await names('/mcp/toolsets/desk', { token })).toContain('file-issue');
    expect(await names('/mcp/toolsets/private', { token })).toEqual(['404']);
  });
});

describe('default access closed', () => {
  it('[ACC-3] shows members what rules allow, and administrators everything', async () => {
    const closed = createPortico({ PORTICO_POSTURE: 'closed' });
    expect(await names('/mcp', { token: member }, closed)).toEqual([]);
    expect(await names('/mcp', {}, closed)).toHaveLength(5);
    const subject = { kind: 'group', name: 'desk' };
    const rule = { effect: 'allow', subject, server: 'wiki', tool: 'l*' };
    const { id } = await create('/api/v1/access/rules', rule);
    const later = createPortico({ PORTICO_POSTURE: 'closed' });
    expect(await names('/mcp', { token: member }, later)).toEqual(['wiki.list']);
    expect(await names('/mcp/servers/tracker', { token: member }, later)).toEqual(['404']);
    expect((await portico.api('DELETE', `/api/v1/access/rules/${id}`)).status).toBe(204);
  });
});

describe('GET /api/v1/tools?toolset=', () => {
  const get = async (query: string, sent: Sent = {}) => {
    const response = await portico.api('GET', `/api/v1/tools?${query}`, undefined, sent);
    const body = await response.json<{ names?: object; total?: number; code?: string }>();
    return { status: response.status, ...body };
  };

  it('[ACC-6] [LLM-1] has the tools that it selects, by their own names, in each format', async () => {
    const exported = await get('toolset=desk&format=openai-chat');
    const own = ['tracker__create', 'tracker__list', 'wiki__list'];
    expect(Object.values(exported.names ?? {}).toSorted()).toEqual(own);
    expect(await get('toolset=desk')).toMatchObject({ total: 3 });
    expect(await get('toolset=desk&server=wiki')).toMatchObject({ total: 1 });
  });

  it('[ACC-6] of other people looks unknown, byte for byte', async () => {
    expect(await get('toolset=private', { token: member })).toMatchObject({ total: 2 });
    const hidden = await get('toolset=private', { token: stranger });
    expect(hidden).toMatchObject({ status: 422, code: 'validation_failed' });
    expect(await get('toolset=nowhere', { token: stranger })).toEqual(hidden);
  });
});
