/** The stand-in tool `connect`: listed for a server with accounts before anybody could read its catalog, and removed afterwards. */
import { runDurableObjectAlarm } from 'cloudflare:test';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createPerson, rowsOf, type Person } from '../support/call-rows.ts';
import { toolOf, type FakeServer } from '../support/fake-server.ts';
import { registerGuarded } from '../support/guarded-servers.ts';
import {
  ask,
  createPortico,
  initialize,
  inSession,
  legacy,
  modern,
  monitorOf,
  ORIGIN,
  PATIENT,
  SERVERS,
  whenQuiet,
  whenServer,
  type RpcAnswer,
} from '../support/portico.ts';

const portico = createPortico();
let count = 0;
/** The server of the test, at which nobody has an account yet. */
let name: string;
let id: string;
let server: FakeServer;
let ada: Person;
let eve: Person;

beforeEach(async () => {
  name = `hub${(count += 1)}`;
  [server, id] = await registerGuarded(portico, name, { accounts: 'per_principal' });
  [ada, eve] = [await createPerson(portico), await createPerson(portico)];
});

const connect = ({ token }: Person, given = 'good') =>
  portico.api('POST', '/api/v1/accounts', { server: name, token: given }, { token });

type Era = 'legacy' | 'modern';
const ERAS: Era[] = ['legacy', 'modern'];
async function rpc(
  { token }: Person,
  method: string,
  params = {},
  path = '/mcp',
  era: Era = 'modern',
) {
  const { message, headers } = ask(era, method, params);
  return (await portico.post(message, { token, headers }, path)).json<RpcAnswer>();
}
const namesOf = async (person: Person, path = '/mcp', era: Era = 'modern') =>
  (await rpc(person, 'tools/list', {}, path, era)).result?.tools?.map(tool => tool.name) ?? [];
const call = async (person: Person, tool: string, path = '/mcp', era: Era = 'modern') =>
  rpc(person, 'tools/call', { name: tool, arguments: {} }, path, era);
const whenRead = () => whenServer(portico, id, ({ status }) => status === 'CONNECTED');

describe.each(ERAS)('before anybody could read a server, to a %s client the stand-in tool', era => {
  it('[ACC-8] [MCP-3] is listed under the naming of each endpoint, and answers with the link', async () => {
    const set = { name: `set-${name}`, include: [`${name}.create_*`] };
    expect((await portico.api('POST', '/api/v1/toolsets', set)).status).toBe(201);
    for (const [path, tool] of [
      ['/mcp', `${name}.connect`],
      ['/mcp?names=underscore', `${name}__connect`],
      ['/mcp?names=colon', `${name}:connect`],
      [`/mcp/servers/${name}`, 'connect'],
      [`/mcp/toolsets/set-${name}`, `${name}.connect`],
    ] as const) {
      expect(await namesOf(eve, path, era)).toContain(tool);
      const { result } = await call(eve, tool, path, era);
      expect([result?.isError, result?._meta?.['portico/reason']]).toEqual([
        true,
        'account_required',
      ]);
      expect(result?.content?.[0]?.text).toContain(`${ORIGIN}/connect/${name} `);
    }
    const rows = await rowsOf(portico, eve);
    expect(rows.map(({ subject, outcome, code }) => [subject, outcome, code])).toEqual(
      Array.from({ length: 5 }, () => [`${name}.connect`, 'failed', 'account_required']),
    );
    expect(server.posts).toEqual([]);
  });

  it("[ACC-8] disappears with the caller's account, and for all with the catalog", async () => {
    expect(await namesOf(ada, '/mcp', era)).toContain(`${name}.connect`);
    expect((await connect(ada, 'bad')).status).toBe(201);
    expect(await namesOf(ada, '/mcp', era)).not.toContain(`${name}.connect`);
    expect(await namesOf(eve, '/mcp', era)).toContain(`${name}.connect`);
    // A client that still has it in a list gets an explanation.
    const early = (await call(ada, `${name}.connect`, '/mcp', era)).result;
    expect([early?.isError ?? false, early?.content?.[0]?.text]).toEqual([
      false,
      expect.stringContaining('will be listed soon'),
    ]);
    await connect(ada);
    await whenRead();
    for (const person of [ada, eve]) {
      await vi.waitFor(async () => {
        const names = await namesOf(person, '/mcp', era);
        expect(names.filter(tool => tool.startsWith(name))).toEqual([`${name}.create_issue`]);
      }, PATIENT);
    }
    const late = (await call(ada, `${name}.connect`, '/mcp', era)).result;
    expect(late?.content?.[0]?.text).toContain('Its tools are there');
    const lacking = (await call(eve, `${name}.connect`, '/mcp', era)).result;
    expect(lacking?._meta?.['portico/reason']).toBe('account_required');
    const rows = await rowsOf(portico, ada);
    expect(rows.filter(({ action }) => action === 'tool.call').map(row => row.outcome)).toEqual([
      'done',
      'done',
    ]);
    expect(server.of('tools/call')).toEqual([]);
  });
});

