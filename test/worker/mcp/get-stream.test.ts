/** The legacy GET stream: opened, fed, kept alive, resumed; across evictions, and on one connection at a time. */
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { SealedIds } from '../../../src/access/admission/sealed-id.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import {
  ADMIN,
  PATIENT,
  createPortico,
  createToken,
  initialize,
  inSession,
  register,
} from '../support/portico.ts';
import { openGet, type OpenStream } from '../support/event-streams.ts';

const portico = createPortico();
const open: OpenStream[] = [];
const token = ADMIN;
let serverId: string;

beforeAll(async () => {
  serverId = (await register(portico, 'server-1', { auto_connect: false })).id;
});

async function get(session: string, lastEventId?: string, more: { token?: string } = {}) {
  const stream = await openGet(portico, session, {
    token,
    ...more,
    ...(lastEventId === undefined ? {} : { lastEventId }),
  });
  open.push(stream);
  return stream;
}

/** Name of a session's object. */
async function ownerOf(session: string): Promise<string> {
  const facts = await new SealedIds(createKeyRing(env.PORTICO_KEYS)).open(session);
  return `session:${facts?.id}`;
}

/** Tells a session that lists of a server changed, like the server's monitor. */
async function announce(
  session: string,
  ...lists: ('tools' | 'resources' | 'prompts')[]
): Promise<boolean> {
  const owner = await ownerOf(session);
  return env.CLIENT_SESSION.getByName(owner).announce(owner, { serverId, lists });
}

const toolsChanged = 'notifications/tools/list_changed';
const promptsChanged = 'notifications/prompts/list_changed';
const resourcesChanged = 'notifications/resources/list_changed';

afterEach(async () => {
  await Promise.all(open.splice(0).map(stream => stream.close()));
});

/** Waits until the session's object knows this many open streams. */
async function whenStreams(session: string, count: number): Promise<void> {
  await vi.waitFor(async () => {
    const owner = await ownerOf(session);
    const left = await runInDurableObject(
      env.CLIENT_SESSION.getByName(owner),
      (_object, { storage }) => storage.list({ prefix: 'stream/' }),
    );
    expect(left.size).toBe(count);
  }, PATIENT);
}

describe('opening', () => {
  const request = (headers: Record<string, string>) =>
    portico.fetch('/mcp', {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers },
    });

  it('[MCP-10] requires a live session', async () => {
    expect((await request({})).status).toBe(400);
    expect((await request({ 'mcp-session-id': 'nonsense' })).status).toBe(404);
    const stranger = await createToken(portico);
    const session = await initialize(portico);
    const headers = { ...inSession(session), authorization: `Bearer ${stranger.token}` };
    expect((await request(headers)).status).toBe(404);
  });

  it('[MCP-1] requires an Accept header for a stream, and an era that has one', async () => {
    const session = await initialize(portico);
    expect((await request({ ...inSession(session), accept: 'application/json' })).status).toBe(406);
    expect(
      (await request({ ...inSession(session), 'mcp-protocol-version': '2026-07-28' })).status,
    ).toBe(405);
    expect(
      (await request({ ...inSession(session), 'mcp-protocol-version': '1999-01-01' })).status,
    ).toBe(400);
  });

  it('[MCP-11] sends at once the id to resume from', async () => {
    const session = await initialize(portico);
    const stream = await get(session);
    expect(stream.events).toEqual([
      { id: expect.stringMatching(/^[\w-]+\.0$/u) as string, event: undefined, data: '' },
    ]);
  });
});

describe('events', () => {
  it('[MCP-4] have ids, in order', async () => {
    const session = await initialize(portico);
    const stream = await get(session);
    expect(await announce(session, 'tools', 'prompts')).toBe(true);
    expect(await announce(session, 'resources')).toBe(true);
    await stream.until(3);
    expect(stream.methods()).toEqual([toolsChanged, promptsChanged, resourcesChanged]);
    const ids = stream.events.map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
  });

  it('[MCP-4] are sent on one connection only, the newest', async () => {
    const session = await initialize(portico);
    const [first, second] = [await get(session), await get(session)];
    await announce(session, 'tools');
    await second.until(1);
    await second.close();
    await whenStreams(session, 1);
    await announce(session, 'prompts');
    await first.until(1);
    expect([first.methods(), second.methods()]).toEqual([[promptsChanged], [toolsChanged]]);
  });

  it('[MCP-4] wait for a client that never connected, or is disconnected', async () => {
    const session = await initialize(portico);
    const early = await get(session);
    await early.close();
    await whenStreams(session, 0);
    await announce(session, 'tools');
    await announce(session, 'prompts');
    const late = await get(session);
    await late.until(2);
    expect(late.methods()).toEqual([toolsChanged, promptsChanged]);
    const again = await get(session);
    await announce(session, 'resources');
    await again.until(1);
    expect(again.methods()).toEqual([resourcesChanged]);
  });

  it('[MCP-4] of comments keep the connection alive', async () => {
    const quick = createPortico({ PORTICO_KEEP_ALIVE_MS: '30' });
    const session = await initialize(quick);
    const stream = await openGet(quick, session, { token });
    open.push(stream);
    await vi.waitFor(() => expect(stream.comments.length).toBeGreaterThan(2), PATIENT);
  });

  it('[ACC-1] stop for a revoked token', async () => {
    const { id, token: revoked } = await createToken(portico);
    const session = await initialize(portico, { token: revoked });
    const stream = await get(session, undefined, { token: revoked });
    expect((await portico.api('DELETE', `/api/v1/tokens/${id}`)).status).toBe(204);
    await new Promise(resolve => setTimeout(resolve, 1_050));
    await announce(session, 'tools');
    await vi.waitFor(() => expect(stream.ended()).toBe(true), PATIENT);
    expect(stream.messages()).toEqual([]);
  });
});

