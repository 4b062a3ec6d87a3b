/**
 * A definition that a server does not list to a person's account does not exist for that person, in lists and in calls; for others it does.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { FORMATS } from '../../../src/models/formats/dialect.ts';
import { openListen } from '../support/event-streams.ts';
import type { Person } from '../support/call-rows.ts';
import { pass } from '../support/clock.ts';
import {
  ALL,
  KINDS,
  NAMES,
  tokenOf,
  useOwnCatalogs,
  type ListMethod,
} from '../support/own-catalogs.ts';
import { PATIENT, SERVERS, whenServer } from '../support/portico.ts';

const { portico, people, ids, connect, rpc, keysOf, whenListed, whenRead } = useOwnCatalogs();
const { ada, bob } = people;
const FEWER: Record<ListMethod, readonly string[]> = {
  'tools/list': ['read', 'write'],
  'prompts/list': ['greet'],
  'resources/list': ['note://1'],
  'resources/templates/list': ['note://{id}'],
};
const ERAS = ['legacy', 'modern'] as const;

/** Connects both accounts; the server lists less to Bob's. */
async function withFewer(name: (typeof NAMES)[number]): Promise<void> {
  KINDS[name].own.set('of-bob', FEWER);
  await connect(ada, name, 'of-ada');
  await connect(bob, name, 'of-bob');
  await whenRead(ada, name);
  await whenRead(bob, name);
  await whenListed(bob, name, FEWER['tools/list']);
}

/** The text of an answer, without the requested name. */
const said = (answer: unknown, name: string) => JSON.stringify(answer).replaceAll(name, 'NAME');

describe.each(NAMES)('a server with accounts: %s', name => {
  it("[UP-4] [ACC-8] [MCP-8] lists of each kind what it lists to the caller's account", async () => {
    await withFewer(name);
    for (const era of ERAS) {
      for (const method of Object.keys(ALL) as ListMethod[]) {
        const told = [await keysOf(ada, name, method, era), await keysOf(bob, name, method, era)];
        expect([era, method, ...told]).toEqual([
          era,
          method,
          ALL[method].toSorted(),
          FEWER[method],
        ]);
      }
    }
  });

  it('[UP-4] [ACC-8] [ACC-3] answers a call of a missing name like one of an unknown name, without an upstream request', async () => {
    await withFewer(name);
    const calls = [
      ['tools/call', (tool: string) => ({ name: tool, arguments: {} }), 'drop', 'nope'],
      ['prompts/get', (prompt: string) => ({ name: prompt }), 'sack', 'nope'],
    ] as const;
    for (const era of ERAS) {
      for (const [method, paramsOf, hidden, unknown] of calls) {
        for (const [path, prefix] of [
          ['/mcp', `${name}.`],
          [`/mcp/servers/${name}`, ''],
        ] as const) {
          const answers = [hidden, unknown].map(async key => {
            const answer = await rpc(bob, method, paramsOf(prefix + key), era, path);
            return said(answer, prefix + key);
          });
          const [lacking, never] = await Promise.all(answers);
          expect([era, path, lacking]).toEqual([era, path, never]);
          expect(lacking).toMatch(/not found/i);
        }
      }
    }
    expect(KINDS[name].of('tools/call').concat(KINDS[name].of('prompts/get'))).toEqual([]);
    const allowed = await rpc(ada, 'tools/call', { name: `${name}.drop`, arguments: {} });
    expect([allowed.result?.isError, KINDS[name].of('tools/call').map(tokenOf)]).toEqual([
      undefined,
      ['of-ada'],
    ]);
  });
});

