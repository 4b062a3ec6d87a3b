/** Why somebody may or may not use a tool, as administrators ask: the same decision as for real requests. */
import { beforeAll, describe, expect, it } from 'vitest';
import { env } from 'cloudflare:workers';
import { look } from '../support/approvals.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  createPortico,
  createToken,
  registerConnected,
  SERVERS,
  type CreatedToken,
  type Portico,
} from '../support/portico.ts';

const portico = createPortico();
const EXPLAIN = '/api/v1/access/explain';
let principal: string;
let rule: string;
let narrow: CreatedToken;

async function explainIn(at: Portico, body: object): Promise<Record<string, unknown>> {
  const response = await at.api('POST', EXPLAIN, body);
  return { status: response.status, ...(await response.json<object>()) };
}
const explain = (body: object) => explainIn(portico, body);

beforeAll(async () => {
  serve({ explained: new FakeServer() });
  await registerConnected(portico, 'explained');
  const made = await portico.api('POST', '/api/v1/principals', { name: 'ada', groups: ['dev'] });
  principal = (await made.json<{ id: string }>()).id;
  narrow = await createToken(portico, { principal, tools: ['explained.e*'] });
  const subject = { kind: 'group', name: 'dev' };
  const body = { effect: 'deny', subject, server: 'explained', tool: 'drop' };
  rule = (await (await portico.api('POST', '/api/v1/access/rules', body)).json<{ id: string }>())
    .id;
});

describe('an explanation', () => {
  it('[ACC-3] is given for a tool with the longest name too', async () => {
    const tool = 't'.repeat(800);
    const found = await explain({ principal, server: 'explained', tool });
    expect(found).toMatchObject({ status: 200, tool, is_allowed: false });
  });

  it('[ACC-3] names the rule that decides', async () => {
    expect(await explain({ principal, server: 'EXPLAINED', tool: 'drop' })).toMatchObject({
      status: 200,
      is_allowed: false,
      decided_by: 'rule',
      rule,
      principal,
      groups: ['dev'],
      is_read_only: null,
    });
  });

  it('[ACC-3] says that no rule decides, or a limit of the token', async () => {
    expect(await explain({ principal, server: 'explained', tool: 'echo' })).toMatchObject({
      is_allowed: true,
      decided_by: 'posture',
      rule: null,
      posture: 'open',
      is_read_only: false,
    });
    expect(await explain({ token: narrow.id, server: 'explained', tool: 'echo' })).toMatchObject({
      is_allowed: true,
    });
    expect(await explain({ token: narrow.id, server: 'explained', tool: 'move' })).toMatchObject({
      is_allowed: false,
      decided_by: 'token_tools',
    });
  });

  it('[ACC-3] is given for existing records, and to administrators only', async () => {
    const missing = [
      { principal: 'nobody', server: 'explained', tool: 'echo' },
      { token: 'none', server: 'explained', tool: 'echo' },
      { principal, server: 'nowhere', tool: 'echo' },
    ];
    for (const body of missing) expect(await explain(body)).toMatchObject({ status: 404 });
    expect(await explain({ server: 'explained', tool: 'echo' })).toMatchObject({ status: 422 });
    const body = { principal, server: 'explained', tool: 'echo' };
    const { status } = await portico.api('POST', EXPLAIN, body, { token: narrow.token });
    expect(status).toBe(403);
  });
});

/** The outcome of a real call of the tool by its caller: whether the server got it. */
async function really(token: string, name: string, server: FakeServer) {
  const before = server.posts.length;
  const listed = await createPortico().api('GET', '/api/v1/tools', undefined, { token });
  const { servers } = await listed.json<{ servers: { tools: { name: string }[] }[] }>();
  const response = await createPortico().api('POST', '/api/v1/tools/call', { name }, { token });
  const { code = null } = await response.json<{ code?: string }>();
  const called = server.posts.slice(before).some(({ method }) => method === 'tools/call');
  return {
    is_listed: servers.flatMap(({ tools }) => tools).some(tool => tool.name === name),
    is_allowed: called,
    code: response.ok ? null : code,
  };
}

