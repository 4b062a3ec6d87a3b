/** Learning from use: calls after a search reorder later ones, for callers who may see them, and nothing else. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPerson, type Person } from '../support/call-rows.ts';
import { FakeServer, resultOf, serve, toolOf } from '../support/fake-server.ts';
import {
  ask,
  createPortico,
  PATIENT,
  registerConnected,
  SERVERS,
  TRUSTED,
  whenServer,
  WHOLE,
  type Portico,
  type RpcAnswer,
  type ServerView,
} from '../support/portico.ts';
import { createRemote } from '../support/remote.ts';

const ERAS = ['legacy', 'modern'] as const;
const ON = { PORTICO_LEARN_FROM_USE: 'on', PORTICO_AUDIT_GATHER_MS: '1' };
const QUERY = 'create an issue';
const tool = (more: object = {}) =>
  toolOf('create_issue', { description: 'Creates an issue', ...more });
const first = new FakeServer({ era: 'legacy', tools: [tool()] });
const second = new FakeServer({ era: 'modern', tools: [tool()] });
const other = new FakeServer({ tools: [toolOf('boil_egg', { description: 'Boils an egg' })] });
const [A, B] = ['desk-a.create_issue', 'desk-b.create_issue'];
const portico = createPortico();
let secondServer: ServerView;

const serveAll = () => serve({ 'desk-a': first, 'desk-b': second, kitchen: other });
beforeAll(async () => {
  serveAll();
  await registerConnected(portico, 'desk-a');
  secondServer = await registerConnected(portico, 'desk-b', TRUSTED);
  await registerConnected(portico, 'kitchen');
});
beforeEach(() => void serveAll());
afterEach(async () => {
  vi.restoreAllMocks();
  await env.DB.prepare('DELETE FROM learned_uses').run();
});

interface Hit {
  name: string;
  score: number;
}
async function search(through: Portico, { token }: Person, query = QUERY): Promise<Hit[]> {
  const response = await through.api('POST', '/api/v1/search', { query }, { token });
  return (await response.json<{ tools: Hit[] }>()).tools;
}
const orderFor = async (through: Portico, person: Person, query?: string) =>
  (await search(through, person, query)).map(({ name }) => name).slice(0, 2);

async function rpc(
  through: Portico,
  { token }: Person,
  era: 'legacy' | 'modern',
  name: string,
  args: object,
) {
  const path = name.endsWith('_tools') ? '/mcp?tools=search' : '/mcp';
  const { message, headers } = ask(era, 'tools/call', { name, arguments: args });
  const response = await through.post(message, { token, headers: { ...headers, ...WHOLE } }, path);
  return response.json<RpcAnswer>();
}

/** Searches and calls, in an isolate that learns. */
async function use(
  person: Person,
  name: string,
  query = QUERY,
  through = createPortico(ON),
): Promise<void> {
  await search(through, person, query);
  await rpc(through, person, 'modern', name, {});
  await through.settle();
}
const people = (count: number) =>
  Promise.all(Array.from({ length: count }, () => createPerson(portico)));
/** The number of learned words, by principal. */
async function learned(): Promise<Record<string, number>> {
  const { results } = await env.DB.prepare(
    'SELECT principal_id AS who, count(*) AS words FROM learned_uses GROUP BY principal_id',
  ).all<{ who: string; words: number }>();
  return Object.fromEntries(results.map(({ who, words }) => [who, words]));
}
/** An isolate that has read the learned uses, as seen by a witness who has used the second server's tool. */
async function whenRead(witness: Person): Promise<Portico> {
  const through = createPortico(ON);
  await expect.poll(() => orderFor(through, witness), PATIENT).toEqual([B, A]);
  return through;
}