it('[UP-4] [ACC-8] [FIND-1] [LLM-1] a missing tool is in no REST list, model format, search or toolset', async () => {
  await withFewer('modern');
  const body = { name: 'all-of-it', include: ['modern.*'] };
  const set = await portico.api('POST', '/api/v1/toolsets', body);
  expect(set.status).toBe(201);
  const paths = [
    '/api/v1/tools',
    '/api/v1/tools?toolset=all-of-it',
    ...FORMATS.map(format => `/api/v1/tools?format=${format}`),
  ];
  for (const path of paths) {
    const texts = [ada, bob].map(async ({ token }) =>
      (await portico.api('GET', path, undefined, { token })).text(),
    );
    const [all = '', fewer = ''] = await Promise.all(texts);
    expect([path, ...[all, fewer].map(text => /modern(?:\.|__)drop/.test(text))]).toEqual([
      path,
      true,
      false,
    ]);
  }
  const find = async ({ token }: typeof ada) => {
    const query = { query: 'does drop', server_filter: ['modern'] };
    const answer = await portico.api('POST', '/api/v1/search', query, { token });
    return answer.json<{ tools: { name: string }[]; metadata: object }>();
  };
  const [all, fewer] = [await find(ada), await find(bob)];
  expect(all.tools[0]?.name).toBe('modern.drop');
  expect(fewer.tools.map(({ name }) => name)).not.toContain('modern.drop');
  expect([all.metadata, fewer.metadata]).toMatchObject([
    { total_tools_searched: 3 },
    { total_tools_searched: 2 },
  ]);
  const listed = await rpc(bob, 'tools/list', {}, 'modern', '/mcp/toolsets/all-of-it');
  expect(listed.result?.tools?.map(({ name }) => name)).toEqual(['modern.read', 'modern.write']);
  const called = ['drop', 'nope'].map(async tool => {
    const call = { name: `modern.${tool}`, arguments: {} };
    const answer = await portico.api('POST', '/api/v1/tools/call', call, { token: bob.token });
    return [answer.status, said(await answer.json(), tool)];
  });
  const [lacking, never] = await Promise.all(called);
  expect(lacking).toEqual(never);
  expect(lacking?.[0]).toBe(404);
});

const explain = async ({ principalId: principal }: Person, tool: string) => {
  const question = { principal, server: 'modern', tool };
  const answer = await portico.api('POST', '/api/v1/access/explain', question);
  return answer.json<object>();
};

it('[UP-4] [ACC-8] [ACC-3] an explanation says that the principal in question has no account', async () => {
  await connect(ada, 'modern', 'of-ada');
  expect(await explain(bob, 'read')).toMatchObject({
    is_allowed: false,
    is_listed: true,
    code: 'account_required',
    decided_by: 'account',
  });
  expect(await explain(ada, 'read')).toMatchObject({ is_allowed: true, code: null });
});

it('[UP-4] [ACC-8] [ACC-3] an explanation says that the account of the principal in question lacks it', async () => {
  await withFewer('modern');
  expect(await explain(bob, 'drop')).toMatchObject({
    is_allowed: false,
    is_listed: false,
    code: 'tool_not_found',
    decided_by: 'account',
  });
  for (const [whose, tool] of [
    [ada, 'drop'],
    [bob, 'read'],
  ] as const) {
    const found = await explain(whose, tool);
    expect(found).toMatchObject({ is_allowed: true, is_listed: true, code: null });
  }
});

it('[UP-4] [ACC-8] definitions beyond the shared catalog are shown to nobody', async () => {
  KINDS.modern.own.set('of-bob', { 'tools/list': ['read', 'write', 'extra'] });
  await connect(bob, 'modern', 'of-bob');
  expect((await whenRead(bob, 'modern')).own_lists).toBe('{"tools":{"lacks":["drop"]}}');
  await whenListed(bob, 'modern', ['read', 'write']);
  const answer = await rpc(bob, 'tools/call', { name: 'modern.extra', arguments: {} });
  expect(answer.error?.message).toMatch(/not found/i);
});

it('[UP-4] [ACC-8] [MCP-6] open streams of the person are notified when the account turns out to lack something, others’ are not', async () => {
  await connect(ada, 'modern', 'of-ada');
  await connect(bob, 'modern', 'of-bob');
  await whenRead(ada, 'modern');
  await whenRead(bob, 'modern');
  await whenListed(bob, 'modern', ALL['tools/list']);
  const streams = await Promise.all(
    [ada, bob].map(({ token }) => openListen(portico, { toolsListChanged: true }, { token })),
  );
  KINDS.modern.own.set('of-bob', FEWER);
  await env.DB.prepare('UPDATE accounts SET own_lists_of = NULL').run();
  await vi.waitFor(async () => {
    await keysOf(bob, 'modern');
    expect(KINDS.modern.by('of-bob', 'tools/list')).toHaveLength(2);
  }, PATIENT);
  const told = await streams[1]?.until(2);
  expect(told?.[1]?.method).toBe('notifications/tools/list_changed');
  expect(await keysOf(bob, 'modern')).toEqual(FEWER['tools/list']);
  expect(streams[0]?.messages()).toHaveLength(1);
  for (const stream of streams) await stream.close();
});

