/** What a rule or a toolset would change, as an administrator asks before saving it; and that people then see exactly that. */
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import { createPortico, createToken, registerConnected } from '../support/portico.ts';

const portico = createPortico();
const RULES = '/api/v1/access/rules';
const TOOLSETS = '/api/v1/toolsets';
const readers = { kind: 'group', name: 'readers' };
let ria: string;
let riaToken: string;

interface Preview {
  people: number;
  examined: number;
  changed: number;
  groups: {
    people: number;
    principals: { id: string; name: string }[];
    gained: number;
    lost: number;
    tools: { server: string; tool: string | null; is_gained: boolean }[];
  }[];
  selection?: object;
}

async function preview(path: string, body: object): Promise<Preview> {
  const response = await portico.api('POST', `${path}/preview`, body);
  expect(response.status).toBe(200);
  return response.json<Preview>();
}
async function make(path: string, body: object): Promise<string> {
  const response = await portico.api('POST', path, body);
  expect(response.status).toBe(201);
  return (await response.json<{ id: string }>()).id;
}
const statusOf = async (path: string, body: object, token?: string) =>
  (await portico.api('POST', `${path}/preview`, body, token === undefined ? {} : { token })).status;

/** What Ria sees in another isolate. */
async function toolsOfRia(query = ''): Promise<string[]> {
  const sent = { token: riaToken };
  const answer = await createPortico().api('GET', `/api/v1/tools${query}`, undefined, sent);
  const { servers } = await answer.json<{ servers: { tools: { name: string }[] }[] }>();
  return servers.flatMap(({ tools }) => tools.map(({ name }) => name)).toSorted();
}
const rows = async () => {
  const sql = `SELECT (SELECT count(*) FROM access_rules) AS rules, (SELECT count(*) FROM toolsets) AS toolsets,
    (SELECT count(*) FROM audit_events) AS events`;
  return env.DB.prepare(sql).first();
};

beforeAll(async () => {
  const readOnly = { annotations: { readOnlyHint: true } };
  const tools = [toolOf('get_note', readOnly), toolOf('list_notes', readOnly), toolOf('drop_note')];
  serve({ notes: new FakeServer({ tools }), other: new FakeServer() });
  await registerConnected(portico, 'notes');
  await registerConnected(portico, 'other');
  ria = await make('/api/v1/principals', { name: 'Ria', groups: ['readers'] });
  await make('/api/v1/principals', { name: 'Sam', groups: ['staff'] });
  riaToken = (await createToken(portico, { principal: ria })).token;
});