describe('learning from use', () => {
  it.each(ERAS)(
    '[FIND-4] learns for a %s client what it called after a search, and orders its next search by that',
    async era => {
      const [person] = await people(1);
      if (!person) throw new Error('nobody');
      const through = createPortico(ON);
      await rpc(through, person, era, 'search_tools', { query: QUERY });
      await rpc(through, person, era, B, {});
      await rpc(through, person, era, B, {});
      await through.settle();
      expect(await learned()).toEqual({ [person.principalId]: 2 });
      expect(await orderFor(portico, person)).toEqual([A, B]);
      await whenRead(person);
      const { results } = await env.DB.prepare('SELECT * FROM learned_uses').all();
      expect(JSON.stringify(results)).not.toMatch(/creat|issu/i);
    },
  );

  it('[FIND-4] [ACC-3] lifts for others what three of them agree on, and nothing that only two did', async () => {
    const [reader, ...users] = await people(4);
    const [witness, next, third] = users;
    if (!reader || !witness || !next || !third) throw new Error('nobody');
    await use(witness, B);
    await use(next, B);
    const two = await whenRead(witness);
    const before = await search(portico, reader);
    expect(await search(two, reader)).toEqual(before);
    await use(third, B);
    const three = await whenRead(witness);
    const after = await search(three, reader);
    expect(after.map(({ name }) => name).slice(0, 2)).toEqual([B, A]);
    // The found tools are the same, and no score changes by more than an eighth.
    const byName = (hits: Hit[]) => new Map(hits.map(({ name, score }) => [name, score]));
    const [was, is] = [byName(before), byName(after)];
    expect([...is.keys()].toSorted()).toEqual([...was.keys()].toSorted());
    for (const [name, score] of is) expect(score - (was.get(name) ?? 0)).toBeLessThan(0.125);
  });

  it('[FIND-4] [ACC-3] lifts only what the searcher may see, and changes no other score', async () => {
    const users = await people(4);
    for (const person of users) await use(person, B);
    const [witness] = users;
    const limited = await createPerson(portico, { servers: ['desk-a'] });
    if (!witness) throw new Error('nobody');
    const through = await whenRead(witness);
    const before = await search(portico, limited);
    expect(before.map(({ name }) => name)).toEqual([A]);
    expect(await search(through, limited)).toEqual(before);
  });

  it('[FIND-4] [ACC-3] learns nothing from callers without the right, from failed calls, or without a search', async () => {
    const limited = await createPerson(portico, { servers: ['desk-a'] });
    const [failing, direct, elsewhere] = await people(3);
    if (!failing || !direct || !elsewhere) throw new Error('nobody');
    await use(limited, B);
    second.call = post => resultOf(post, { content: [], isError: true });
    await use(failing, B);
    second.call = post =>
      Response.json({ jsonrpc: '2.0', id: post.id, error: { code: -32000, message: 'no' } });
    await use(failing, B);
    second.call = post => resultOf(post, { content: [] });
    const through = createPortico(ON);
    await rpc(through, direct, 'modern', B, {});
    // Another principal's search does not count.
    await search(through, failing);
    await rpc(through, elsewhere, 'modern', B, {});
    await through.settle();
    expect(await learned()).toEqual({});
    await use(direct, B);
    expect(await learned()).toEqual({ [direct.principalId]: 2 });
  });

  it('[FIND-4] [SEC-7] forgets with the definition, with its principal, and on request', async () => {
    const [one, two] = await people(2);
    if (!one || !two) throw new Error('nobody');
    await use(one, B);
    await use(two, B);
    const reading = await whenRead(one);
    const path = `/api/v1/principals/${two.principalId}`;
    expect((await portico.api('DELETE', path)).status).toBe(204);
    expect(await learned()).toEqual({ [one.principalId]: 2 });

    second.tools = [tool({ description: 'Creates an issue, and more' })];
    await portico.api('POST', `${SERVERS}/${secondServer.id}/connect`);
    await expect.poll(learned, PATIENT).toEqual({});
    await whenServer(portico, secondServer.id, ({ status }) => status === 'CONNECTED');
    // What an isolate had read of the former definition does not count any more either.
    await expect.poll(() => search(reading, one), PATIENT).toEqual(await search(portico, one));

    await use(one, B);
    const again = await whenRead(one);
    expect((await again.api('DELETE', '/api/v1/learning')).status).toBe(204);
    expect(await learned()).toEqual({});
    expect(await orderFor(again, one)).toEqual([A, B]);
    const { token } = one;
    const refused = await portico.api('DELETE', '/api/v1/learning', undefined, { token });
    expect(refused.status).toBe(403);
  });

  it('[FIND-4] learns anew after it forgot, also what was used on the same day', async () => {
    const [person] = await people(1);
    if (!person) throw new Error('nobody');
    const through = createPortico(ON);
    await use(person, B, QUERY, through);
    expect(await learned()).toEqual({ [person.principalId]: 2 });
    expect((await through.api('DELETE', '/api/v1/learning')).status).toBe(204);
    expect(await learned()).toEqual({});
    await use(person, B, QUERY, through);
    expect(await learned()).toEqual({ [person.principalId]: 2 });
  });

  it('[FIND-4] [EDGE-3] asks no store for a known use, and none at all if it is off', async () => {
    const remote = createRemote();
    const [person] = await people(1);
    if (!person) throw new Error('nobody');
    const asked = async (through: Portico, query?: string) => {
      remote.asked.length = 0;
      await search(through, person, query);
      await rpc(through, person, 'modern', B, {});
      await through.settle();
      return remote.asked.filter(what => what.startsWith('DB.'));
    };
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    try {
      const off = createPortico({ ...remote.bindings, ...ON, PORTICO_LEARN_FROM_USE: 'off' });
      await asked(off);
      const without = await asked(off);
      const statements = vi.spyOn(env.DB, 'prepare');
      expect(without).toEqual(await asked(off));
      const on = createPortico({ ...remote.bindings, ...ON });
      expect(statements.mock.calls.flat().join()).not.toContain('learned_uses');
      await asked(on);
      expect(await learned()).toEqual({ [person.principalId]: 2 });
      expect(await asked(on)).toEqual(without);
      // New uses cost one write, however many words they have.
      expect(await asked(on, 'create issues somewhere else')).toEqual([...without, 'DB.batch']);
      expect(await learned()).toEqual({ [person.principalId]: 3 });
    } finally {
      vi.useRealTimers();
    }
  });

  it('[FIND-4] [OPS-4] works without learning if the database lacks its table', async () => {
    const [person] = await people(1);
    if (!person) throw new Error('nobody');
    await env.DB.prepare('ALTER TABLE learned_uses RENAME TO kept_uses').run();
    try {
      const through = createPortico(ON);
      expect(await orderFor(through, person)).toEqual([A, B]);
      expect((await rpc(through, person, 'modern', B, {})).result?.isError).toBeUndefined();
      await through.settle();
    } finally {
      await env.DB.prepare('ALTER TABLE kept_uses RENAME TO learned_uses').run();
    }
    expect(await learned()).toEqual({});
  });
});