describe('an explanation of what is unavailable', () => {
  it('[ACC-3] [SEC-7] says that it is held, removed, unknown, or that its server is down', async () => {
    const server = new FakeServer({ tools: [toolOf('kept')] });
    serve({ stated: server });
    const { id } = await registerConnected(portico, 'stated');
    const person = await createToken(portico);
    const check = async (tool: string, wanted: object) => {
      const found = await explain({ token: person.id, server: 'stated', tool });
      expect(found).toMatchObject(wanted);
      expect(found).toMatchObject(await really(person.token, `stated.${tool}`, server));
      return found['steps'];
    };
    await check('kept', { is_allowed: true, is_listed: true, decided_by: 'posture' });
    await check('never', { is_allowed: false, decided_by: 'catalog', code: 'tool_not_found' });
    server.tools = [toolOf('kept', { description: 'other' }), toolOf('new')];
    await look(portico, id);
    await check('new', { is_allowed: false, is_listed: false, decided_by: 'approval' });
    const steps = await check('kept', { is_allowed: false, decided_by: 'approval' });
    expect(steps).toContainEqual({
      step: 'approval',
      passes: false,
      detail: 'Its definition is held: changed',
      rules: [],
    });
    server.tools = [];
    await look(portico, id);
    await check('kept', { is_allowed: false, decided_by: 'catalog' });
    await portico.api('POST', `${SERVERS}/${id}/disconnect`);
    await check('kept', { decided_by: 'server_status', code: 'server_disconnected' });
  });

  it('[ACC-3] [UP-5] says that its server fails, and that no call is sent there', async () => {
    const server = new FakeServer();
    serve({ failing: server });
    const { id } = await registerConnected(portico, 'failing');
    const person = await createToken(portico);
    const question = { token: person.id, server: 'failing', tool: 'echo' };
    const circuit =
      'UPDATE servers SET status = ?, last_error = ?, circuit_retry_at = ? WHERE id = ?';
    const put = (retryAt: number | null) =>
      env.DB.prepare(circuit).bind('ERROR', 'upstream_5xx', retryAt, id).run();
    await put(null);
    const failing = await explainIn(createPortico(), question);
    expect(failing).toMatchObject({ is_allowed: true, server: { status: 'ERROR' } });
    expect(failing['steps']).toContainEqual({
      step: 'server_status',
      passes: true,
      detail: 'The server is ERROR: upstream_5xx',
      rules: [],
    });
    expect(await really(person.token, 'failing.echo', server)).toMatchObject({ is_allowed: true });
    await put(Date.now() + 60_000);
    const open = await explainIn(createPortico(), question);
    expect(open).toMatchObject({ is_allowed: false, is_listed: true, decided_by: 'circuit' });
    expect(open).toMatchObject(await really(person.token, 'failing.echo', server));
  });

  it('[ACC-4] [ACC-2] says that a toolset or a scope leaves it out', async () => {
    serve({ chosen: new FakeServer({ tools: [toolOf('in'), toolOf('out')] }) });
    await registerConnected(portico, 'chosen');
    const body = { name: 'choice', include: ['chosen.in'], members: { groups: ['dev'] } };
    expect((await portico.api('POST', '/api/v1/toolsets', body)).status).toBe(201);
    const at = { server: 'chosen', toolset: 'choice' };
    const stranger = await createToken(portico);
    const reader = await createToken(portico, { principal, scopes: ['tools:read'] });
    expect(await explain({ principal, tool: 'in', ...at })).toMatchObject({ is_allowed: true });
    for (const asked of [
      { principal, tool: 'out', ...at },
      { token: stranger.id, tool: 'in', ...at },
    ])
      expect(await explain(asked)).toMatchObject({ is_allowed: false, decided_by: 'toolset' });
    expect(await explain({ token: reader.id, tool: 'in', ...at })).toMatchObject({
      is_allowed: false,
      is_listed: true,
      decided_by: 'scope_call',
      code: 'forbidden',
    });
    const blind = await createToken(portico, { principal, scopes: ['tools:call'] });
    expect(await explain({ token: blind.id, tool: 'in', ...at })).toMatchObject({
      is_allowed: true,
      is_listed: false,
      decided_by: 'scope_list',
      code: null,
    });
    const admin = { token: 'setup-admin', tool: 'in', ...at };
    expect(await explain(admin)).toMatchObject({ is_allowed: true });
    expect(await explain({ ...admin, toolset: 'none' })).toMatchObject({ status: 404 });
  });
});
