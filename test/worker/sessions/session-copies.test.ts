/** Calls of a legacy client from an isolate without a cache: the row of its own session includes copies of its upstream sessions. */
import { env } from 'cloudflare:workers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { serve, type FakeServer } from '../support/fake-server.ts';
import { call, connect } from '../support/live-calls.ts';
import {
  createPortico,
  initialize,
  inSession,
  type Portico,
  type RpcAnswer,
} from '../support/portico.ts';
import { createRemote } from '../support/remote.ts';

const portico = createPortico();

/** Client objects that never answer. */
const silent = { getByName: () => new Proxy({}, { get: () => () => new Promise(() => {}) }) };
const WITHOUT_OBJECTS = { CLIENT_SESSION: silent as unknown as Env['CLIENT_SESSION'] };

/** A test that waits for such an object would time out. */
const SHORT = 20_000;

async function make(at: Portico, name: string, session: string): Promise<RpcAnswer['result']> {
  const { message } = call(name, 'legacy');
  const answer = await at.post(message, { headers: inSession(session) });
  const { result } = await answer.json<RpcAnswer>();
  expect(result?.isError).toBeFalsy();
  return result;
}

/** A client whose session at a server was opened by another isolate. */
async function begin() {
  const { name, server, id } = await connect('legacy', true, portico);
  const session = await initialize(portico);
  expect(await make(portico, name, session)).toHaveProperty('content');
  await portico.settle();
  return { name, server, id, session };
}

const sessionsOf = (server: FakeServer) => server.of('tools/call').map(({ session }) => session);

it(
  '[EDGE-1] [UP-2] waits for one read of the database and its catalog, and for no object',
  { timeout: SHORT },
  async () => {
    const { name, server, session } = await begin();
    const remote = createRemote();
    expect(
      await make(createPortico({ ...remote.bindings, ...WITHOUT_OBJECTS }), name, session),
    ).toHaveProperty('content');
    expect(remote.asked).toEqual(['DB.batch', 'CATALOG.get']);
    const [first, second] = sessionsOf(server);
    expect(second).toBe(first);
  },
);

it(
  '[EDGE-1] waits for no object if the isolate did not ask for a long time',
  { timeout: SHORT },
  async () => {
    const { name, session } = await begin();
    const other = createPortico(WITHOUT_OBJECTS);
    expect(await make(other, name, session)).toHaveProperty('content');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 * 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await make(other, name, session)).toHaveProperty('content');
  },
);

it('[UP-2] [MCP-10] tells its object that the session is used', async () => {
  const { name, session } = await begin();
  const remote = createRemote();
  const other = createPortico(remote.bindings);
  await make(other, name, session);
  await other.settle();
  expect(remote.asked.filter(what => what === 'CLIENT_SESSION.acquire')).toHaveLength(1);
  await make(other, name, session);
  await other.settle();
  expect(remote.asked.filter(what => what === 'CLIENT_SESSION.acquire')).toHaveLength(1);
});

it(
  '[UP-2] in a session that the server forgot is sent again once, in the one that the object has',
  { timeout: SHORT },
  async () => {
    const { name, server, session } = await begin();
    const old = createPortico();
    server.sessions.clear();
    expect(await make(old, name, session)).toHaveProperty('content');
    await old.settle();
    // The row is copied again, and this call comes with its former contents.
    const [, forgotten, current] = sessionsOf(server);
    expect(forgotten).not.toBe(current);
    const next = createPortico(WITHOUT_OBJECTS);
    expect(await make(next, name, session)).toHaveProperty('content');
    expect(sessionsOf(server).slice(3)).toEqual([current]);
  },
);

it('[UP-2] is never made in a session that the server forgot before', async () => {
  const { name, server, session } = await begin();
  // Each of these calls comes with the row that was read first.
  const old = createPortico();
  for (let times = 1; times <= 3; times += 1) {
    server.sessions.clear();
    expect(await make(old, name, session)).toHaveProperty('content');
  }
  const used = sessionsOf(server).slice(1);
  expect(used.map(id => used.indexOf(id))).toEqual([0, 1, 1, 3, 3, 5]);
});

it('[SEC-1] [MCP-10] opens no copy of another client or server, and shows none', async () => {
  const mine = await begin();
  const theirs = await begin();
  const rows = await env.DB.prepare(
    'SELECT id, upstream_sessions AS copies FROM sessions WHERE upstream_sessions IS NOT NULL',
  ).all<{ id: string; copies: string }>();
  const copies = rows.results.map(row => JSON.parse(row.copies) as Record<string, string>);
  const opened = [mine, theirs].flatMap(({ server }) => sessionsOf(server));
  for (const id of opened) expect(JSON.stringify(copies)).not.toContain(id);
  const stolen = copies.find(copy => theirs.id in copy)?.[theirs.id] ?? '';
  await env.DB.prepare('UPDATE sessions SET upstream_sessions = ? WHERE upstream_sessions LIKE ?')
    .bind(JSON.stringify({ [mine.id]: stolen }), `%${mine.id}%`)
    .run();
  serve({ [mine.name]: mine.server });
  const remote = createRemote();
  expect(await make(createPortico(remote.bindings), mine.name, mine.session)).toHaveProperty(
    'content',
  );
  expect(remote.asked).toContain('CLIENT_SESSION.acquire');
  const [first, second] = sessionsOf(mine.server);
  expect(second).toBe(first);
});
