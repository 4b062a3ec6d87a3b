/** Administrative changes whose place in the chain is taken, or whose database fails; and which object they wake. */
import { toCaller } from '../../../src/access/policy/caller.ts';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { SETUP_TOKEN } from '../../../src/shared/identity/principal.ts';
import { AdminAudit, ALWAYS } from '../../../src/audit/admin-audit.ts';

const HOUR_MS = 3_600_000;
const admin = toCaller(SETUP_TOKEN, { defaultAccess: 'open', rules: [], toolsets: [] });
const ACT = { action: 'test.do', subject: '' };

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

/** Makes a change to its own subject. @returns its rows */
async function rowsOf(adminAudit: AdminAudit, work?: Parameters<AdminAudit['perform']>[3]) {
  const subject = crypto.randomUUID();
  const done = adminAudit.perform(
    admin,
    'admin',
    { ...ACT, subject },
    work ?? (commit => commit({ when: ALWAYS, statements: [] })),
  );
  const thrown = await done.then(
    () => undefined,
    (error: unknown) => error,
  );
  const { results } = await env.DB.prepare(
    'SELECT outcome, code, detail FROM audit_events WHERE subject = ?',
  )
    .bind(subject)
    .all();
  return { thrown, rows: results };
}

/** A database in which every place is taken, or no row can be written. */
function database(isMoving: boolean) {
  const shards: string[] = [];
  let seq = 0;
  let tries = 0;
  const db = {
    prepare: (sql: string) => ({
      bind(shard: string) {
        const isHead = sql.includes('audit_heads');
        if (isHead) shards.push(shard);
        seq += isMoving ? 1 : 0;
        return { first: () => Promise.resolve(isHead ? { seq, hash: '0'.repeat(64) } : null) };
      },
    }),
    batch() {
      tries += 1;
      return Promise.reject(new Error('taken'));
    },
  } as unknown as D1Database;
  return { db, shards, tries: () => tries };
}