it('[UP-4] [ACC-8] a reconnected account keeps its lists until they are read again', async () => {
  const held = Promise.withResolvers<void>();
  await withFewer('modern');
  KINDS.modern.own.clear();
  KINDS.modern.before = post => (tokenOf(post) === 'newer-of-bob' ? held.promise : undefined);
  await connect(bob, 'modern', 'newer-of-bob');
  await vi.waitFor(
    () => expect(KINDS.modern.by('newer-of-bob', 'tools/list')).toHaveLength(1),
    PATIENT,
  );
  expect(await keysOf(bob, 'modern')).toEqual(FEWER['tools/list']);
  held.resolve();
  await whenListed(bob, 'modern', ALL['tools/list']);
});

it('[UP-4] [ACC-8] another catalog is compared again when the owner lists, and newly granted tools reappear', async () => {
  await withFewer('modern');
  KINDS.modern.shared.set('tools/list', [...ALL['tools/list'], 'fresh']);
  await portico.api('POST', `${SERVERS}/${ids.modern}/refresh`);
  await whenServer(portico, ids.modern, ({ tool_count: tools }) => tools === 4);
  await whenListed(bob, 'modern', ['read', 'write']);
  expect((await whenRead(bob, 'modern')).own_lists).toContain('{"lacks":["drop","fresh"]}');
  await whenListed(ada, 'modern', ['drop', 'fresh', 'read', 'write']);
  KINDS.modern.own.clear();
  pass(16 * 60_000);
  await whenListed(bob, 'modern', ['drop', 'fresh', 'read', 'write']);
  vi.useRealTimers();
  KINDS.modern.shared.set('tools/list', ALL['tools/list']);
  await portico.api('POST', `${SERVERS}/${ids.modern}/refresh`);
  await whenServer(portico, ids.modern, ({ tool_count: tools }) => tools === 3);
});

it('[UP-4] [ACC-8] a failed read changes nothing, is followed by a pause, and delays no list', async () => {
  await withFewer('plain');
  KINDS.plain.own.clear();
  KINDS.plain.before = post =>
    tokenOf(post) === 'of-bob' ? new Response('no', { status: 500 }) : undefined;
  pass(16 * 60_000);
  const tried = KINDS.plain.by('of-bob', 'tools/list').length;
  expect(await keysOf(bob, 'plain')).toEqual(FEWER['tools/list']);
  await vi.waitFor(() => {
    expect(KINDS.plain.by('of-bob', 'tools/list').length).toBeGreaterThan(tried);
  }, PATIENT);
  for (let i = 0; i < 5; i++) expect(await keysOf(bob, 'plain')).toEqual(FEWER['tools/list']);
  expect(KINDS.plain.by('of-bob', 'tools/list')).toHaveLength(tried + 1);
  KINDS.plain.before = undefined;
  pass(60_000);
  await whenListed(bob, 'plain', ALL['tools/list']);
});

it('[UP-4] [ACC-8] fresh lists are not read again, and each read writes one row at most', async () => {
  await withFewer('sessions');
  const row = () =>
    env.DB.prepare('SELECT own_lists_at FROM accounts WHERE principal_id = ?')
      .bind(bob.principalId)
      .first();
  const [read, before] = [KINDS.sessions.by('of-bob', 'tools/list').length, await row()];
  for (let i = 0; i < 10; i++) await keysOf(bob, 'sessions');
  expect(KINDS.sessions.by('of-bob', 'tools/list')).toHaveLength(read);
  expect(await row()).toEqual(before);
  // The session opened for the read is ended.
  const [{ session } = { session: null }] = KINDS.sessions.by('of-bob', 'tools/list');
  expect(session).toMatch(/^upstream-/);
  await vi.waitFor(() => expect(KINDS.sessions.ended).toContain(session), PATIENT);
});

it('[UP-4] [ACC-8] lists read with a former credential are not stored for the current account', async () => {
  const held = Promise.withResolvers<void>();
  KINDS.modern.own.set('of-carl', { 'tools/list': [] });
  KINDS.modern.before = post => (tokenOf(post) === 'of-carl' ? held.promise : undefined);
  await connect(bob, 'modern', 'of-carl');
  await vi.waitFor(() => expect(KINDS.modern.by('of-carl', 'tools/list')).toHaveLength(1), PATIENT);
  KINDS.modern.own.set('of-bob', FEWER);
  await connect(bob, 'modern', 'of-bob');
  expect(KINDS.modern.by('of-bob', 'tools/list')).toHaveLength(0);
  held.resolve();
  const { own_lists: lists } = await whenRead(bob, 'modern');
  expect(lists).toContain('"tools":{"lacks":["drop"]}');
  await whenListed(bob, 'modern', FEWER['tools/list']);
});
