/** Principals and groups over REST: created, found, edited with a revision check, and deleted with their tokens. */
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ADMIN, createPortico, createToken, legacy, SERVERS } from '../support/portico.ts';
import { createRecords, etagOf } from '../support/records.ts';

interface Principal {
  id: string;
  name: string;
  groups: string[];
  scopes: string[] | null;
  tokens: number;
  revision: number;
  created_at: string;
  updated_at: string;
}

const portico = createPortico();
const principals = createRecords<Principal>(portico, '/api/v1/principals');
const rules = createRecords<{ id: string }>(portico, '/api/v1/access/rules');

afterEach(() => void vi.useRealTimers());

/** Statuses that a token gets at another isolate: list servers, list tools, create a principal. */
async function mayDo(token: string): Promise<number[]> {
  const other = createPortico();
  const statuses = [
    await other.api('GET', SERVERS, undefined, { token }),
    await other.api('GET', '/api/v1/tools', undefined, { token }),
    await other.api('POST', '/api/v1/principals', { name: crypto.randomUUID() }, { token }),
  ].map(({ status }) => status);
  return statuses;
}

describe('a principal', () => {
  it('[ACC-2] is created, shown, edited and deleted', async () => {
    const response = await portico.api('POST', principals.path, {
      name: ' Ada ',
      groups: ['on-call', 'engineering', 'on-call'],
    });
    expect(response.status).toBe(201);
    const ada = await response.json<Principal>();
    expect(ada).toMatchObject({
      name: 'Ada',
      groups: ['engineering', 'on-call'],
      scopes: null,
      tokens: 0,
      revision: 1,
    });
    expect(response.headers.get('location')).toBe(`${principals.path}/${ada.id}`);
    expect(response.headers.get('etag')).toBe('"r1"');
    expect(await principals.get(ada.id)).toEqual(ada);

    await createToken(portico, { principal: ada.id });
    const edited = await principals.edit(ada.id, { groups: [], scopes: ['tools:read'] });
    expect(edited).toMatchObject({ name: 'Ada', groups: [], tokens: 1, revision: 2 });
    expect(edited.scopes).toEqual(['tools:read']);
    expect((await principals.edit(ada.id, { name: 'Ada L.' })).scopes).toEqual(['tools:read']);
    expect((await principals.edit(ada.id, { scopes: null })).scopes).toBeNull();

    await principals.remove(ada.id);
    expect(await principals.refusal('GET', `/${ada.id}`)).toMatchObject({ code: 'not_found' });
    expect(await principals.refusal('DELETE', `/${ada.id}`)).toMatchObject({ status: 404 });
    expect(await principals.refusal('PATCH', `/${ada.id}`, {})).toMatchObject({ status: 404 });
  });

  it('[ACC-2] is edited only at the revision that was read, so nobody overwrites another', async () => {
    const { id } = await principals.create({ name: 'edited' });
    const path = `${principals.path}/${id}`;
    const headers = { 'if-match': await etagOf(portico, path) };
    const first = await portico.api('PATCH', path, { name: 'first' }, { headers });
    expect([first.status, first.headers.get('etag')]).toEqual([200, '"r2"']);
    expect(await principals.refusal('PATCH', `/${id}`, { name: 'second' }, headers)).toEqual({
      status: 412,
      code: 'precondition_failed',
    });
    expect(await principals.refusal('PATCH', `/${id}`, {}, { 'if-match': 'r2' })).toMatchObject({
      status: 412,
    });
    const names = ['a', 'b', 'c'];
    await Promise.all(names.map(group => principals.edit(id, { groups: [group] })));
    expect(await principals.get(id)).toMatchObject({ name: 'first', revision: 5 });
  });

  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 'x', groups: ['No Group'] }, 'groups.0'],
    [{ name: 'x', groups: Array.from({ length: 101 }, (_, i) => `g${i}`) }, 'groups'],
    [{ name: 'x', scopes: ['root'] }, 'scopes.0'],
    [{ name: 'x', id: 'mine' }, '(body)'],
  ])(
    '[ACC-2] [REG-8] is refused if %j is invalid, and the response names the field',
    async (body, field) => {
      const refusal = { status: 422, code: 'validation_failed', fields: [field] };
      expect(await principals.refusal('POST', '', body)).toEqual(refusal);
    },
  );

  it('[ACC-2] is found by a part of its name and by its group, page by page', async () => {
    for (let i = 0; i < 12; i += 1) {
      const groups = i % 3 === 0 ? ['thirds', 'all-of-them'] : ['all-of-them'];
      await principals.create({ name: `Walker ${String(i).padStart(2, '0')}`, groups });
    }
    for (const limit of [1, 5, 12, 500]) {
      const found = await principals.walk('principals', `limit=${limit}&name=wALKER`);
      expect(found.map(({ name }) => name).toSorted()).toEqual(
        Array.from({ length: 12 }, (_, i) => `Walker ${String(i).padStart(2, '0')}`),
      );
    }
    const { principals: thirds, total } = await principals.list('group=thirds&limit=3');
    expect([thirds, total]).toEqual([expect.objectContaining({ length: 3 }), 4]);
    expect(await principals.list('group=third')).toMatchObject({ principals: [], total: 0 });
    expect(await principals.list('name=%25')).toMatchObject({ principals: [], total: 0 });
    const { next_cursor: cursor } = await principals.list('group=thirds&limit=3');
    for (const query of [`cursor=${String(cursor)}`, 'limit=0', 'group=No', 'page=2']) {
      expect(await principals.refusal('GET', `?${query}`)).toMatchObject({ status: 422 });
    }
  });

  it('[ACC-2] with only a token is listed under the name of the token', async () => {
    const { id } = await createToken(portico, { name: 'laptop of Grace' });
    const [found] = await principals.walk('principals', 'name=laptop of Grace');
    expect(found).toMatchObject({ groups: [], scopes: null, tokens: 1 });
    const tokens = await portico.api('GET', `/api/v1/tokens?principal=${found?.id}`);
    expect(await tokens.json()).toMatchObject({ tokens: [{ id, principal: found?.id }], total: 1 });
  });
});

