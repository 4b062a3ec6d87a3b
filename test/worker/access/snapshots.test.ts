/** How many reads many simultaneous requests cause. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Snapshots } from '../../../src/access/admission/snapshots.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { ADMIN as adminToken } from '../support/portico.ts';

const keys = createKeyRing(env.PORTICO_KEYS);

const rowOf = (id: string) => ({
  id,
  principal_id: 'admin',
  endpoint: '/mcp',
  capabilities: '{}',
  created_at: 1,
  last_seen_at: 1,
  log_level: null,
});

const READ_MS = 5;

/** A slow database that advances the fake clock and counts its queries. */
function database() {
  const batches: string[][] = [];
  const state = { atOnce: 0, most: 0, largest: 0 };
  const statement = (sql: string) => ({
    sql,
    params: [] as unknown[],
    bind(...params: unknown[]) {
      return Object.assign(statement(sql), { params });
    },
    run: () => Promise.resolve({}),
  });
  const answer = ({ sql, params }: { sql: string; params: unknown[] }) => {
    if (sql.includes('FROM sessions')) {
      const ids = JSON.parse(String(params[0])) as string[];
      state.largest = Math.max(state.largest, ids.length);
      return { results: ids.map(rowOf) };
    }
    const none = { current: 1, revision: null, kind: null, id: null };
    if (sql.includes('AS current')) return { results: [none] };
    return { results: sql.includes('FROM registry_revision') ? [{ revision: 1 }] : [] };
  };
  const db = {
    prepare: statement,
    async batch(statements: { sql: string; params: unknown[] }[]) {
      batches.push(statements.map(({ sql }) => sql));
      state.atOnce += 1;
      state.most = Math.max(state.most, state.atOnce);
      await new Promise(resolve => setTimeout(resolve, READ_MS));
      vi.setSystemTime(Date.now() + READ_MS);
      state.atOnce -= 1;
      return statements.map(answer);
    },
  };
  return { db: db as unknown as D1Database, batches, state };
}

// On a busy machine the waiting time of requests would run out with a real clock.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

describe('[SEC-9] three hundred requests at once', () => {
  const many = Array.from({ length: 300 }, (_, index) => `session-${index}`);

  it('cause a few reads, and each request gets its own session', async () => {
    const { db, batches, state } = database();
    const snapshots = new Snapshots({
      db,
      keys,
      adminToken,
      defaultAccess: 'open',
      maxAgeMs: 60_000,
    });
    const loaded = await Promise.all(many.map(id => snapshots.load(adminToken, id, () => {})));
    expect(loaded.map(snapshot => snapshot?.session?.id)).toEqual(many);
    expect(batches.length).toBeLessThan(30);
    expect(state.most).toBeLessThanOrEqual(4);
    expect(state.largest).toBe(50);
  });

  it('read no session for requests without one', async () => {
    const { db, batches } = database();
    const snapshots = new Snapshots({
      db,
      keys,
      adminToken,
      defaultAccess: 'open',
      maxAgeMs: 60_000,
    });
    const idOf = (i: number) => (i % 2 === 0 ? undefined : many[i]);
    const loaded = await Promise.all(
      many.map((_, i) => snapshots.load(adminToken, idOf(i), () => {})),
    );
    expect(loaded.map(snapshot => snapshot?.session?.id)).toEqual(many.map((_, i) => idOf(i)));
    expect(batches.length).toBeLessThan(30);
  });

  it('read the policy a few times if all want it fresh', async () => {
    const { db, batches } = database();
    const snapshots = new Snapshots({
      db,
      keys,
      adminToken,
      defaultAccess: 'open',
      maxAgeMs: 60_000,
    });
    await Promise.all(many.map(() => snapshots.load(adminToken, undefined, () => {}, 5)));
    expect(batches.length).toBeLessThan(30);
  });

  it('read no row of a session that was opened here', async () => {
    const { db, batches } = database();
    const snapshots = new Snapshots({
      db,
      keys,
      adminToken,
      defaultAccess: 'open',
      maxAgeMs: 60_000,
    });
    const at = Date.now();
    snapshots.holdSession({
      id: 'mine',
      principalId: 'admin',
      endpoint: '/mcp',
      capabilities: {},
      createdAt: at,
      lastSeenAt: at,
    });
    const loaded = await snapshots.load(adminToken, 'mine', () => {});
    expect(loaded?.session?.id).toBe('mine');
    expect(batches.flat().filter(sql => sql.includes('FROM sessions'))).toEqual([]);
  });
});