describe('a session that ends', () => {
  it('[MCP-10] ends its stream and leaves nothing behind', async () => {
    const session = await initialize(portico);
    const stream = await get(session);
    const ended = await portico.fetch('/mcp', {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}`, ...inSession(session) },
    });
    expect(ended.status).toBe(200);
    await portico.settle();
    await vi.waitFor(() => expect(stream.ended()).toBe(true), PATIENT);
    const owner = await ownerOf(session);
    expect(
      await env.DB.prepare('SELECT owner FROM open_streams WHERE owner = ?').bind(owner).first(),
    ).toBeNull();
    const left = await runInDurableObject(
      env.CLIENT_SESSION.getByName(owner),
      (_object, { storage }) => storage.list(),
    );
    expect([...left.keys()]).toEqual([]);
  });
});

describe('resuming', () => {
  it('[MCP-11] replays what came after the last event, once, in order', async () => {
    const session = await initialize(portico);
    const stream = await get(session);
    await announce(session, 'tools');
    await announce(session, 'prompts');
    await announce(session, 'resources');
    await stream.until(3);
    const ids = stream.events.map(({ id }) => id ?? '');
    await stream.close();
    await whenStreams(session, 0);
    await announce(session, 'tools', 'prompts');
    const resumed = await get(session, ids[1]);
    await resumed.until(4);
    expect(resumed.methods()).toEqual([
      promptsChanged,
      resourcesChanged,
      toolsChanged,
      promptsChanged,
    ]);
    const twice = await get(session, resumed.lastId());
    await announce(session, 'resources');
    await twice.until(1);
    expect(twice.methods()).toEqual([resourcesChanged]);
    expect(resumed.ended()).toBe(true);
  });

  it('[MCP-11] loses and repeats nothing across evictions and dropped connections', async () => {
    const session = await initialize(portico);
    const object = env.CLIENT_SESSION.getByName(await ownerOf(session));
    const sent: string[] = [];
    const seen: (string | undefined)[] = [];
    let lastEventId: string | undefined;
    for (let round = 0; round < 4; round += 1) {
      const stream = await get(session, lastEventId);
      await announce(session, 'tools');
      await evictDurableObject(object, { webSockets: 'hibernate' });
      await announce(session, 'prompts');
      await stream.until(seen.length === 0 ? 2 : 3);
      seen.push(...stream.methods());
      lastEventId = stream.lastId();
      await evictDurableObject(object, { webSockets: 'close' });
      await announce(session, 'resources');
      await vi.waitFor(() => expect(stream.ended()).toBe(true), PATIENT);
      sent.push(toolsChanged, promptsChanged, resourcesChanged);
    }
    expect(seen).toEqual(sent.slice(0, -1));
  });

  it('[MCP-11] treats an id that it never gave out as a new stream', async () => {
    const session = await initialize(portico);
    const stream = await get(session);
    await announce(session, 'tools');
    await stream.until(1);
    for (const id of [
      'nonsense',
      'x.1',
      '',
      `${stream.lastId().split('.')[0]}.99999999999999999999`,
    ]) {
      const fresh = await get(session, id);
      expect(fresh.methods()).toEqual([]);
    }
  });

  it('[MCP-11] never replays what another stream was sent', async () => {
    const session = await initialize(portico);
    const first = await get(session);
    await announce(session, 'tools');
    await first.until(1);
    const firstId = first.events[0]?.id;
    const second = await get(session);
    await announce(session, 'prompts');
    await second.until(1);
    const resumed = await get(session, firstId);
    await resumed.until(1);
    expect(resumed.methods()).toEqual([toolsChanged]);
  });
});
