/**
 * The same six people and two hundred tools at the entry points that find tools: the search over REST, and the three tools. A tool that a
 * person may not use is in no result, count or score, and asking for it gives the same answer as asking for an unknown tool.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { open, resultOf, textOf } from '../support/raw-client.ts';
import type { Answer, Era, RawClient } from '../support/raw-client.ts';
import { SERVERS, startTeam, TOOL_NAMES } from '../support/team.ts';
import type { Person, Team } from '../support/team.ts';
import { forEachTool, NOBODYS, seen } from '../support/team-sources.ts';
import { CASES, letTeamIn, type PersonOf } from '../support/ways-in.ts';

const eras: Era[] = ['legacy', 'modern'];
const QUERIES = ['read', 'write 07', 'edition 1', 'alpha read_03', 'beta write edition'];
const MOST = 50;
const SOON_MS = 60_000;

let team: Team;
let personOf: PersonOf;
beforeAll(async () => {
  team = await startTeam();
  personOf = await letTeamIn(team);
});
afterAll(() => team?.stop());

const connect = ({ token }: Person, era: Era, path = '/mcp?tools=search'): Promise<RawClient> =>
  open(era, { url: `${team.gateway.origin}${path}`, token });
const allowed = (person: Person) =>
  SERVERS.flatMap(server =>
    TOOL_NAMES.filter(tool => person.mayUse(server, tool)).map(tool => `${server}.${tool}`),
  );
const search = ({ token }: Person, query: string, more: object = {}) =>
  team.gateway.api('POST', '/api/v1/search', { query, limit: MOST, ...more }, token);
const namesIn = (value: unknown) =>
  ((value as { tools?: { name: string }[] } | undefined)?.tools ?? []).map(({ name }) => name);

interface Sorted {
  name: string;
  skill_ids: string[];
  is_classified: boolean;
}
const read = async (path: string, token?: string) =>
  (await team.gateway.api('GET', path, undefined, token)).json;
const listSorted = async (path: string, token?: string) =>
  ((await read(path, token))['servers'] as { tools: Sorted[] }[]).flatMap(({ tools }) => tools);
const sortedNames = (tools: readonly Sorted[]) => tools.map(({ name }) => name).toSorted();

describe.each(CASES)('skills for $name by $way', { timeout: 300_000 }, ({ name, way }) => {
  it('[ACC-3] [FIND-3] count and list only tools that the caller may use', async () => {
    const { token } = personOf(name, way);
    await until('all tools are sorted', SOON_MS, async () => {
      const tools = await listSorted('/api/v1/tools');
      return tools.length > 0 && tools.every(tool => tool.is_classified) ? true : undefined;
    });
    const mine = await listSorted('/api/v1/tools', token);
    expect(sortedNames(mine)).toEqual(allowed(personOf(name, way)).toSorted());
    const { skills } = (await read('/api/v1/skills', token)) as unknown as {
      skills: { id: string; tool_count: number }[];
    };
    expect(skills.length).toBeGreaterThan(10);
    const isIn = (id: string) => mine.filter(tool => tool.skill_ids.includes(id));
    expect(skills.map(({ id, tool_count }) => [id, tool_count])).toEqual(
      skills.map(({ id }) => [id, isIn(id).length]),
    );
    for (const { id } of skills) {
      const found = await listSorted(`/api/v1/tools?skill=${id}`, token);
      expect([id, sortedNames(found)]).toEqual([id, sortedNames(isIn(id))]);
    }
  });
});

describe.each(CASES)('$name by $way', { timeout: 300_000 }, ({ name, way }) => {
  it('[ACC-3] [FIND-1] finds and counts over REST only tools that the caller may use', async () => {
    const person = personOf(name, way);
    const mine = allowed(person);
    const servers = SERVERS.filter(server => mine.some(tool => tool.startsWith(`${server}.`)));
    for (const query of QUERIES) {
      const { status, json } = await search(person, query);
      expect(status).toBe(200);
      expect(namesIn(json).filter(tool => !mine.includes(tool))).toEqual([]);
      expect(json['metadata']).toEqual({
        servers_searched: servers.length,
        total_tools_searched: mine.length,
      });
    }
    for (const server of SERVERS) {
      const own = mine.filter(tool => tool.startsWith(`${server}.`));
      const byName = await search(person, 'read', { server_filter: [server] });
      const byId = await search(person, 'read', { server_filter: [team.serverIds[server]] });
      expect(byId.text).toBe(byName.text);
      expect(namesIn(byName.json).filter(tool => !own.includes(tool))).toEqual([]);
      const nowhere = await search(person, 'read', { server_filter: ['gamma'] });
      expect(own.length === 0 ? byName.text : nowhere.text).toBe(nowhere.text);
    }
  });

  it.each(eras)('[ACC-3] [FIND-2] finds only usable tools with search_tools: %s', async era => {
    const person = personOf(name, way);
    const mine = allowed(person);
    const client = await connect(person, era);
    for (const query of QUERIES) {
      const answer = await client.call('search_tools', { query, limit: MOST });
      const found = namesIn(resultOf(answer)['structuredContent']);
      expect(found.filter(tool => !mine.includes(tool))).toEqual([]);
      const { json } = await search(person, query);
      expect(found).toEqual(namesIn(json));
    }
  });

  it.each(eras)('[ACC-3] [FIND-2] describes and calls only tools it may use: %s', async era => {
    const person = personOf(name, way);
    const client = await connect(person, era);
    const nobodys = `alpha.${NOBODYS}`;
    // The list of nearest names depends on the requested name and on what the caller may use.
    const withoutNear = (answer: Answer, asked: string) => {
      const [said = '', list = ''] = / nearest: ([^;]*);/.exec(answer.text) ?? [];
      const wrong = list.split(', ').filter(each => each !== '' && !allowed(person).includes(each));
      const headers = new Headers(answer.headers);
      headers.set('content-length', String(Number(headers.get('content-length')) - said.length));
      const bare = { status: answer.status, headers, text: answer.text.replace(said, '') };
      return [seen(bare, asked), ...wrong].join('\n');
    };
    const unknown = {
      described: withoutNear(await client.call('describe_tool', { name: nobodys }, 7), nobodys),
      called: withoutNear(await client.call('call_tool', { name: nobodys }, 7), nobodys),
    };
    expect(unknown.called).toContain('Tool not found: NAME; find names with search_tools');
    const wrong: unknown[] = [];
    await forEachTool(async (server, tool) => {
      const qualified = `${server}.${tool}`;
      const described = await client.call('describe_tool', { name: qualified }, 7);
      const called = await client.call('call_tool', { name: qualified, arguments: {} }, 7);
      const isRight = person.mayUse(server, tool)
        ? isDescribed(described, qualified) && textOf(called) === tool
        : withoutNear(described, qualified) === unknown.described &&
          withoutNear(called, qualified) === unknown.called;
      if (!isRight) wrong.push([qualified, described.text, called.text]);
    });
    expect(wrong).toEqual([]);
  });

  it('[ACC-3] [FIND-2] learns only of servers that it may use', async () => {
    const person = personOf(name, way);
    const client = await connect(person, 'modern');
    const { instructions } = resultOf(await client.request('server/discover', {}, 7));
    const told = String(instructions)
      .split('\n')
      .filter(line => line.startsWith('- '));
    const isThere = (server: (typeof SERVERS)[number]) =>
      person.seesRest(server) || TOOL_NAMES.some(tool => person.mayUse(server, tool));
    expect(told).toEqual(SERVERS.filter(isThere).map(server => `- ${server}`));
  });

  it('[ACC-3] [FIND-2] finds on a toolset only those of its tools that the caller may use', async () => {
    const person = personOf(name, way);
    const triage = personOf('triage');
    const client = await connect(person, 'modern', '/mcp/toolsets/triage?tools=search');
    const found = resultOf(await client.call('search_tools', { query: 'read', limit: MOST }));
    const wrong = namesIn(found['structuredContent']).filter(tool => {
      const [server, own = ''] = tool === 'first' ? ['alpha', 'read_00'] : tool.split('.');
      const at = SERVERS.find(known => known === server);
      return !at || !person.mayUse(at, own) || !triage.mayUse(at, own);
    });
    expect(wrong).toEqual([]);
  });
});

const isDescribed = (answer: Answer, name: string) =>
  namesIn(resultOf(answer)['structuredContent']).join() === name;

it('[ACC-3] [FIND-1] [FIND-2] gets the same bytes whatever changes in hidden tools', async () => {
  const people = CASES.map(({ name, way }) => personOf(name, way));
  const look = async (person: Person) => {
    const client = await connect(person, 'modern');
    const texts: string[] = [];
    for (const query of QUERIES) {
      texts.push((await search(person, query)).text);
      texts.push((await client.call('search_tools', { query, limit: MOST }, 7)).text);
    }
    return texts;
  };
  const before = await Promise.all(people.map(look));
  const edited = TOOL_NAMES.filter(tool => tool.startsWith('write_') && tool !== 'write_00');
  for (const tool of edited) await fetch(`${team.upstreams.beta.origin}/control?edit=${tool}`);
  const [anybody] = people;
  if (!anybody) throw new Error('nobody is there');
  await until('the gateway has seen it', SOON_MS, async () => {
    const { json } = await search(anybody, 'write', { server_filter: ['beta'] });
    const tools = json['tools'] as { original_name: string; description: string }[];
    const found = tools.filter(tool => edited.includes(tool.original_name));
    const isSeen = found.every(({ description }) => description.endsWith('edition 1'));
    return (found.length > 0 && isSeen) || undefined;
  });
  const after = await Promise.all(people.map(look));
  const changed = CASES.filter((_, i) => JSON.stringify(before[i]) !== JSON.stringify(after[i]));
  expect(changed.map(({ name }) => name)).toEqual(['anybody', 'anybody']);
});