describe('the stand-in tool of a server', () => {
  const withLinks = async ({ token }: Person, params: object) => {
    const { message, headers } = modern('tools/call', params as Record<string, unknown>);
    const key = 'io.modelcontextprotocol/clientCapabilities';
    const sent = JSON.parse(JSON.stringify(message)) as {
      params: { _meta: Record<string, unknown> };
    };
    sent.params._meta[key] = { elicitation: { url: {} } };
    return (await portico.post(sent, { token, headers })).json<{
      result: { resultType: string; requestState?: string; content?: { text: string }[] };
    }>();
  };

  it('[ACC-8] asks for the account like any other tool, if the client opens links', async () => {
    const params = { name: `${name}.connect`, arguments: {} };
    const asked = await withLinks(ada, params);
    expect(asked.result.resultType).toBe('input_required');
    expect(JSON.stringify(asked.result)).toContain(`${ORIGIN}/connect/${name}"`);
    await connect(ada);
    const inputResponses = { connect_account: { action: 'accept' } };
    const { requestState } = asked.result;
    const done = await withLinks(ada, { ...params, requestState, inputResponses });
    expect(done.result.resultType).toBe('complete');
    expect(done.result.content?.[0]?.text).toContain('is connected');

    const session = await (async () => {
      const clientInfo = { name: 't', version: '1' };
      const capabilities = { elicitation: { url: {} } };
      const opening = { protocolVersion: '2025-11-25', capabilities, clientInfo };
      const opened = await portico.post(legacy('initialize', opening), eve);
      return opened.headers.get('mcp-session-id') ?? '';
    })();
    const sent = { ...eve, headers: inSession(session) };
    const answer = await portico.post(legacy('tools/call', params), sent);
    expect((await answer.json<RpcAnswer>()).error?.code).toBe(-32042);
  });

  it('[ACC-8] [ACC-3] is listed to those who may use any of its tools; to others it looks unknown', async () => {
    const other = `other${count}`;
    const [, otherId] = await registerGuarded(portico, other, { accounts: 'per_principal' });
    const some = await createPerson(portico, { tools: [`${name}.create_*`] });
    const elsewhere = await createPerson(portico, { servers: [other] });
    const rule = {
      effect: 'deny',
      subject: { kind: 'principal', id: eve.principalId },
      server: name,
    };
    const made = await portico.api('POST', '/api/v1/access/rules', rule);
    expect(made.status).toBe(201);
    expect(await namesOf(some)).toContain(`${name}.connect`);
    expect((await call(some, `${name}.connect`)).result?.isError).toBe(true);

    for (const person of [elsewhere, eve]) {
      expect(await namesOf(person)).not.toContain(`${name}.connect`);
      const [hidden, unknown] = [
        await call(person, `${name}.connect`),
        await call(person, 'nowhere.connect'),
      ].map(answer => JSON.stringify(answer).replaceAll(/hub\d+|nowhere/g, 'X'));
      expect(hidden).toBe(unknown);
      expect(hidden).toContain('Tool not found');
      for (const path of [`/mcp/servers/${name}`]) {
        const [one, none] = [path, '/mcp/servers/nowhere'].map(async at =>
          JSON.stringify(await rpc(person, 'tools/list', {}, at)).replaceAll(name, 'nowhere'),
        );
        expect(await one).toBe(await none);
      }
      const rest = await portico.api('GET', '/api/v1/tools', undefined, person);
      expect(await rest.text()).not.toContain(name);
      const search = { query: `connect ${name}`, limit: 50 };
      const found = await portico.api('POST', '/api/v1/search', search, person);
      expect(await found.text()).not.toContain(`${name}.`);
    }
    await portico.api('DELETE', `${SERVERS}/${otherId}`);
  });

  it("[ACC-8] [FIND-1] is found by the words of its server, in REST and in a model's format", async () => {
    const found = await (
      await portico.api('POST', '/api/v1/search', { query: `an issue at ${name}` }, eve)
    ).json<{ tools: { name: string }[] }>();
    expect(found.tools.map(tool => tool.name)).toContain(`${name}.connect`);
    const none = await portico.api('POST', '/api/v1/search', { query: 'bake bread' }, eve);
    expect(await none.text()).not.toContain(name);
    const listed = await portico.api('GET', '/api/v1/tools', undefined, eve);
    expect(await listed.text()).toContain(`"${name}.connect"`);
    const format = await portico.api('GET', '/api/v1/tools?format=anthropic', undefined, eve);
    expect(await format.text()).toContain(`"${name}__connect"`);
    const path = '/mcp?tools=search';
    const searched = await rpc(
      eve,
      'tools/call',
      { name: 'search_tools', arguments: { query: name } },
      path,
    );
    expect(JSON.stringify(searched.result)).toContain(`${name}.connect`);
    const given = { name: 'call_tool', arguments: { name: `${name}.connect`, arguments: {} } };
    const called = await rpc(eve, 'tools/call', given, path);
    expect(called.result?.content?.[0]?.text).toContain(`/connect/${name} `);
  });
});

