/**
 * How old the snapshot of a request may be, to the millisecond: when it is read again, by which request, and which objects stay the same.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { insertSession } from '../../../src/access/admission/session-store.ts';
import {
  createSnapshots as create,
  pass,
  POLICY,
  REFRESH,
  SESSION,
  sql,
  stopTime,
} from '../support/aged-snapshots.ts';
import { ADMIN, createPortico, createToken, register } from '../support/portico.ts';

const portico = createPortico();
stopTime();

async function createSession() {
  const [id, at] = [crypto.randomUUID(), Date.now()];
  const session = { id, principalId: 'p', endpoint: '/mcp', capabilities: {} };
  await insertSession(env.DB, { ...session, createdAt: at, lastSeenAt: at }).run();
  return id;
}

describe('token and registry', () => {
  it('[ACC-1] serve for a second and not a millisecond more', async () => {
    const { load, reads, settle } = create();
    expect((await load())?.caller.principalId).toBe('setup-admin');
    pass(1_000);
    expect(await load()).toBeDefined();
    // The second read runs in the background.
    expect([await settle(), reads]).toEqual([1, [POLICY, REFRESH]]);
    pass(1_001);
    await load();
    expect([reads, await settle()]).toEqual([[POLICY, REFRESH, REFRESH], 0]);
  });

  it('[ACC-1] are renewed in the background after half their time, by one request per quarter of a second', async () => {
    const { load, reads, hold, until, settle } = create();
    await load();
    pass(500);
    await load();
    expect(reads).toHaveLength(1);
    const letGo = hold();
    pass(1);
    await Promise.all([load(), load(), load()]);
    await until(2);
    pass(250);
    await load();
    pass(1);
    await load();
    await until(3);
    letGo();
    expect(await settle()).toBe(2);
    await load();
    expect(reads).toHaveLength(3);
  });

  it('[ACC-1] count their age from before the read', async () => {
    const { load, reads, hold, until } = create();
    const letGo = hold();
    const loading = load();
    await until(1);
    pass(900);
    letGo();
    await loading;
    pass(101);
    await load();
    expect(reads).toHaveLength(2);
  });

  it('[ACC-1] age separately: a token is not younger because another was read', async () => {
    const { load, reads } = create();
    const other = await createToken(portico);
    await load();
    pass(900);
    await load(other.token);
    pass(101);
    await load(other.token);
    expect(reads).toHaveLength(2);
    await load();
    expect(reads).toHaveLength(3);
  });

  it('[ACC-1] are fresher if the request demands it', async () => {
    const { load, reads, settle } = create();
    await load();
    pass(5);
    await load(ADMIN, undefined, 10);
    expect([reads.length, await settle()]).toEqual([1, 0]);
    pass(6);
    await load(ADMIN, undefined, 10);
    expect([reads.length, await settle()]).toEqual([2, 0]);
  });

  it('[ACC-1] are read again after a change in this isolate', async () => {
    const { snapshots, load, reads } = create();
    await load();
    snapshots.forgetServers();
    await load();
    expect(reads).toHaveLength(2);
    snapshots.forgetTokens();
    await load();
    expect(reads).toHaveLength(3);
  });

  it('[ACC-1] are read again, once, if the clock was set back', async () => {
    const { load, reads, settle } = create();
    const { id, token } = await createToken(portico);
    await load();
    await load(token);
    pass(-3_600_000);
    await sql('DELETE FROM tokens WHERE id = ?', id);
    expect(await load(token)).toBeUndefined();
    await load();
    expect(reads).toHaveLength(4);
    await load();
    expect([reads.length, await settle()]).toEqual([4, expect.any(Number)]);
  });

  it('[ACC-1] are not used if something changed in this isolate while they were read', async () => {
    const { snapshots, load, reads, hold, until, settle } = create();
    const { token } = await createToken(portico);
    await load(token);
    pass(600);
    const letGo = hold();
    await load(token);
    await until(2);
    snapshots.forgetServers();
    snapshots.forgetTokens();
    letGo();
    await settle();
    await load(token);
    expect(reads).toHaveLength(3);
    await load(token);
    expect(reads).toHaveLength(3);
  });

  it('[ACC-3] stay the same objects as long as they are unchanged', async () => {
    const { load, settle } = create();
    await register(portico, 'kept', { auto_connect: false });
    const subject = { kind: 'everyone' };
    const rule = await portico.api('POST', '/api/v1/access/rules', { effect: 'deny', subject });
    expect(rule.status).toBe(201);
    const toolset = { name: 'kept-set', include: ['kept'] };
    expect((await portico.api('POST', '/api/v1/toolsets', toolset)).status).toBe(201);
    const { id, token } = await createToken(portico, { scopes: ['tools:read'] });
    await load(token);
    await settle();
    const again = async () => {
      pass(1_001);
      const snapshot = await load(token);
      await settle();
      return snapshot;
    };
    const first = await again();
    const second = await again();
    expect(first?.servers.map(({ name }) => name)).toEqual(['kept']);
    expect(first?.access).toMatchObject({
      rules: [{ effect: 'deny', subject }],
      toolsets: [{ name: 'kept-set' }],
    });
    expect(second?.servers).toBe(first?.servers);
    expect(second?.access).toBe(first?.access);
    expect(second?.caller).toBe(first?.caller);
    await sql(`UPDATE tokens SET scopes = '["tools:call"]' WHERE id = ?`, id);
    const restrictToCaller = await again();
    expect([...(restrictToCaller?.caller.scopes ?? [])]).toEqual(['tools:call']);
    expect(restrictToCaller?.access).toBe(first?.access);
    await register(portico, 'new', { auto_connect: false });
    const grown = await again();
    expect(grown?.servers.map(({ name }) => name).toSorted()).toEqual(['kept', 'new']);
    expect(grown?.access.rules).toHaveLength(1);
    expect(grown?.access).toBe(restrictToCaller?.access);
    expect(grown?.caller).toBe(restrictToCaller?.caller);
    const kept = (servers: readonly { name: string }[] = []) =>
      servers.find(({ name }) => name === 'kept');
    expect(kept(grown?.servers)).toBe(kept(first?.servers));
  });
});

describe('a session', () => {
  it('[MCP-4] is read with the policy, and serves for ten seconds', async () => {
    const { load, reads } = create({ maxAgeMs: 60_000 });
    const id = await createSession();
    expect((await load(ADMIN, id))?.session?.id).toBe(id);
    pass(10_000);
    expect((await load(ADMIN, id))?.session?.id).toBe(id);
    expect(reads).toEqual([POLICY + SESSION]);
    pass(1);
    expect((await load(ADMIN, id))?.session?.id).toBe(id);
    expect(reads).toEqual([POLICY + SESSION, SESSION]);
    pass(3);
    await load(ADMIN, id, undefined as never, 3);
    expect(reads).toHaveLength(2);
    pass(1);
    await load(ADMIN, id, undefined as never, 3);
    expect(reads).toHaveLength(3);
  });

  it('[MCP-4] is absent if none was asked for, or if it is unknown', async () => {
    const { load, reads } = create();
    await load(ADMIN, await createSession());
    expect(await load()).not.toHaveProperty('session');
    const unknown = crypto.randomUUID();
    expect(await load(ADMIN, unknown)).not.toHaveProperty('session');
    expect(await load(ADMIN, unknown)).toBeDefined();
    expect(reads).toEqual([POLICY + SESSION, SESSION]);
  });

  it('[MCP-4] opened here is known without a read, and ended here is looked up', async () => {
    const { snapshots, load, reads } = create();
    const id = await createSession();
    await load(ADMIN, id);
    await sql('DELETE FROM sessions WHERE id = ?', id);
    expect((await load(ADMIN, id))?.session?.id).toBe(id);
    snapshots.forgetSession(id);
    expect(await load(ADMIN, id)).not.toHaveProperty('session');
    expect(reads).toEqual([POLICY + SESSION, SESSION]);
  });

  it('[MCP-4] is not used again if it was ended here while it was read', async () => {
    const { snapshots, load, reads, hold, until } = create();
    const id = await createSession();
    const release = hold();
    const loading = load(ADMIN, id);
    await until(1);
    snapshots.forgetSession(id);
    release();
    await loading;
    await load(ADMIN, id);
    expect(reads).toEqual([POLICY + SESSION, SESSION]);
  });
});

describe('requests that all have to read', () => {
  it('[SEC-9] take turns, four at a time, and each place is free again after its read', async () => {
    const { load, reads, hold, until } = create();
    const tokens: string[] = [];
    for (let i = 0; i < 6; i += 1) tokens.push((await createToken(portico)).token);
    for (const token of tokens) expect(await load(token)).toBeDefined();
    pass(1_001);
    const letGo = hold();
    const loading = tokens.map(token => load(token));
    await until(10);
    await scheduler.wait(30);
    expect(reads).toHaveLength(10);
    letGo();
    const loaded = await Promise.all(loading);
    expect(loaded.map(snapshot => snapshot === undefined)).toEqual(tokens.map(() => false));
    expect(reads).toHaveLength(12);
  });

  it('[EDGE-1] reuse what others read meanwhile, however far back in the queue they are', async () => {
    const { load, hold } = create();
    await load();
    pass(1_001);
    const letGo = hold();
    const pauses = vi.spyOn(globalThis, 'setTimeout');
    const loading = Array.from({ length: 64 }, () => load());
    const first = pauses.mock.calls.map(([, ms]) => ms ?? 0);
    pauses.mockRestore();
    letGo();
    await Promise.all(loading);
    // Four reads are running.
    expect(first).toHaveLength(60);
    expect(Math.max(...first)).toBeLessThanOrEqual(60);
  });

  it('[SEC-9] wait for a turn a second at most', async () => {
    const { load, reads, hold, until } = create();
    const tokens: string[] = [];
    for (let i = 0; i < 5; i += 1) tokens.push((await createToken(portico)).token);
    const letGo = hold();
    const loading = tokens.map(token => load(token));
    await until(4);
    pass(999);
    await scheduler.wait(30);
    expect(reads).toHaveLength(4);
    pass(1);
    await until(5);
    letGo();
    await Promise.all(loading);
  });
});