describe('the scopes of a principal', () => {
  it('[ACC-2] bound what its tokens may do, from the next request at another isolate on', async () => {
    const { id } = await principals.create({ name: 'bounded', scopes: ['admin'] });
    const scopes = ['admin', 'servers:read', 'tools:read'];
    const { token } = await createToken(portico, { principal: id, scopes });
    expect(await mayDo(token)).toEqual([200, 200, 201]);
    await principals.edit(id, { scopes: ['servers:read'] });
    expect(await mayDo(token)).toEqual([200, 403, 403]);
    await principals.edit(id, { scopes: ['secrets:write'] });
    expect(await mayDo(token)).toEqual([403, 403, 403]);
    await principals.edit(id, { scopes: [] });
    expect(await mayDo(token)).toEqual([403, 403, 403]);
    await principals.edit(id, { scopes: null });
    expect(await mayDo(token)).toEqual([200, 200, 201]);
  });

  it('[ACC-2] apply within a second at another isolate that cached the token', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const other = createPortico();
    const { id } = await principals.create({ name: 'narrowed soon' });
    const { token } = await createToken(portico, { principal: id, scopes: ['servers:read'] });
    const list = async () => (await other.api('GET', SERVERS, undefined, { token })).status;
    expect(await list()).toBe(200);
    await other.settle();
    await principals.edit(id, { scopes: [] });
    vi.setSystemTime(Date.now() + 1001);
    expect(await list()).toBe(403);
  });

  it('[ACC-2] apply at once in the isolate that changed them', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { id } = await principals.create({ name: 'narrowed now', groups: ['kept'] });
    const { token } = await createToken(portico, { principal: id, scopes: ['servers:read'] });
    const list = async () => (await portico.api('GET', SERVERS, undefined, { token })).status;
    expect(await list()).toBe(200);
    const edited = await principals.edit(id, { scopes: [] });
    expect(await list()).toBe(403);
    // A field that an edit does not name keeps its value.
    expect([edited.groups, edited.name]).toEqual([['kept'], 'narrowed now']);
    await principals.edit(id, { scopes: null });
    expect(await list()).toBe(200);
    await principals.remove(id);
    expect(await list()).toBe(401);
  });

  it('[ACC-2] give a token no scope that it was created without', async () => {
    const { id } = await principals.create({ name: 'wide', scopes: ['admin', 'servers:read'] });
    const { token } = await createToken(portico, { principal: id, scopes: ['tools:read'] });
    expect(await mayDo(token)).toEqual([403, 200, 403]);
  });
});

