/** The aggregator stories' examples, line by line (`test/source-documents/examples.ts`): their requests and responses to the letter. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { EXAMPLE_LINES, type ExampleLine } from '../../source-documents/examples.ts';
import { startWithModel, type SkilledGateway } from '../support/skilled-gateway.ts';
import { storedText } from '../support/stored-text.ts';
import type { ApiAnswer } from '../support/gateway.ts';

const SOON_MS = 60_000;
const SERVERS = '/api/v1/aggregator/servers';
const TOKEN = 'token-of-the-github-server';
const TEXT = '{"issue_number": 123, "url": "https://github.com/owner/repo/issues/123"}';
const CALL = {
  name: 'github-mcp.create_issue',
  arguments: { repo: 'owner/repo', title: 'Bug report', body: 'Description of the bug' },
};
const SEARCH = {
  query: 'create a GitHub issue',
  include_external: true,
  server_filter: ['github-mcp', 'jira-mcp'],
  limit: 10,
};

let github: Upstream;
let moody: Upstream;
let model: Upstream;
let skilled: SkilledGateway;
let registered: ApiAnswer;
/** Its status and error before the secret was set. */
let without: Record<string, unknown>;

const api: SkilledGateway['gateway']['api'] = (...args) => skilled.gateway.api(...args);
const idOf = () => String(registered.json['id']);
const connected = (id = idOf()) => skilled.gateway.waitFor(id, 'CONNECTED');
const call = (body: object = CALL) => api('POST', '/api/v1/tools/call', body);
const readServer = async (id: string) => (await api('GET', `${SERVERS}/${id}`)).json;
const REGISTRATION = () => ({
  name: 'github-mcp',
  description: 'GitHub MCP Server for repository operations',
  transport_type: 'SSE',
  connection_config: {
    url: `${github.origin}/sse`,
    headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' },
  },
  auto_connect: true,
  health_check_url: `${github.origin}/control`,
});

interface Found {
  query: string;
  tools: { id: string; name: string; score: number; skill_ids: string[] }[];
  metadata: { servers_searched: number; total_tools_searched: number };
}
const search = async (body: object = SEARCH) =>
  (await api('POST', '/api/v1/search', body)).json as unknown as Found;
const hitOf = async () =>
  until('the tool is found', SOON_MS, async () => {
    const { tools } = await search();
    return tools.find(({ name, skill_ids: ids }) => name === CALL.name && ids.length > 0);
  });

beforeAll(async () => {
  [github, moody, { model, skilled }] = await Promise.all([
    startFixture('demo-github'),
    startFixture('moody'),
    startWithModel('scripted-model', { PORTICO_MODEL: 'scripted-1' }),
  ]);
  registered = await api('POST', SERVERS, REGISTRATION());
  await skilled.gateway.waitFor(idOf(), 'ERROR');
  without = await readServer(idOf());
  const secret = { value: TOKEN, origins: [github.origin] };
  await api('PUT', '/api/v1/secrets/GITHUB_TOKEN', secret);
  await connected();
  await skilled.add('jira-mcp', [['create_ticket', 'Create a ticket in Jira']]);
  await skilled.add('gitlab-mcp', [['create_issue', 'Create a new GitLab issue']]);
  await skilled.gateway.register('moody', `${moody.origin}/mcp`);
  const watched = { health_check_url: `${moody.origin}/up` };
  await skilled.gateway.register('watched', `${moody.origin}/mcp`, watched);
}, 240_000);
afterAll(async () => {
  await skilled?.stop();
  await Promise.all([github?.stop(), moody?.stop(), model?.stop()]);
});

const statusOf = async (server: string) => {
  const { json } = await api('GET', SERVERS);
  const servers = json['servers'] as { name: string; status: string }[];
  return servers.find(({ name }) => name === server)?.status;
};
/** Calls a `moody` server until it has a status; returns the status. */
const moodyIs = (mood: string, wanted: string, server = 'moody') =>
  until(`it is ${wanted}`, SOON_MS, async () => {
    await moody.counters(`?mood=${mood}`);
    await call({ name: `${server}.act` });
    const status = await statusOf(server);
    return status === wanted ? status : undefined;
  });
