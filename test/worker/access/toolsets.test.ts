/** Toolsets over REST: created, found, edited with a revision check; one that gives two tools the same name is refused. */
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  createPortico,
  createToken,
  legacy,
  register,
  registerConnected,
  SERVERS,
  type RpcAnswer,
} from '../support/portico.ts';
import { createRecords, etagOf } from '../support/records.ts';

interface Toolset {
  id: string;
  name: string;
  path: string;
  description: string;
  include: string[];
  exclude: string[];
  overrides: { server: string; tool: string; name?: string; description?: string }[];
  name_style?: string;
  members?: { principals: string[]; groups: string[] };
  revision: number;
}

const portico = createPortico();
const toolsets = createRecords<Toolset>(portico, '/api/v1/toolsets');
const principals = createRecords<{ id: string }>(portico, '/api/v1/principals');
let forge: string;

beforeAll(async () => {
  forge = (await register(portico, 'forge', { auto_connect: false })).id;
});

const definitionOf = async (id: string) => {
  const row = env.DB.prepare('SELECT definition FROM toolsets WHERE id = ?').bind(id);
  return JSON.parse((await row.first<{ definition: string }>())?.definition ?? '') as unknown;
};

describe('a toolset', () => {
  it('[ACC-4] is created, shown with its path, edited and deleted', async () => {
    const { id: ada } = await principals.create({ name: 'Ada' });
    const overrides = [{ server: 'forge', tool: 'get_issue', name: 'issue', description: 'One' }];
    const body = {
      name: 'Triage',
      description: 'Reading issues',
      include: ['forge.get_*', '*.list_*'],
      exclude: ['Forge.get_secret'],
      overrides,
      name_style: 'underscore',
      members: { principals: [ada], groups: ['support'] },
    };
    const response = await portico.api('POST', toolsets.path, body);
    expect(response.status).toBe(201);
    const made = await response.json<Toolset>();
    const exclude = ['forge.get_secret'];
    expect(made).toMatchObject({ ...body, exclude, path: '/mcp/toolsets/Triage', revision: 1 });
    expect(response.headers.get('location')).toBe(`${toolsets.path}/${made.id}`);
    expect(response.headers.get('etag')).toBe('"r1"');
    expect(await toolsets.get(made.id)).toEqual(made);
    expect(await definitionOf(made.id)).toMatchObject({
      include: [`${forge}.get_*`, '*.list_*'],
      exclude: [`${forge}.get_secret`],
      overrides: [{ ...overrides[0], server: forge }],
    });

    const renamed = await toolsets.edit(made.id, { name: 'triage-2', description: '' });
    expect(renamed).toMatchObject({ ...body, exclude, name: 'triage-2', description: '' });
    expect(renamed.path).toBe('/mcp/toolsets/triage-2');
    const bare = await toolsets.edit(made.id, {
      include: ['*'],
      exclude: [],
      overrides: [],
      name_style: null,
      members: null,
    });
    expect(bare).toMatchObject({ include: ['*'], exclude: [], overrides: [], revision: 3 });
    expect(Object.keys(bare)).not.toContain('name_style');
    expect(Object.keys(bare)).not.toContain('members');
    await toolsets.remove(made.id);
    for (const method of ['GET', 'DELETE', 'PATCH']) {
      const patch = method === 'PATCH' ? {} : undefined;
      expect(await toolsets.refusal(method, `/${made.id}`, patch)).toMatchObject({ status: 404 });
    }
  });

  it('[ACC-4] keeps the servers it was defined with, through renames and after their deletion', async () => {
    const leaving = await register(portico, 'leaving', { auto_connect: false });
    const overrides = [{ server: 'leaving', tool: 'a', name: 'b' }];
    const { id } = await toolsets.create({ name: 'keeps', include: ['leaving.x'], overrides });
    await portico.api('PATCH', `${SERVERS}/${leaving.id}`, { name: 'left' });
    expect(await toolsets.get(id)).toMatchObject({
      include: ['left.x'],
      overrides: [{ server: 'left', tool: 'a', name: 'b' }],
    });
    await portico.api('DELETE', `${SERVERS}/${leaving.id}`);
    const { include, exclude, overrides: shown } = await toolsets.get(id);
    expect(include).toEqual([`${leaving.id}.x`]);
    const more = { include: [...include, 'forge'], exclude, overrides: shown };
    expect(await toolsets.edit(id, more)).toMatchObject(more);
    expect(await toolsets.edit(id, { description: 'x' })).toMatchObject(more);
    expect(await toolsets.refusal('PATCH', `/${id}`, { include: ['leaving.x'] })).toMatchObject({
      fields: ['include.0'],
    });
  });

  it('[ACC-4] in which two tools have one name, or one tool two, is refused with both fields', async () => {
    const include = ['*'];
    const one = { server: 'forge', tool: 'a', name: 'same' };
    const twin = { server: 'forge', tool: 'b', name: 'same' };
    const again = { server: forge, tool: 'a', name: 'else' };
    const refusal = (fields: string[]) => ({ status: 422, code: 'validation_failed', fields });
    const names = refusal(['overrides.0.name', 'overrides.1.name']);
    const tools = refusal(['overrides.0', 'overrides.1']);
    const make = (overrides: object[]) =>
      toolsets.refusal('POST', '', { name: 'clash', include, overrides });
    expect(await make([one, twin])).toEqual(names);
    expect(await make([one, again])).toEqual(tools);
    const cased = { ...twin, name: 'Same' };
    const { id } = await toolsets.create({ name: 'clash', include, overrides: [one, cased] });
    const edit = (overrides: object[]) => toolsets.refusal('PATCH', `/${id}`, { overrides });
    expect(await edit([one, twin])).toEqual(names);
    expect(await edit([one, again])).toEqual(tools);
    expect((await toolsets.get(id)).revision).toBe(1);
  });

  it.each([
    [{ include: ['*'] }, ['name']],
    [{ name: 'x' }, ['include']],
    [{ name: 'a.b', include: ['*'] }, ['name']],
    [{ name: 'x', include: [] }, ['include']],
    [{ name: 'x', include: ['nobody'], exclude: ['forge.'] }, ['include.0', 'exclude.0']],
    [{ name: 'x', include: ['*'.repeat(9)] }, ['include.0']],
    [
      { name: 'x', include: ['*'], overrides: [{ server: 'no', tool: 't' }] },
      ['overrides.0.server'],
    ],
    [
      { name: 'x', include: ['*'], overrides: [{ server: 'forge', tool: 't', name: 'a__b' }] },
      ['overrides.0.name'],
    ],
    [{ name: 'x', include: ['*'], name_style: 'slash' }, ['name_style']],
    [{ name: 'x', include: ['*'], members: { principals: ['nobody'] } }, ['members.principals']],
    [{ name: 'x', include: ['*'], members: { groups: ['NO'] } }, ['members.groups.0']],
    [{ name: 'x', include: ['*'], url: 'https://x' }, ['(body)']],
  ])(
    '[ACC-4] [REG-8] is refused if %j is invalid, and the response names each field',
    async (body, fields) => {
      const refusal = { status: 422, code: 'validation_failed', fields };
      expect(await toolsets.refusal('POST', '', body)).toEqual(refusal);
    },
  );

  it('[ACC-4] has a name that is unique regardless of case', async () => {
    const first = await toolsets.create({ name: 'Mine', include: ['*'] });
    const taken = { status: 409, code: 'conflict' };
    expect(await toolsets.refusal('POST', '', { name: 'mINE', include: ['*'] })).toEqual(taken);
    const second = await toolsets.create({ name: 'other', include: ['*'] });
    expect(await toolsets.refusal('PATCH', `/${second.id}`, { name: 'MINE' })).toEqual(taken);
    expect((await toolsets.edit(first.id, { name: 'mine' })).name).toBe('mine');
    const body = { name: 'raced', include: ['*'] };
    const raced = await Promise.all([0, 1, 2].map(() => portico.api('POST', toolsets.path, body)));
    expect(raced.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
  });

  it('[ACC-4] is edited only at the revision that was read', async () => {
    const { id } = await toolsets.create({ name: 'revised', include: ['*'] });
    const path = `${toolsets.path}/${id}`;
    const headers = { 'if-match': await etagOf(portico, path) };
    const first = await portico.api('PATCH', path, { description: '1' }, { headers });
    expect([first.status, first.headers.get('etag')]).toEqual([200, '"r2"']);
    expect(await toolsets.refusal('PATCH', `/${id}`, { description: '2' }, headers)).toEqual({
      status: 412,
      code: 'precondition_failed',
    });
    const edits = [{ include: ['a*'] }, { exclude: ['b*'] }, { description: 'c' }];
    await Promise.all(edits.map(patch => toolsets.edit(id, patch)));
    const after = { include: ['a*'], exclude: ['b*'], description: 'c', revision: 5 };
    expect(await toolsets.get(id)).toMatchObject(after);
  });
});

describe('toolsets', () => {
  it('[ACC-4] are listed by name, page by page', async () => {
    const names = ['walk-b', 'Walk-a', 'walk-C', 'WALK-d'];
    for (const name of names) await toolsets.create({ name, include: ['*'] });
    for (const limit of [1, 3, 4, 500]) {
      const found = await toolsets.walk('toolsets', `limit=${limit}&name=wALK`);
      expect(found.map(({ name }) => name)).toEqual(['Walk-a', 'walk-b', 'walk-C', 'WALK-d']);
    }
    expect(await toolsets.list('name=walk&limit=1')).toMatchObject({ total: 4 });
    expect(await toolsets.refusal('GET', '?cursor=x')).toMatchObject({ status: 422 });
  });

  it('[ACC-3] [ACC-4] that are deleted leave a token limited to them with nothing, at once', async () => {
    serve({ shelf: new FakeServer({ tools: [toolOf('get_book'), toolOf('burn_book')] }) });
    await registerConnected(portico, 'shelf');
    const set = await toolsets.create({ name: 'library', include: ['shelf.get_*'] });
    const { token } = await createToken(portico, { toolsets: ['library'] });
    const listed = async () => {
      const answer = await (await portico.post(legacy('tools/list'), { token })).json<RpcAnswer>();
      return answer.result?.tools?.map(({ name }) => name);
    };
    expect(await listed()).toEqual(['shelf.get_book']);
    await toolsets.edit(set.id, { include: ['shelf.*'] });
    expect(await listed()).toEqual(['shelf.get_book', 'shelf.burn_book']);
    await toolsets.remove(set.id);
    expect(await listed()).toEqual([]);
    await toolsets.create({ name: 'library', include: ['*'] });
    expect(await listed()).toEqual([]);
  });

  it('[ACC-4] [SEC-4] are 500 at most', async () => {
    const definition = JSON.stringify({ include: ['*'] });
    const { total } = await toolsets.list('limit=1');
    const insert = env.DB.prepare(
      `INSERT INTO toolsets (id, name, description, definition, revision, created_at, updated_at)
       SELECT 'filler-' || value, 'filler-' || value, '', ?, 1, 0, 0 FROM json_each(?)`,
    );
    const fillers = Array.from({ length: 499 - Number(total) }, (_, i) => i);
    await insert.bind(definition, JSON.stringify(fillers)).run();
    const make = (name: string) => portico.api('POST', toolsets.path, { name, include: ['*'] });
    const both = await Promise.all(['last-a', 'last-b'].map(make));
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    expect((await toolsets.edit('filler-0', { description: 'full' })).revision).toBe(2);
  });

  it('[ACC-4] [SEC-4] are bounded in size, each and together', async () => {
    await env.DB.prepare("DELETE FROM toolsets WHERE id LIKE 'filler-%'").run();
    const overrides = Array.from({ length: 40 }, (_, i) => ({
      server: 'forge',
      tool: `tool-${i}`,
      description: 'x'.repeat(4_000),
    }));
    const include = ['*'];
    const refusal = await toolsets.refusal('POST', '', { name: 'huge', include, overrides });
    expect(refusal).toEqual({ status: 422, code: 'validation_failed', fields: ['(body)'] });
    const large = { include, overrides: overrides.slice(0, 30) };
    const insert = env.DB.prepare(
      `INSERT INTO toolsets (id, name, description, definition, revision, created_at, updated_at)
       SELECT 'large-' || value, 'large-' || value, '', ?, 1, 0, 0 FROM json_each(?)`,
    );
    const many = JSON.stringify(Array.from({ length: 32 }, (_, i) => i));
    await insert.bind(JSON.stringify({ ...large, exclude: [] }), many).run();
    const made = [];
    for (let i = 0; i < 4; i += 1) {
      const response = await portico.api('POST', toolsets.path, { name: `more-${i}`, ...large });
      made.push(response.status);
    }
    expect(made).toEqual([201, 201, 409, 409]);
    const small = await toolsets.create({ name: 'small', include });
    const grown = await toolsets.refusal('PATCH', `/${small.id}`, { overrides: large.overrides });
    expect(grown).toEqual({ status: 409, code: 'conflict' });
    expect((await toolsets.edit(small.id, { exclude: ['x*'] })).revision).toBe(2);
  });
});