describe('a preview of a rule', () => {
  it('[ACC-3] shows who gains and loses what, and writes nothing', async () => {
    const before = await rows();
    const rule = { effect: 'deny', subject: readers, server: 'notes', tool: '*' };
    const found = await preview(RULES, { rule });
    expect(found).toMatchObject({ people: 1, examined: 1, changed: 1 });
    expect(found.groups[0]).toMatchObject({
      people: 1,
      principals: [{ id: ria, name: 'Ria' }],
      gained: 0,
      lost: 3,
    });
    expect(found.groups[0]?.tools).toContainEqual({
      server: 'notes',
      tool: 'drop_note',
      is_gained: false,
    });
    expect(await rows()).toEqual(before);
  });

  it('[ACC-3] matches what people then see, when it is created, edited and deleted', async () => {
    const whole = await toolsOfRia();
    const deny = { effect: 'deny', subject: { kind: 'everyone' } };
    const denied = await make(RULES, deny);
    const allow = { effect: 'allow', subject: readers, server: 'notes', read_only: true };
    const made = await preview(RULES, { rule: allow });
    const id = await make(RULES, allow);
    expect(await toolsOfRia()).toEqual(
      made.groups[0]?.tools.map(({ server, tool }) => `${server}.${tool}`).toSorted(),
    );
    const edited = { ...allow, tool: 'get_*' };
    expect((await preview(RULES, { rule: edited, replaces: id })).groups[0]).toMatchObject({
      gained: 0,
      lost: 1,
      tools: [{ server: 'notes', tool: 'list_notes', is_gained: false }],
    });
    expect((await preview(RULES, { replaces: id })).groups[0]).toMatchObject({ lost: 2 });
    const all = await preview(RULES, { replaces: denied });
    expect(all.changed).toBe(all.examined);
    const ofRia = all.groups.find(({ principals }) => principals.some(each => each.id === ria));
    expect(ofRia?.gained).toBe(whole.length - 2);
    for (const each of [id, denied]) await portico.api('DELETE', `${RULES}/${each}`);
    expect(await toolsOfRia()).toEqual(whole);
  });

  it('[ACC-3] covers a rule that moves from one group to another', async () => {
    const id = await make(RULES, { effect: 'deny', subject: readers, tool: 'drop_*' });
    const rule = { effect: 'deny', subject: { kind: 'group', name: 'staff' }, tool: 'drop_*' };
    const { people, groups } = await preview(RULES, { rule, replaces: id });
    expect(people).toBe(2);
    const byName = groups.map(({ principals, gained, lost }) => [
      principals[0]?.name,
      gained,
      lost,
    ]);
    expect(byName.toSorted()).toEqual([
      ['Ria', 1, 0],
      ['Sam', 0, 1],
    ]);
    await portico.api('DELETE', `${RULES}/${id}`);
  });

  it('[ACC-3] [SEC-6] is refused if it names nothing, and to all but administrators', async () => {
    const rule = { effect: 'deny', subject: readers };
    expect(await statusOf(RULES, {})).toBe(422);
    expect(await statusOf(RULES, { replaces: 'none' })).toBe(404);
    expect(await statusOf(RULES, { rule: { ...rule, server: 'nowhere' } })).toBe(422);
    const nobody = { kind: 'principal', id: 'nobody' };
    expect(await statusOf(RULES, { rule: { ...rule, subject: nobody } })).toBe(422);
    expect(await statusOf(RULES, { rule }, riaToken)).toBe(403);
    const scopes = ['admin'];
    const { token } = await createToken(portico, { scopes, servers: ['notes'] });
    expect(await statusOf(RULES, { rule }, token)).toBe(403);
  });
});

describe('a preview of a toolset', () => {
  it('[ACC-4] shows what it gains and loses, and who does', async () => {
    const before = await rows();
    const toolset = {
      name: 'reading',
      include: ['notes.*_note'],
      members: { groups: ['readers'] },
    };
    const made = await preview(TOOLSETS, { toolset });
    expect(made.selection).toEqual({
      gained: 2,
      lost: 0,
      tools: ['get_note', 'drop_note'].map(tool => ({ server: 'notes', tool, is_gained: true })),
    });
    expect(made.groups.flatMap(({ principals }) => principals)).toContainEqual({
      id: ria,
      name: 'Ria',
    });
    expect(
      made.groups.flatMap(({ principals }) => principals.map(({ name }) => name)),
    ).not.toContain('Sam');
    expect(await rows()).toEqual(before);
    const id = await make(TOOLSETS, toolset);
    expect(await toolsOfRia('?toolset=reading')).toEqual(['notes.drop_note', 'notes.get_note']);
    const narrower = { ...toolset, exclude: ['*.drop_*'] };
    const edited = await preview(TOOLSETS, { toolset: narrower, replaces: id });
    expect(edited.selection).toMatchObject({ gained: 0, lost: 1 });
    expect(edited.groups[0]).toMatchObject({
      lost: 1,
      tools: [{ server: 'notes', tool: 'drop_note', is_gained: false }],
    });
    const gone = await preview(TOOLSETS, { replaces: id });
    expect(gone.selection).toMatchObject({ gained: 0, lost: 2 });
    await portico.api('DELETE', `${TOOLSETS}/${id}`);
  });

  it('[ACC-4] [SEC-6] is refused for an invalid one, and to all but administrators', async () => {
    const toolset = { name: 'reading', include: ['notes'] };
    expect(await statusOf(TOOLSETS, {})).toBe(422);
    expect(await statusOf(TOOLSETS, { replaces: 'none' })).toBe(404);
    expect(await statusOf(TOOLSETS, { toolset: { ...toolset, include: ['nowhere.x'] } })).toBe(422);
    const members = { principals: ['nobody'] };
    expect(await statusOf(TOOLSETS, { toolset: { ...toolset, members } })).toBe(422);
    expect(await statusOf(TOOLSETS, { toolset }, riaToken)).toBe(403);
  });
});
