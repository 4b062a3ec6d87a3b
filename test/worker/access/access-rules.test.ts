/** Access rules over REST: created, found by subject and server, edited with a revision check, and applied at once. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
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

interface Rule {
  id: string;
  effect: string;
  subject: object;
  server: string;
  tool: string;
  read_only: boolean;
  description: string;
  revision: number;
}

const portico = createPortico();
const rules = createRecords<Rule>(portico, '/api/v1/access/rules');
const principals = createRecords<{ id: string }>(portico, '/api/v1/principals');
const EVERYONE = { kind: 'everyone' };
let forge: string;

beforeAll(async () => {
  forge = (await register(portico, 'forge', { auto_connect: false })).id;
});
afterEach(() => void vi.useRealTimers());

const storedServer = async (id: string) => {
  const row = env.DB.prepare('SELECT server FROM access_rules WHERE id = ?').bind(id);
  return (await row.first<{ server: string }>())?.server;
};

describe('a rule', () => {
  it('[ACC-3] is created, shown, edited and deleted', async () => {
    const response = await portico.api('POST', rules.path, { effect: 'deny', subject: EVERYONE });
    expect(response.status).toBe(201);
    const made = await response.json<Rule>();
    expect(made).toMatchObject({
      effect: 'deny',
      subject: EVERYONE,
      server: '*',
      tool: '*',
      read_only: false,
      description: '',
      revision: 1,
    });
    expect(response.headers.get('location')).toBe(`${rules.path}/${made.id}`);
    expect(response.headers.get('etag')).toBe('"r1"');
    expect(await rules.get(made.id)).toEqual(made);

    const subject = { kind: 'group', name: 'interns' };
    const patch = { subject, tool: 'delete_*', read_only: true, description: 'careful' };
    expect(await rules.edit(made.id, patch)).toMatchObject({
      ...patch,
      effect: 'deny',
      server: '*',
    });
    expect(await rules.edit(made.id, { effect: 'allow' })).toMatchObject({
      ...patch,
      effect: 'allow',
      revision: 3,
    });
    await rules.remove(made.id);
    for (const method of ['GET', 'DELETE', 'PATCH']) {
      const body = method === 'PATCH' ? {} : undefined;
      expect(await rules.refusal(method, `/${made.id}`, body)).toMatchObject({ status: 404 });
    }
  });

  it('[ACC-3] for one server keeps that server through renames, and shows its current name', async () => {
    const { id } = await rules.create({ effect: 'deny', subject: EVERYONE, server: 'FORGE' });
    expect(await storedServer(id)).toBe(forge);
    expect((await rules.get(id)).server).toBe('forge');
    const rename = (name: string) => portico.api('PATCH', `${SERVERS}/${forge}`, { name });
    await rename('foundry');
    expect((await rules.get(id)).server).toBe('foundry');
    await register(portico, 'forge', { auto_connect: false });
    const { rules: ofNew } = await rules.list('server=forge');
    expect((ofNew as Rule[]).map(rule => rule.id)).not.toContain(id);
    const { rules: ofOld } = await rules.list('server=foundry');
    expect((ofOld as Rule[]).map(rule => rule.id)).toContain(id);
    await rules.remove(id);
  });

  it('[ACC-3] for a deleted server shows its id, and can still be edited', async () => {
    const gone = await register(portico, 'leaving', { auto_connect: false });
    const { id } = await rules.create({ effect: 'allow', subject: EVERYONE, server: 'leaving' });
    await portico.api('DELETE', `${SERVERS}/${gone.id}`);
    expect((await rules.get(id)).server).toBe(gone.id);
    const edited = await rules.edit(id, { server: gone.id, description: 'still here' });
    expect(edited).toMatchObject({ server: gone.id, description: 'still here' });
    expect(await rules.refusal('PATCH', `/${id}`, { server: 'leaving' })).toMatchObject({
      fields: ['server'],
    });
    await rules.remove(id);
  });

  it('[ACC-3] is edited only at the revision that was read', async () => {
    const { id } = await rules.create({ effect: 'allow', subject: EVERYONE });
    const path = `${rules.path}/${id}`;
    const headers = { 'if-match': await etagOf(portico, path) };
    const first = await portico.api('PATCH', path, { tool: 'a' }, { headers });
    expect([first.status, first.headers.get('etag')]).toEqual([200, '"r2"']);
    expect(await rules.refusal('PATCH', `/${id}`, { tool: 'b' }, headers)).toEqual({
      status: 412,
      code: 'precondition_failed',
    });
    expect((await rules.get(id)).tool).toBe('a');
    await Promise.all(['x', 'y', 'z'].map(tool => rules.edit(id, { tool })));
    expect((await rules.get(id)).revision).toBe(5);
    await rules.remove(id);
  });

  it.each([
    [{ subject: EVERYONE }, ['effect']],
    [{ effect: 'maybe', subject: EVERYONE }, ['effect']],
    [{ effect: 'deny' }, ['subject']],
    [{ effect: 'deny', subject: { kind: 'robot' } }, ['subject.kind']],
    [{ effect: 'deny', subject: { kind: 'group', name: 'No Group' } }, ['subject.name']],
    [{ effect: 'deny', subject: { kind: 'everyone', name: 'x' } }, ['subject']],
    [{ effect: 'deny', subject: { kind: 'principal', id: 'nobody' } }, ['subject.id']],
    [{ effect: 'deny', subject: { kind: 'principal', id: 'setup-admin' } }, ['subject.id']],
    [{ effect: 'deny', subject: EVERYONE, server: 'nobody' }, ['server']],
    [
      { effect: 'deny', subject: { kind: 'principal', id: 'x' }, server: 'y' },
      ['server', 'subject.id'],
    ],
    [{ effect: 'deny', subject: EVERYONE, server: '' }, ['server']],
    [{ effect: 'deny', subject: EVERYONE, tool: '*'.repeat(9) }, ['tool']],
    [{ effect: 'deny', subject: EVERYONE, tool: 'x'.repeat(301) }, ['tool']],
    [{ effect: 'deny', subject: EVERYONE, read_only: 'yes' }, ['read_only']],
    [{ effect: 'deny', subject: EVERYONE, priority: 1 }, ['(body)']],
  ])(
    '[ACC-3] [REG-8] is refused if %j is invalid, and the response names the field',
    async (body, fields) => {
      const refusal = { status: 422, code: 'validation_failed', fields };
      expect(await rules.refusal('POST', '', body)).toEqual(refusal);
    },
  );

  it('[ACC-3] cannot be edited into an invalid one', async () => {
    const { id } = await rules.create({ effect: 'deny', subject: EVERYONE, server: 'none-*' });
    const patches = [
      { subject: { kind: 'principal', id: 'x' } },
      { server: 'nobody' },
      { effect: 1 },
    ];
    for (const patch of patches) {
      expect(await rules.refusal('PATCH', `/${id}`, patch)).toMatchObject({ status: 422 });
    }
    expect(await rules.get(id)).toMatchObject({ revision: 1, server: 'none-*' });
    await rules.remove(id);
  });

  it('[SEC-6] is recorded in the audit as it was, also when it is deleted', async () => {
    const { id } = await rules.create({ effect: 'deny', subject: EVERYONE, server: 'none-*' });
    await rules.edit(id, { tool: 'x' });
    await rules.remove(id);
    const audit = await portico.api('GET', `/api/v1/audit?subject=${id}`);
    expect(await audit.json()).toMatchObject({
      events: [
        { action: 'rule.delete', detail: { effect: 'deny', server: 'none-*', tool: 'x' } },
        { action: 'rule.update', detail: { tool: 'x' } },
        { action: 'rule.create', detail: { subject: EVERYONE, tool: '*', read_only: false } },
      ],
    });
  });
});

describe('rules', () => {
  it('[ACC-3] are found by subject and by the servers they match, page by page', async () => {
    const { id: ada } = await principals.create({ name: 'Ada' });
    await register(portico, 'list-one', { auto_connect: false });
    const make = (subject: object, server: string) =>
      rules.create({ effect: 'allow', subject, server });
    const made = [
      await make({ kind: 'principal', id: ada }, 'list-one'),
      await make({ kind: 'group', name: 'walkers' }, 'list-*'),
      await make({ kind: 'group', name: 'walkers' }, 'other-*'),
      await make(EVERYONE, 'LIST-*'),
    ].map(({ id }) => id);
    // Rules created at the same time are still paged without loss.
    await env.DB.exec("UPDATE access_rules SET created_at = 1 WHERE subject_kind = 'group'");
    const found = async (query: string) => {
      const pages = await Promise.all(
        [1, 500].map(n => rules.walk('rules', `limit=${n}&${query}`)),
      );
      expect(pages[0]).toEqual(pages[1]);
      const { total } = await rules.list(query);
      expect(total).toBe(pages[0]?.length);
      return made.map(id => pages[0]?.some(rule => rule.id === id));
    };
    expect(await found('')).toEqual([true, true, true, true]);
    expect(await found('subject_kind=group&subject=walkers')).toEqual([false, true, true, false]);
    expect(await found(`subject=${ada}`)).toEqual([true, false, false, false]);
    expect(await found('subject_kind=everyone')).toEqual([false, false, false, true]);
    expect(await found('server=list-one')).toEqual([true, true, false, true]);
    expect(await found('server=list-one&subject=walkers')).toEqual([false, true, false, false]);
    expect(await found('server=nobody')).toEqual([false, false, false, false]);
    const { next_cursor: cursor } = await rules.list('limit=1');
    for (const query of [
      `cursor=${String(cursor)}&server=list-one`,
      'subject_kind=x',
      'effect=deny',
    ]) {
      expect(await rules.refusal('GET', `?${query}`)).toMatchObject({ status: 422 });
    }
    for (const id of made) await rules.remove(id);
  });

  it('[ACC-3] are applied here at once, and elsewhere within a second', async () => {
    serve({ guarded: new FakeServer({ tools: [toolOf('read'), toolOf('drop')] }) });
    await registerConnected(portico, 'guarded');
    const { token } = await createToken(portico);
    const other = createPortico();
    const toolsAt = async (at: typeof portico) => {
      const answer = await (await at.post(legacy('tools/list'), { token })).json<RpcAnswer>();
      return answer.result?.tools?.map(({ name }) => name);
    };
    vi.useFakeTimers({ toFake: ['Date'] });
    expect(await toolsAt(other)).toEqual(['guarded.read', 'guarded.drop']);
    expect(await toolsAt(portico)).toEqual(['guarded.read', 'guarded.drop']);
    await Promise.all([other.settle(), portico.settle()]);
    const rule = await rules.create({
      effect: 'deny',
      subject: EVERYONE,
      server: 'guarded',
      tool: 'd*',
    });
    expect(await toolsAt(portico)).toEqual(['guarded.read']);
    vi.setSystemTime(Date.now() + 1001);
    expect(await toolsAt(other)).toEqual(['guarded.read']);
    await rules.remove(rule.id);
    expect(await toolsAt(portico)).toEqual(['guarded.read', 'guarded.drop']);
  });

  it('[ACC-3] [SEC-4] are 1,000 at most', async () => {
    const { n } = (await env.DB.prepare('SELECT count(*) AS n FROM access_rules').first<{
      n: number;
    }>()) ?? { n: 0 };
    const insert = env.DB.prepare(
      `INSERT INTO access_rules (id, effect, subject_kind, subject, server, tool, read_only, description, revision, created_at, updated_at)
       SELECT 'filler-' || value, 'allow', 'group', 'fillers', '*', '*', 0, '', 1, 0, 0 FROM json_each(?)`,
    );
    await insert.bind(JSON.stringify(Array.from({ length: 999 - n }, (_, i) => i))).run();
    const body = { effect: 'allow', subject: EVERYONE };
    const both = await Promise.all([0, 1].map(() => portico.api('POST', rules.path, body)));
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    expect(await rules.refusal('POST', '', body)).toEqual({ status: 409, code: 'conflict' });
    await env.DB.prepare("DELETE FROM access_rules WHERE subject = 'fillers'").run();
    expect((await portico.api('POST', rules.path, body)).status).toBe(201);
  });
});
