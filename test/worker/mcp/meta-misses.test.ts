/** What the three meta tools suggest when nothing matches: only servers, tools and skills that the caller sees. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  ask,
  createPortico,
  createToken,
  legacy,
  modern,
  registerConnected,
  type RpcAnswer,
  type Sent,
} from '../support/portico.ts';

const schema = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map(name => [name, { type: 'string' }])),
  required: names,
});
const tracker = new FakeServer({
  tools: [
    toolOf('create_issue', {
      description: 'Opens a new issue in a repository',
      inputSchema: schema('repository', 'title'),
    }),
    toolOf('list_issues', { description: 'Lists the issues of a repository' }),
  ],
});
const kitchen = new FakeServer({
  tools: [
    toolOf('boil_egg', { description: 'Boils an egg' }),
    toolOf('bake', { description: 'Bakes bread' }),
  ],
});
const portico = createPortico();
let guest: string;

async function use(era: 'legacy' | 'modern', name: string, given: object, sent: Sent = {}) {
  const { message, headers } = ask(era, 'tools/call', { name, arguments: given });
  const response = await portico.post(message, { ...sent, headers }, '/mcp?tools=search');
  return (await response.json<RpcAnswer>()).result;
}
const textOf = (result: RpcAnswer['result']) => result?.content?.[0]?.text ?? '';

beforeAll(async () => {
  serve({ tracker, kitchen });
  await registerConnected(portico, 'tracker');
  await registerConnected(portico, 'kitchen');
  guest = (await createToken(portico, { servers: ['kitchen'] })).token;
});

beforeEach(() => void serve({ tracker, kitchen }));

describe('a search', () => {
  it('[FIND-2] answers several queries at once, and names those that match nothing', async () => {
    const given = { queries: ['boil an egg', 'open an issue', 'bake a zeppelin'], limit: 1 };
    const result = await use('modern', 'search_tools', given);
    expect(textOf(result).split('\n')).toEqual([
      '# boil an egg',
      expect.stringMatching(/^kitchen\.boil_egg\(/),
      '# open an issue',
      expect.stringMatching(/^tracker\.create_issue\(/),
      '# bake a zeppelin',
      expect.stringMatching(/^kitchen\.bake\(/),
      'No tool here has: zeppelin.',
    ]);
    expect(result?.['structuredContent']).toMatchObject({
      tools: [{}, {}, {}],
      queries: [{}, {}, {}],
    });
  });

  it('[FIND-2] [ACC-3] suggests the nearest visible servers and words', async () => {
    const searched = async (given: object, sent: Sent = {}) =>
      textOf(await use('modern', 'search_tools', { query: 'repository', ...given }, sent));
    const note = 'No server here is called trakcer';
    expect(await searched({ servers: ['trakcer'] })).toContain(`${note}; nearest: tracker.`);
    const ofGuest = await searched({ servers: ['trakcer'] }, { token: guest });
    expect(ofGuest).toContain(`${note}; here are: kitchen.`);
    expect(await searched({ servers: ['tracker'] }, { token: guest })).toBe(
      ofGuest.replace('trakcer', 'tracker'),
    );
    expect(await searched({})).not.toContain('No tool here has');
    expect(await searched({ servers: [] })).toBe(await searched({}));
    expect(await searched({}, { token: guest })).toContain('No tool here has: repository.');
  });

  it('[FIND-2] [FIND-3] lists the skills if the requested one does not exist', async () => {
    const given = { query: 'egg', skill: 'No Such Skill' };
    const text = textOf(await use('modern', 'search_tools', given));
    expect(text).toContain('No tool here has the skill No Such Skill');
  });
});

describe('an unknown name', () => {
  it('[FIND-2] [ACC-3] gets the nearest visible tools as suggestions', async () => {
    const said = async (name: string, token?: string) =>
      textOf(await use('modern', 'describe_tool', { name }, token ? { token } : {}));
    for (const name of ['tracker.craete_issue', 'create_issue', 'github.createIssue']) {
      expect(await said(name)).toContain('nearest: tracker.create_issue; find names');
      expect(await said(name, guest)).not.toContain('tracker.create_issue');
    }
    expect(await said('kitchen.boil_eg', guest)).toContain('nearest: kitchen.boil_egg;');
  });
});

describe('the instructions of an endpoint with the three meta tools', () => {
  const instructionsOf = async (path: string, sent: Sent = {}) => {
    const { message, headers } = modern('server/discover');
    const answer = await (
      await portico.post(message, { ...sent, headers }, path)
    ).json<RpcAnswer>();
    return answer.result?.['instructions'];
  };

  it('[FIND-2] [ACC-3] explain their use, and list the servers that the caller may use', async () => {
    const all = String(await instructionsOf('/mcp?tools=search'));
    expect(all).toMatch(/^The tools here are found by search: .*\n\nServers here:\n/);
    expect(all.split('\n').slice(3)).toEqual(['- kitchen', '- tracker']);
    const ofGuest = String(await instructionsOf('/mcp?tools=search', { token: guest }));
    expect(ofGuest.split('\n').slice(3)).toEqual(['- kitchen']);
    const { token } = await createToken(portico, { scopes: ['tools:call'] });
    expect(await instructionsOf('/mcp?tools=search', { token })).toBeUndefined();
    expect(await instructionsOf('/mcp')).toBeUndefined();
    expect(await instructionsOf('/mcp?tools=ask')).toBeUndefined();
  });

  it('[FIND-2] [MCP-3] are sent by initialize too', async () => {
    const message = legacy('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    const answer = await (await portico.post(message, {}, '/mcp?tools=search')).json<RpcAnswer>();
    expect(answer.result?.['instructions']).toBe(await instructionsOf('/mcp?tools=search'));
  });
});
