/** `POST /api/v1/search`: the request and the response of PRD AG-US2, filters, forms of hosts, and access. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPerson, rowsOf } from '../support/call-rows.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  createPortico,
  createToken,
  PATIENT,
  registerConnected,
  type ServerView,
} from '../support/portico.ts';

interface Found {
  query: string;
  tools: Record<string, unknown>[];
  metadata: { servers_searched: number; total_tools_searched: number };
}

const portico = createPortico();
const github = new FakeServer({
  tools: [
    toolOf('create_issue', {
      description: 'Create a new GitHub issue',
      inputSchema: { type: 'object', properties: { title: { type: 'string' } } },
    }),
    toolOf('list_issues', {
      description: 'List the issues of a repository',
      annotations: { readOnlyHint: true },
    }),
  ],
});
const jira = new FakeServer({
  tools: [toolOf('create_ticket', { description: 'Create a Jira ticket for an issue' })],
});
const choice = { type: 'object', anyOf: [{ required: ['beans'] }, { required: ['pods'] }] };
const other = new FakeServer({
  tools: [toolOf('brew', { description: 'Brew coffee', inputSchema: choice })],
});
const records: Record<string, ServerView> = {};
const QUERY = 'create a GitHub issue';
const nobody = { servers_searched: 0, total_tools_searched: 0 };

async function search(body: object, token?: string, path = '/api/v1/search') {
  const sent = token === undefined ? {} : { token };
  const response = await portico.api('POST', path, body, sent);
  return { status: response.status, json: await response.json<Found & { code: string }>() };
}
const namesOf = async (body: object, token?: string) =>
  (await search(body, token)).json.tools.map(({ name }) => name);

const serveAll = () => serve({ 'github-mcp': github, 'jira-mcp': jira, coffee: other });
beforeAll(async () => {
  serveAll();
  for (const name of ['github-mcp', 'jira-mcp', 'coffee']) {
    records[name] = await registerConnected(portico, name);
  }
});
beforeEach(() => void serveAll());

describe('the search', () => {
  it('[FIND-1] [AG-US2-AC1] [AG-US2-AC2] [AG-US2-AC4] [AG-US2-AC5] answers the request of the PRD in its form', async () => {
    const { status, json } = await search({
      query: QUERY,
      include_external: true,
      server_filter: ['github-mcp', 'jira-mcp'],
      limit: 10,
    });
    const id = records['github-mcp']?.id;
    expect(status).toBe(200);
    expect(json.tools[0]).toEqual({
      id: `${id}/create_issue`,
      name: 'github-mcp.create_issue',
      original_name: 'create_issue',
      description: 'Create a new GitHub issue',
      score: expect.any(Number),
      source_server: { id, name: 'github-mcp', status: 'CONNECTED' },
      skill_ids: expect.any(Array),
      primary_skill_id: json.tools[0]?.['primary_skill_id'] ?? null,
    });
    expect(json.query).toBe(QUERY);
    expect(json.metadata).toEqual({ servers_searched: 2, total_tools_searched: 3 });
    const scores = json.tools.map(({ score }) => Number(score));
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(scores.every(score => score >= 0 && score <= 1)).toBe(true);
  });

  it('[FIND-1] [AG-US2-AC1] [AG-US2-AC5] searches all servers and reports the number of tools', async () => {
    const { json } = await search({ query: QUERY });
    expect(json.metadata).toEqual({ servers_searched: 3, total_tools_searched: 4 });
    expect(await namesOf({ query: 'brew coffee', limit: 1 })).toEqual(['coffee.brew']);
  });

  it('[FIND-1] [AG-US2-AC4] can be restricted by server, by name or id, and to read-only tools', async () => {
    const id = records['github-mcp']?.id;
    for (const filter of [[id], ['github-mcp'], ['github-mcp', 'no-such-server']]) {
      const { json } = await search({ query: QUERY, server_filter: filter });
      expect(json.metadata).toEqual({ servers_searched: 1, total_tools_searched: 2 });
    }
    const { json: none } = await search({ query: QUERY, server_filter: ['no-such-server'] });
    expect(none).toEqual({ query: QUERY, tools: [], metadata: nobody });
    const { json: reading } = await search({ query: 'issues', read_only: true });
    expect(reading.tools.map(({ name }) => name)).toEqual(['github-mcp.list_issues']);
    expect(reading.metadata.total_tools_searched).toBe(1);
    const { json: skilled } = await search({ query: 'issues', skill: 'no_such_skill' });
    expect(skilled.tools).toEqual([]);
  });

  it('[FIND-1] covers external servers only', async () => {
    const { json } = await search({ query: QUERY, include_external: false });
    expect(json).toEqual({ query: QUERY, tools: [], metadata: nobody });
  });

  it('[FIND-1] [AG-US2-AC3] leaves out a disconnected server, and includes it again later', async () => {
    const path = `/api/v1/aggregator/servers/${records['jira-mcp']?.id}`;
    expect(await namesOf({ query: 'jira ticket' })).toContain('jira-mcp.create_ticket');
    await portico.api('POST', `${path}/disconnect`);
    const { json } = await search({ query: 'jira ticket' });
    expect(json.tools.map(({ name }) => name)).not.toContain('jira-mcp.create_ticket');
    expect(json.metadata).toEqual({ servers_searched: 2, total_tools_searched: 3 });
    await portico.api('POST', `${path}/connect`);
    await expect
      .poll(() => namesOf({ query: 'jira ticket' }), PATIENT)
      .toContain('jira-mcp.create_ticket');
  });

  it.each([
    {},
    { query: '' },
    { query: 'x'.repeat(1_001) },
    { query: 'x', limit: 0 },
    { query: 'x', limit: 51 },
    { query: 'x', limit: 1.5 },
    { query: 'x', server_filter: 'github-mcp' },
    { query: 'x', other: 1 },
  ])('[FIND-1] [REG-8] refuses %j', async body => {
    const { status, json } = await search(body);
    expect([status, json.code]).toEqual([422, 'validation_failed']);
  });
});

describe("a caller's search", () => {
  it('[FIND-1] [ACC-3] finds, counts and scores only what the caller may use', async () => {
    const { token } = await createToken(portico, { tools: ['github-mcp.list_*', 'coffee.brew'] });
    const { json } = await search({ query: QUERY }, token);
    expect(json.metadata).toEqual({ servers_searched: 2, total_tools_searched: 2 });
    expect(json.tools.map(({ name }) => name)).not.toContain('github-mcp.create_issue');
  });

  it('[FIND-1] [ACC-2] [SEC-6] requires tools:read, and a refusal is recorded', async () => {
    const person = await createPerson(portico, { scopes: ['tools:call'] });
    expect((await search({ query: QUERY }, person.token)).status).toBe(403);
    const rows = await rowsOf(portico, person);
    expect(rows).toMatchObject([{ action: 'rest.read', subject: '/api/v1/search' }]);
  });
});

describe('the form of a host', () => {
  it('[FIND-2] is that of its own tool search', async () => {
    const body = { query: QUERY, limit: 1 };
    const name = 'github-mcp__create_issue';
    const { json: references } = await search(body, undefined, '/api/v1/search?format=anthropic');
    expect(references).toMatchObject({
      content: [{ type: 'tool_reference', tool_name: name }],
      tools: [{ name, defer_loading: true, input_schema: { type: 'object' } }],
    });
    const { json: output } = await search(body, undefined, '/api/v1/search?format=openai');
    expect(output).toMatchObject({
      type: 'tool_search_output',
      execution: 'client',
      tools: [{ type: 'function', name, parameters: { type: 'object' } }],
    });
    const { status } = await search(body, undefined, '/api/v1/search?format=other');
    expect(status).toBe(422);
  });

  it.each([
    ['anthropic', 'anthropic', 'input_schema'],
    ['openai', 'openai-responses', 'parameters'],
  ])('[FIND-2] of %s has the definitions that its API accepts', async (host, format, member) => {
    const body = { query: 'brew coffee', limit: 1 };
    const { json: found } = await search(body, undefined, `/api/v1/search?format=${host}`);
    expect(found.tools[0]?.[member]).not.toHaveProperty('anyOf');
    const path = `/api/v1/tools?tool=coffee.brew&format=${format}`;
    const { tools } = await (await portico.api('GET', path)).json<Pick<Found, 'tools'>>();
    expect(found.tools).toEqual(tools.map(tool => ({ ...tool, defer_loading: true })));
  });
});