const disconnect = () => api('POST', `${SERVERS}/${idOf()}/disconnect`);
const connect = () => api('POST', `${SERVERS}/${idOf()}/connect`);

const shows: Record<ExampleLine, () => void | Promise<void>> = {
  S1: () => expect(registered.status).toBe(201),
  S2: () =>
    expect(registered.json).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/u),
      name: 'github-mcp',
      status: 'CONNECTING',
      transport_type: 'SSE',
      registered_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/u),
    }),
  async S3() {
    expect(without).toMatchObject({ status: 'ERROR', last_error: 'missing secret GITHUB_TOKEN' });
    expect(await connected()).toMatchObject({ last_error: null, tool_count: 2 });
  },
  async S4() {
    await hitOf();
    const { query, tools } = await search();
    expect(query).toBe('create a GitHub issue');
    expect(tools[0]?.name).toBe('github-mcp.create_issue');
    expect(tools.length).toBeLessThanOrEqual(10);
    expect(tools.some(({ name }) => name.startsWith('gitlab-mcp.'))).toBe(false);
    expect((await search({ ...SEARCH, include_external: false })).tools).toEqual([]);
  },
  S5: async () => expect((await hitOf()).id).toBe(`${idOf()}/create_issue`),
  async S6() {
    const hit = await hitOf();
    expect(hit).toMatchObject({
      name: 'github-mcp.create_issue',
      original_name: 'create_issue',
      description: 'Create a new GitHub issue',
    });
    expect(hit.score).toBeGreaterThan(0.5);
    expect(hit.score).toBeLessThanOrEqual(1);
  },
  async S7() {
    const from = { id: idOf(), name: 'github-mcp', status: 'CONNECTED' };
    expect(await hitOf()).toMatchObject({ source_server: from });
  },
  async S8() {
    const hit = await hitOf();
    expect(hit.skill_ids.toSorted()).toEqual(['code_management', 'issue_tracking']);
    expect(hit).toMatchObject({ primary_skill_id: 'issue_tracking' });
  },
  async S9() {
    const { metadata } = await search({ ...SEARCH, limit: 1 });
    expect(metadata).toEqual({ servers_searched: 2, total_tools_searched: 3 });
  },
  async S10() {
    expect((await call()).status).toBe(200);
    const wrong = { ...CALL, arguments: { ...CALL.arguments, repo: 'owner/other' } };
    expect((await call(wrong)).json).toMatchObject({ isError: true });
  },
  async S11() {
    const { json } = await call();
    expect(json).toMatchObject({ content: [{ type: 'text', text: TEXT }], isError: false });
    expect(Object.keys(json).toSorted()).toEqual(['content', 'isError', 'metadata']);
  },
  async S12() {
    const time = expect.any(Number) as number;
    expect((await call()).json['metadata']).toEqual({
      routed_to: 'github-mcp',
      routing_time_ms: time,
      execution_time_ms: time,
    });
  },
  S13: async () => expect(await connected()).toMatchObject({ health: { state: 'healthy' } }),
  async S14() {
    // Its health address answers 200, and one call of three fails.
    const status = await until('it is DEGRADED', SOON_MS, async () => {
      for (const mood of ['500', 'fine', 'fine']) {
        await moody.counters(`?mood=${mood}`);
        await call({ name: 'watched.act' });
      }
      return (await statusOf('watched')) === 'DEGRADED' ? 'DEGRADED' : undefined;
    });
    expect(status).toBe('DEGRADED');
    expect(await moodyIs('fine', 'CONNECTED', 'watched')).toBe('CONNECTED');
  },
  async S15() {
    await disconnect();
    expect((await readServer(idOf()))['status']).toBe('DISCONNECTED');
    await connect();
    await connected();
  },
  async S16() {
    expect(await moodyIs('503', 'ERROR')).toBe('ERROR');
    expect(await moodyIs('fine', 'CONNECTED')).toBe('CONNECTED');
  },
  async S17() {
    const { json } = await api('POST', SERVERS, { ...REGISTRATION(), name: 'on-its-way' });
    expect(json['status']).toBe('CONNECTING');
    await connected(String(json['id']));
    await api('DELETE', `${SERVERS}/${String(json['id'])}`);
  },
  async S18() {
    await disconnect();
    const { json } = await connect();
    expect(json).toEqual({ status: 'CONNECTING', message: 'Connection initiated' });
    await connected();
  },
  async S19() {
    const { json } = await disconnect();
    expect(json).toEqual({ status: 'DISCONNECTED', pending_requests: 0 });
    await connect();
    await connected();
  },
  async S20() {
    const { status, json } = await api('POST', SERVERS, { description: 'nothing else' });
    const fields = (json['errors'] as { field: string }[]).map(({ field }) => field);
    const wanted = ['connection_config', 'name', 'transport_type'];
    expect([status, fields.toSorted()]).toEqual([422, wanted]);
  },
  async S21() {
    const { status, json } = await api('POST', SERVERS, REGISTRATION());
    expect([status, json['code']]).toEqual([409, 'conflict']);
  },
  async S22() {
    await disconnect();
    const { status, json } = await call();
    expect([status, json['server']]).toMatchObject([503, { id: idOf(), name: 'github-mcp' }]);
    await connect();
    await connected();
  },
  async S23() {
    const { status, json } = await call({ ...CALL, name: 'github-mcp.close_issue' });
    expect([status, json['code']]).toEqual([404, 'tool_not_found']);
  },
  async S24() {
    const { json } = await api('GET', '/api/v1/tools');
    const servers = json['servers'] as { tools: { name: string; original_name: string }[] }[];
    const named = servers
      .flatMap(({ tools }) => tools)
      .filter(({ original_name: own }) => own === 'create_issue');
    expect(named.map(({ name }) => name)).toEqual([
      'github-mcp.create_issue',
      'gitlab-mcp.create_issue',
    ]);
  },
  async S25() {
    await hitOf();
    const query = 'create an issue or a ticket';
    const namesOf = async (body: object) => (await search(body)).tools.map(({ name }) => name);
    expect(await namesOf({ query })).toContain('jira-mcp.create_ticket');
    const names = await namesOf({ query, skill: 'issue_tracking' });
    expect(names).toContain('github-mcp.create_issue');
    expect(names).not.toContain('jira-mcp.create_ticket');
    expect((await model.counters())['tools']).toBeGreaterThanOrEqual(4);
  },
  async S26() {
    const command = { command: 'sh', args: ['-c', 'true'] };
    const body = { name: 'program', transport_type: 'STDIO', connection_config: command };
    const { status, text } = await api('POST', SERVERS, body);
    expect([status, text]).toEqual([422, expect.stringContaining('portico connect')]);
  },
  async S27() {
    await moodyIs('503', 'ERROR');
    const { status, json } = await call({ name: 'moody.act' });
    expect(status).toBeGreaterThanOrEqual(500);
    expect(String(json['code'])).toMatch(/^(upstream_5xx|circuit_open)$/u);
    await moodyIs('fine', 'CONNECTED');
  },
  async S28() {
    await moodyIs('reset', 'ERROR');
    const answers = await Promise.all(Array.from({ length: 20 }, () => call()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    await moodyIs('fine', 'CONNECTED');
  },
  async S29() {
    const files = await storedText(skilled.gateway.data);
    expect(files.some(text => text.includes('github-mcp'))).toBe(true);
    expect(files.some(text => text.includes(TOKEN))).toBe(false);
  },
  async S30() {
    await disconnect();
    await connect();
    await connected();
    const rows = await until('the rows are there', SOON_MS, async () => {
      const { json } = await api('GET', '/api/v1/audit?limit=200');
      const events = json['events'] as { action: string; subject: string }[];
      const actions = events.map(({ action }) => action).filter(name => name.startsWith('server.'));
      return actions.length >= 3 ? new Set(actions) : undefined;
    });
    for (const act of ['create', 'connect', 'disconnect']) expect(rows).toContain(`server.${act}`);
  },
};

it.each(EXAMPLE_LINES.map(({ id, says }) => [id, says] as const))(
  '[REG-1] [REG-7] [FIND-1] %s: %s',
  async id => {
    expect.hasAssertions();
    await shows[id]();
  },
);