describe('the deletion of a principal', () => {
  it('[ACC-1] [ACC-2] deletes all its tokens and rules, in one write', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const other = createPortico();
    const { id } = await principals.create({ name: 'leaving' });
    const tokens = [
      await createToken(portico, { principal: id }),
      await createToken(portico, { principal: id }),
    ];
    const subject = { kind: 'principal', id };
    const rule = await rules.create({ effect: 'deny', subject });
    const ping = ({ token }: { token: string }) => other.post(legacy('ping'), { token });
    for (const token of tokens) expect((await ping(token)).status).toBe(200);
    await other.settle();
    await principals.remove(id);
    vi.setSystemTime(Date.now() + 1001);
    for (const token of tokens) expect((await ping(token)).status).toBe(401);
    for (const token of tokens) {
      expect((await portico.api('GET', `/api/v1/tokens/${token.id}`)).status).toBe(404);
    }
    expect(await rules.refusal('GET', `/${rule.id}`)).toMatchObject({ code: 'not_found' });
    expect(await rules.refusal('POST', '', { effect: 'deny', subject })).toMatchObject({
      status: 422,
      fields: ['subject.id'],
    });
  });

  it('[SEC-6] is recorded in the audit with its name and the number of deleted tokens', async () => {
    const { id } = await principals.create({ name: 'audited' });
    const { token } = await createToken(portico, { principal: id });
    await principals.edit(id, { groups: ['x'] });
    await principals.remove(id);
    const response = await portico.api('GET', `/api/v1/audit?subject=${id}`);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({
      events: [
        { action: 'principal.delete', outcome: 'done', detail: { name: 'audited', tokens: 1 } },
        { action: 'principal.update', outcome: 'done', detail: { groups: ['x'] } },
        { action: 'principal.create', outcome: 'done', detail: { name: 'audited' } },
      ],
    });
    expect(text).not.toContain(token);
  });
});

describe('groups', () => {
  it('[ACC-2] are listed with their counts while members or rules name them', async () => {
    const names = ['zeta', 'yota', 'xeno'];
    const first = await principals.create({ name: 'm1', groups: ['zeta', 'yota'] });
    await principals.create({ name: 'm2', groups: ['zeta'] });
    await rules.create({ effect: 'allow', subject: { kind: 'group', name: 'zeta' } });
    await rules.create({ effect: 'allow', subject: { kind: 'group', name: 'xeno' } });
    const list = async () => {
      const all = [];
      for (let query = 'limit=2'; query !== '';) {
        const response = await portico.api('GET', `/api/v1/groups?${query}`);
        const page = await response.json<{ groups: { name: string }[]; next_cursor?: string }>();
        all.push(...page.groups);
        query = page.next_cursor === undefined ? '' : `limit=2&cursor=${page.next_cursor}`;
      }
      expect(all.map(({ name }) => name)).toEqual(all.map(({ name }) => name).toSorted());
      return all.filter(({ name }) => names.includes(name));
    };
    expect(await list()).toEqual([
      { name: 'xeno', members: 0, rules: 1 },
      { name: 'yota', members: 1, rules: 0 },
      { name: 'zeta', members: 2, rules: 1 },
    ]);
    await principals.edit(first.id, { groups: [] });
    expect(await list()).toEqual([
      { name: 'xeno', members: 0, rules: 1 },
      { name: 'zeta', members: 1, rules: 1 },
    ]);
  });

  it('[ACC-2] and principals are shown to administrators only', async () => {
    const scopes = ['tools:read', 'servers:read', 'servers:write', 'secrets:write'];
    const { token } = await createToken(portico, { scopes });
    const paths = ['/groups', '/principals', '/access/rules', '/toolsets'];
    for (const path of paths.flatMap(each => [each, `${each}/x`])) {
      if (path === '/groups/x') continue;
      const asked = await portico.api('GET', `/api/v1${path}`, undefined, { token });
      expect([path, asked.status]).toEqual([path, 403]);
    }
    const tokens = await portico.api('GET', '/api/v1/tokens', undefined, { token });
    expect(await tokens.json()).toMatchObject({ total: 1 });
    const { results } = await env.DB.prepare(
      "SELECT * FROM principals WHERE id = 'setup-admin'",
    ).all();
    expect(results).toEqual([]);
    const own = await portico.api('GET', '/api/v1/groups', undefined, { token: ADMIN });
    expect(own.status).toBe(200);
  });
});
