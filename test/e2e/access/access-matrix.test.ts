/**
 * Six people, two hundred tools, every entry point: a tool that a person may not use looks as if it did not exist, in bodies, headers,
 * counts and cursors.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUIET } from '../support/gateway.ts';
import { listAllTools, open, textOf } from '../support/raw-client.ts';
import type { Era, RawClient } from '../support/raw-client.ts';
import { RENAMED, SERVERS, startTeam, TOOL_NAMES } from '../support/team.ts';
import type { Person, ServerName, Team } from '../support/team.ts';
import { forEachTool, NOBODYS, seen } from '../support/team-sources.ts';
import { CASES, letTeamIn, type PersonOf } from '../support/ways-in.ts';

const eras: Era[] = ['legacy', 'modern'];
const SEPARATORS = ['.', ':', '__', '/'];

let team: Team;
let personOf: PersonOf;
beforeAll(async () => {
  team = await startTeam(QUIET);
  personOf = await letTeamIn(team);
});
afterAll(() => team?.stop());

const connect = (person: Person, era: Era, path = '/mcp') =>
  open(era, { url: `${team.gateway.origin}${path}`, token: person.token });

/** Counts all calls that the upstream received. */
async function callsOf(server: ServerName): Promise<number> {
  const counts = Object.entries(await team.upstreams[server].counters());
  return counts
    .filter(([key]) => /^(?:tools\/call|prompts\/get|resources\/read|completion)/u.test(key))
    .reduce((sum, [, count]) => sum + count, 0);
}