it('[ACC-8] [ACC-3] is not listed to a caller who sees nothing of the catalog, once that was read', async () => {
  const none = await createPerson(portico, { tools: [`${name}.nothing`] });
  const some = await createPerson(portico, { tools: [`${name}.create_*`] });
  await connect(ada);
  await whenRead();
  await vi.waitFor(async () => expect(await namesOf(none)).toEqual([]), PATIENT);
  const [hidden, unknown] = [
    await call(none, `${name}.connect`),
    await call(none, 'nowhere.connect'),
  ].map(answer => JSON.stringify(answer).replaceAll(/hub\d+|nowhere/g, 'X'));
  expect(hidden).toBe(unknown);
  const { result } = await call(some, `${name}.connect`);
  expect(result?._meta?.['portico/reason']).toBe('account_required');
});

it('[ACC-8] exists only for servers with accounts', async () => {
  const shared = `shared${count}`;
  await registerGuarded(portico, shared, {});
  expect((await namesOf(eve)).filter(tool => tool.startsWith(shared))).toEqual([]);
  expect((await call(eve, `${shared}.connect`)).error?.message).toContain('Tool not found');
  const both = `both${count}`;
  await registerGuarded(portico, both, { accounts: 'both' });
  expect((await namesOf(eve)).filter(tool => tool.startsWith(both))).toEqual([]);
});

it('[ACC-8] gives way to a real tool of that name', async () => {
  server.tools = [toolOf('connect'), toolOf('create_issue')];
  await connect(ada);
  await whenRead();
  await vi.waitFor(async () => {
    expect((await call(ada, `${name}.connect`)).result?.content?.[0]?.text).toBe('{}');
  }, PATIENT);
  expect(server.of('tools/call')).toHaveLength(1);
});

/** Opens a stream and waits there for the list change that `cause` triggers. */
async function hearChange(cause: () => Promise<unknown>): Promise<void> {
  await whenQuiet(id);
  const session = await initialize(portico, eve);
  const headers = { authorization: `Bearer ${eve.token}`, accept: 'text/event-stream' };
  const sent = { headers: { ...headers, ...inSession(session) } };
  const stream = await portico.fetch('/mcp', sent);
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  await cause();
  for (let seen = ''; !seen.includes('notifications/tools/list_changed');) {
    const { value = '', done } = (await reader?.read()) ?? { done: true };
    if (done) throw new Error(`the stream ended after ${seen}`);
    seen += value;
  }
  await reader?.cancel();
}

it('[ACC-8] [MCP-4] appears with a notification', async () => {
  const more = `more${count}`;
  await hearChange(() => registerGuarded(portico, more, { accounts: 'per_principal' }));
  expect(await namesOf(eve)).toContain(`${more}.connect`);
});

it('[ACC-8] [MCP-4] disappears with a notification, when the catalog arrives', async () => {
  await hearChange(async () => {
    await connect(ada);
    await whenRead();
    await runDurableObjectAlarm(monitorOf(id));
  });
  expect((await namesOf(eve)).filter(tool => tool.startsWith(`${name}.`))).toEqual([
    `${name}.create_issue`,
  ]);
});

it('[ACC-8] [ACC-3] is explained as what it is: listed, and refused without an account', async () => {
  const explained = await portico.api('POST', '/api/v1/access/explain', {
    principal: eve.principalId,
    server: name,
    tool: 'connect',
  });
  expect(await explained.json()).toMatchObject({
    is_allowed: false,
    is_listed: true,
    code: 'account_required',
    decided_by: 'account',
  });
});