describe('an administrative change', () => {
  it('[SEC-6] has one row, also if something fails after it', async () => {
    const adminAudit = new AdminAudit(env.DB);
    const { thrown, rows } = await rowsOf(adminAudit, async commit => {
      await commit({ when: ALWAYS, statements: [], detail: { n: 1 } });
      throw new TypeError('later');
    });
    expect(thrown).toBeInstanceOf(TypeError);
    expect(rows).toEqual([{ outcome: 'done', code: null, detail: '{"n":1}' }]);
    const failed = await rowsOf(adminAudit, () => Promise.reject(new TypeError('before')));
    expect(failed.rows).toEqual([{ outcome: 'failed', code: 'internal', detail: '{}' }]);
    const idle = await rowsOf(adminAudit, commit =>
      commit({ when: { sql: '0', params: [] }, statements: [] }),
    );
    expect(idle.rows).toEqual([]);
  });

  it('[SEC-6] whose place is taken tries other chains, fifty times, after growing pauses', async () => {
    for (const [random, shard] of [
      [0, 'admin-1'],
      [0.999, 'admin-31'],
    ] as const) {
      vi.spyOn(Math, 'random').mockReturnValue(random);
      const wait = vi.spyOn(scheduler, 'wait').mockResolvedValue(undefined);
      const { db, shards, tries } = database(true);
      const done = new AdminAudit(db).perform(admin, 'admin', ACT, commit =>
        commit({ when: ALWAYS, statements: [] }),
      );
      await expect(done).rejects.toMatchObject({ code: 'busy' });
      // The change, and the row of its failure.
      expect(tries()).toBe(100);
      expect(new Set(shards)).toEqual(new Set(['admin', shard]));
      const waits = wait.mock.calls.map(([ms]) => Number(ms)).slice(0, 50);
      expect(waits).toEqual(waits.map((_, i) => random * Math.min(i + 1, 40)));
      vi.restoreAllMocks();
    }
  });

  it('[SEC-6] that was made, but whose answer and every read after it were lost, has the row of its change', async () => {
    let isLost = false;
    const losing = new Proxy(env.DB, {
      get(target, name) {
        if (name === 'prepare' && isLost) {
          isLost = false;
          throw new Error('no database for a moment');
        }
        if (name !== 'batch') return Reflect.get(target, name).bind(target) as unknown;
        return async (statements: D1PreparedStatement[]) => {
          const done = await target.batch(statements);
          if (statements.length === 1) return done;
          isLost = true;
          throw new Error('made, not heard of');
        };
      },
    });
    const change = { when: ALWAYS, statements: [env.DB.prepare('SELECT 1')] };
    const { thrown, rows } = await rowsOf(new AdminAudit(losing), commit => commit(change));
    expect(thrown).toBeInstanceOf(Error);
    expect(rows.map(({ outcome }) => outcome)).toEqual(['done']);
  });

  it('[SEC-6] that was made, but whose answer was lost, is done once, whatever its condition says now', async () => {
    const unheard = new Proxy(env.DB, {
      get(target, name) {
        if (name !== 'batch') return Reflect.get(target, name).bind(target) as unknown;
        return async (statements: D1PreparedStatement[]) => {
          await target.batch(statements);
          throw new Error('made, not heard of');
        };
      },
    });
    const detail = { n: crypto.randomUUID() };
    const text = JSON.stringify(detail);
    const once = {
      sql: 'NOT EXISTS (SELECT 1 FROM audit_events WHERE detail = ?)',
      params: [text],
    };
    for (const when of [once, ALWAYS]) {
      let isDone: boolean | undefined;
      const { thrown, rows } = await rowsOf(new AdminAudit(unheard), async commit => {
        isDone = await commit({ when, statements: [], detail });
      });
      expect([thrown, isDone]).toEqual([undefined, true]);
      expect(rows).toEqual([{ outcome: 'done', code: null, detail: text }]);
    }
  });

  it('[SEC-6] [SEC-9] that its caller may not make has a row, but no caller can fill the database', async () => {
    const adminAudit = new AdminAudit(env.DB);
    const subject = crypto.randomUUID();
    const refuse = async (principalId: string) => {
      const caller = { principalId, tokenId: 't', scopes: new Set<never>() };
      const refused = adminAudit.perform(caller, 'admin', { ...ACT, subject }, async () => {});
      return refused.catch((thrown: unknown) => (thrown as PorticoError).code);
    };
    const codes: unknown[] = [];
    for (let n = 0; n < 205; n += 1) codes.push(await refuse('member'));
    expect(new Set(codes.slice(0, 200))).toEqual(new Set(['forbidden']));
    expect(new Set(codes.slice(200))).toEqual(new Set(['rate_limited']));
    expect(await refuse('another')).toBe('forbidden');
    const rows = () =>
      env.DB.prepare('SELECT count(*) AS n FROM audit_events WHERE subject = ?')
        .bind(subject)
        .first('n');
    expect(await rows()).toBe(201);
    vi.setSystemTime(Date.now() + HOUR_MS / 6);
    expect(await refuse('member')).toBe('forbidden');
    expect(await rows()).toBe(202);
  });

  it('[SEC-6] fails at once if the database accepts nothing', async () => {
    const { db, tries } = database(false);
    const done = new AdminAudit(db).perform(admin, 'admin', ACT, commit =>
      commit({ when: ALWAYS, statements: [] }),
    );
    await expect(done).rejects.toThrow('taken');
    expect(tries()).toBe(2);
  });
});

describe('the object that prunes old rows', () => {
  it('[SEC-6] is woken by the first change, and then once an hour', async () => {
    let woken = 0;
    const adminAudit = new AdminAudit(env.DB, () => {
      woken += 1;
      return Promise.reject(new Error('asleep'));
    });
    const after = async (ms: number) => {
      vi.setSystemTime(Date.now() + ms);
      expect((await rowsOf(adminAudit)).rows).toHaveLength(1);
      return woken;
    };
    expect(await after(0)).toBe(1);
    expect(await after(0)).toBe(1);
    expect(await after(HOUR_MS)).toBe(1);
    expect(await after(1)).toBe(2);
    expect(await after(HOUR_MS)).toBe(2);
  });
});