describe.each(CASES)('$name by $way', { timeout: 300_000 }, ({ name, way }) => {
  const caller = () => personOf(name, way);

  it.each(eras)('[ACC-3] [MCP-9] lists exactly the tools it may use, by page: %s', async era => {
    const person = caller();
    const wanted = SERVERS.flatMap(server =>
      TOOL_NAMES.filter(tool => person.mayUse(server, tool)).map(tool => `${server}.${tool}`),
    );
    const tools = await listAllTools(await connect(person, era));
    expect(tools.map(tool => tool.name).toSorted()).toEqual(wanted.toSorted());
    const { json } = await team.gateway.api('GET', '/api/v1/tools', undefined, person.token);
    const byServer = json['servers'] as { name: string; tools: { name: string }[] }[];
    const overRest = byServer.flatMap(server => server.tools.map(tool => tool.name));
    expect(overRest.toSorted()).toEqual(wanted.toSorted());
    expect(json['total']).toBe(wanted.length);
    const visible = SERVERS.filter(server => wanted.some(tool => tool.startsWith(`${server}.`)));
    expect(byServer.map(server => server.name)).toEqual(visible);
  });

  it.each(eras)('[ACC-3] [MCP-9] calls exactly the listed tools, by every name: %s', async era => {
    const person = caller();
    const client = await connect(person, era);
    const direct = new Map<ServerName, RawClient>();
    for (const server of SERVERS) {
      const isThere = TOOL_NAMES.some(tool => person.mayUse(server, tool));
      if (isThere) direct.set(server, await connect(person, era, `/mcp/servers/${server}`));
    }
    const before = await Promise.all(SERVERS.map(callsOf));
    let allowed = [0, 0];
    const wrong: unknown[] = [];
    const unknown = new Map<string, string>();
    for (const separator of SEPARATORS) {
      const nobodys = `alpha${separator}${NOBODYS}`;
      unknown.set(separator, seen(await client.call(nobodys, {}, 7), nobodys));
    }
    await forEachTool(async (server, tool, i) => {
      const separator = SEPARATORS[i % SEPARATORS.length] ?? '.';
      const qualified = `${server}${separator}${tool}`;
      const answer = await client.call(qualified, {}, 7);
      const own = await direct.get(server)?.call(tool, {}, 7);
      if (person.mayUse(server, tool)) {
        const isRight = textOf(answer) === tool && own !== undefined && textOf(own) === tool;
        if (!isRight) wrong.push([qualified, answer.text, own?.text]);
        allowed = allowed.map((count, k) => count + (SERVERS[k] === server ? 2 : 0));
        return;
      }
      const nobody = own && (await direct.get(server)?.call(NOBODYS, {}, 7));
      const isAlike = seen(answer, qualified) === unknown.get(separator);
      const isAlikeThere = !own || (nobody && seen(own, tool) === seen(nobody, NOBODYS));
      if (!isAlike || !isAlikeThere) wrong.push([qualified, answer.text, own?.text]);
    });
    expect(wrong).toEqual([]);
    const after = await Promise.all(SERVERS.map(callsOf));
    expect(after.map((count, k) => count - (before[k] ?? 0))).toEqual(allowed);
  });

  it('[ACC-3] [REG-7] calls the same tools over REST, by either name', async () => {
    const person = caller();
    const call = (body: object) =>
      team.gateway.api('POST', '/api/v1/tools/call', body, person.token);
    const unknown = seen(await call({ name: `alpha.${NOBODYS}` }), `alpha.${NOBODYS}`);
    const wrong: unknown[] = [];
    await forEachTool(async (server, tool) => {
      const qualified = `${server}.${tool}`;
      const answers = [
        await call({ name: qualified }),
        await call({ original_name: tool, server_id: team.serverIds[server] }),
      ];
      const texts = answers.map(answer => seen(answer, answer === answers[0] ? qualified : tool));
      const elsewhere = await call({ original_name: tool, server_id: 'no-such-server' });
      const isRight = person.mayUse(server, tool)
        ? answers.every(({ status }) => status === 200)
        : texts[0] === unknown && texts[1] === seen(elsewhere, tool);
      if (!isRight) wrong.push([qualified, texts]);
    });
    expect(wrong).toEqual([]);
  });

  it.each(eras)('[ACC-3] [MCP-4] sees only prompts and resources it may use: %s', async era => {
    const person = caller();
    const client = await connect(person, era);
    for (const [method, member, key] of [
      ['prompts/list', 'prompts', 'name'],
      ['resources/list', 'resources', 'uri'],
      ['resources/templates/list', 'resourceTemplates', 'uriTemplate'],
    ] as const) {
      const { result } = (await client.request(method)).message;
      const items = (result?.[member] ?? []) as Record<string, string>[];
      const servers = new Set(items.map(item => item[key]?.split(/[.+]/u)[0]));
      expect([method, ...servers]).toEqual([method, ...SERVERS.filter(person.seesRest)]);
    }
    const wrong: unknown[] = [];
    for (const server of SERVERS) {
      const asked: [method: string, given: (where: string) => object][] = [
        ['prompts/get', where => ({ name: `${where}.prompt_1` })],
        ['resources/read', where => ({ uri: `${where}+doc:///1` })],
        ['resources/read', where => ({ uri: `${where}+doc:///unlisted` })],
        [
          'completion/complete',
          where => ({
            ref: { type: 'ref/prompt', name: `${where}.prompt_1` },
            argument: { name: 'topic', value: '' },
          }),
        ],
        [
          'completion/complete',
          where => ({
            ref: { type: 'ref/resource', uri: `${where}+doc:///{id}` },
            argument: { name: 'id', value: '' },
          }),
        ],
      ];
      for (const [method, given] of asked) {
        const answer = await client.request(method, given(server), 7);
        const nobody = await client.request(method, given('gamma'), 7);
        const isRight = person.seesRest(server)
          ? answer.message.result !== undefined
          : seen(answer, server) === seen(nobody, 'gamma');
        if (!isRight) wrong.push([server, method, answer.text, nobody.text]);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('[ACC-3] [MCP-3] learns of no capability, server or toolset that is hidden from it', async () => {
    const person = caller();
    const legacy = await connect(person, 'legacy');
    const modern = await connect(person, 'modern');
    const discovered = (await modern.request('server/discover', {}, 1)).message.result;
    const capabilities = Object.keys((discovered?.['capabilities'] ?? {}) as object).toSorted();
    const rest = SERVERS.some(person.seesRest) ? ['completions', 'prompts', 'resources'] : [];
    expect(capabilities).toEqual([...rest, 'tools'].toSorted());
    expect(legacy.sessionId).toBeDefined();
    const wrong: unknown[] = [];
    const nowhere = await connect(person, 'modern', '/mcp/servers/gamma');
    const nothing = seen(await nowhere.request('server/discover', {}, 1), 'gamma');
    for (const server of SERVERS) {
      const there = await connect(person, 'modern', `/mcp/servers/${server}`);
      const answer = await there.request('server/discover', {}, 1);
      const isThere = TOOL_NAMES.some(tool => person.mayUse(server, tool));
      const isTold = answer.message.result?.['instructions'] !== undefined;
      const isRight = isThere
        ? answer.status === 200 && isTold === person.seesRest(server)
        : seen(answer, server) === nothing;
      if (!isRight) wrong.push([server, answer.text]);
    }
    expect(wrong).toEqual([]);
  });

  it.each(eras)('[ACC-4] sees in a toolset only tools that it may use anyway: %s', async era => {
    const person = caller();
    const client = await connect(person, era, '/mcp/toolsets/triage');
    const triage = personOf('triage');
    const wanted = SERVERS.flatMap(server =>
      TOOL_NAMES.filter(tool => person.mayUse(server, tool) && triage.mayUse(server, tool)).map(
        tool =>
          server === RENAMED.server && tool === RENAMED.tool ? RENAMED.name : `${server}.${tool}`,
      ),
    );
    const tools = await listAllTools(client);
    expect(tools.map(tool => tool.name).toSorted()).toEqual(wanted.toSorted());
    for (const tool of wanted) {
      const own = tool === RENAMED.name ? RENAMED.tool : tool.split('.')[1];
      expect(textOf(await client.call(tool))).toBe(own);
    }
    const unknown = seen(await client.call(`alpha.${NOBODYS}`, {}, 7), `alpha.${NOBODYS}`);
    for (const hidden of ['alpha.write_00', 'beta.read_09', 'alpha.read_10']) {
      expect(seen(await client.call(hidden, {}, 7), hidden)).toBe(unknown);
    }
  });
});
