/** Usage: sums of the rows of calls, each call once, whatever happens to the object that adds them up. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../src/audit/audit-schema.ts';
import { addUpPart } from '../../../src/audit/usage/usage-roll-up.ts';
import { toTimeId } from '../../../src/shared/util/time-id.ts';
import { createPortico, createToken, register } from '../support/portico.ts';
import { addUpAll, insertOld, toCall } from '../support/chunks.ts';

const { DB } = env;
const chain = () => env.CALL_CHAIN.getByName('all');
const portico = createPortico();
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Noon of yesterday, so that nothing falls on another day. */
const NOON = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2;
const DAY = new Date(NOON).toISOString().slice(0, 10);

interface Item {
  [name: string]: unknown;
  calls: number;
}
async function usage(query = '', token?: string): Promise<Item[]> {
  const response = await portico.api(
    'GET',
    `/api/v1/usage?from=${DAY}${query}`,
    undefined,
    token === undefined ? undefined : { token },
  );
  expect(response.status).toBe(200);
  return (await response.json<{ usage: Item[] }>()).usage;
}

beforeEach(async () => {
  for (const table of ['call_chunks', 'call_seals', 'usage', 'usage_open']) {
    await DB.prepare(`DELETE FROM ${table}`).run();
  }
  await DB.prepare(`UPDATE usage_progress SET chunk_id = ''`).run();
  await runInDurableObject(chain(), (_chain, { storage }) => {
    storage.sql.exec('DELETE FROM seals');
  });
});

/** A call of a server. */
const call = (n: number, more: Partial<AuditEvent> = {}): AuditEvent =>
  toCall(NOON + n, {
    detail: { server: 's1', is_error: false, duration_ms: 80 },
    ...more,
  });

describe('usage', () => {
  it('[OPS-7] adds up outcomes, durations and sizes', async () => {
    const detail = { server: 's1', is_error: false, duration_ms: 80, argument_chars: 10 };
    await insertOld(NOON + MINUTE_MS, [
      call(1, { detail: { ...detail, result_chars: 500 } }),
      call(2, { detail: { ...detail, is_error: true, duration_ms: 700 } }),
      call(3, {
        outcome: 'failed',
        code: 'upstream_timeout',
        detail: { ...detail, duration_ms: 40_000 },
      }),
      call(4, { outcome: 'cancelled' }),
      call(5, { outcome: 'denied', code: 'tool_not_found', subject: 'any text', detail: {} }),
      call(6, { detail: { ...detail, cached: true } }),
    ]);
    const [first, second, ...more] = await usage('&by=tool,day');
    expect(more).toEqual([]);
    expect(first).toEqual({
      day: DAY,
      server: 's1',
      server_name: 'git',
      tool: 'git.push',
      action: 'tool.call',
      calls: 5,
      errors: 2,
      denied: 0,
      cancelled: 1,
      unknown: 0,
      cached: 1,
      argument_chars: 40,
      result_chars: 500,
      mean_ms: Math.round((80 + 700 + 40_000 + 80 + 80) / 5),
      p50_ms: 100,
      p95_ms: 40_000,
      max_ms: 40_000,
    });
    expect(second).toMatchObject({ calls: 1, denied: 1, server: '', tool: '', mean_ms: null });
  });

  it('[OPS-7] groups by principal, group, server and day, and filters', async () => {
    const { id: ada } = await make('Ada', ['dev', 'all']);
    const { id: bob } = await make('Bob', ['all']);
    const of = (principalId: string, n: number, more: Partial<AuditEvent> = {}) =>
      call(n, { principalId, ...more });
    await insertOld(NOON + MINUTE_MS, [
      of(ada, 1),
      of(ada, 2, { subject: 'wiki.read', detail: { server: 's2' } }),
      of(bob, 3),
      of(bob, 4),
      of(bob, 5, { at: NOON + DAY_MS, id: toTimeId(NOON + DAY_MS) }),
    ]);
    const brief = (items: Item[], ...names: string[]) =>
      items.map(item => [...names.map(name => item[name]), item.calls]);
    expect(brief(await usage('&by=principal'), 'principal_name')).toEqual([
      ['Bob', 3],
      ['Ada', 2],
    ]);
    expect(brief(await usage('&by=group'), 'group')).toEqual([
      ['all', 5],
      ['dev', 2],
    ]);
    expect(brief(await usage('&by=server'), 'server_name')).toEqual([
      ['git', 4],
      ['wiki', 1],
    ]);
    expect(brief(await usage('&by=day'), 'day')).toEqual([
      [DAY, 4],
      [new Date(NOON + DAY_MS).toISOString().slice(0, 10), 1],
    ]);
    expect(await usage(`&by=day&to=${DAY}`)).toHaveLength(1);
    expect(brief(await usage('&by=tool&principal=ada'), 'tool')).toEqual([
      ['git.push', 1],
      ['wiki.read', 1],
    ]);
    expect(brief(await usage('&by=principal&server=WIKI'), 'principal_name')).toEqual([['Ada', 1]]);
    expect(brief(await usage('&by=principal&tool=wiki__read'), 'principal_name')).toEqual([
      ['Ada', 1],
    ]);
    expect(brief(await usage('&by=tool&group=dev'), 'tool')).toHaveLength(2);
    expect(await usage('&by=tool&group=none')).toEqual([]);
  });

  it('[OPS-7] filters by a token, by its id or name', async () => {
    const made = await portico.api('POST', '/api/v1/tokens', { name: 'Laptop' });
    const { id } = await made.json<{ id: string }>();
    await insertOld(NOON + MINUTE_MS, [call(1, { tokenId: id }), call(2, { tokenId: 'other' })]);
    for (const token of [id, 'laptop']) {
      expect(await usage(`&by=token&token=${token}`)).toMatchObject([
        { token: id, token_name: 'Laptop', calls: 1 },
      ]);
    }
    expect(await usage('&by=token&token=none')).toEqual([]);
  });

  it('[OPS-7] returns each row once, page by page', async () => {
    const calls = Array.from({ length: 12 }, (_, n) =>
      Array.from({ length: 1 + (n % 3) }, (__, m) => call(n * 10 + m, { subject: `git.t${n}` })),
    ).flat();
    await insertOld(NOON + MINUTE_MS, calls);
    const all = await usage('&by=tool');
    const paged: Item[] = [];
    let cursor = '';
    do {
      const path = `/api/v1/usage?from=${DAY}&by=tool&limit=5${cursor}`;
      const page = await (
        await portico.api('GET', path)
      ).json<{ usage: Item[]; next_cursor?: string }>();
      paged.push(...page.usage);
      cursor = page.next_cursor === undefined ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(paged).toEqual(all);
    expect(all).toHaveLength(12);
    expect(all.reduce((sum, item) => sum + item.calls, 0)).toBe(calls.length);
  });

  it('[OPS-7] [SEC-6] shows people their own calls, and a token those made with it', async () => {
    const { id: ada } = await make('Cyd');
    const made = await createToken(portico, { principal: ada, scopes: ['tools:read'] });
    await register(portico, 'git');
    const narrow = await createToken(portico, {
      principal: ada,
      scopes: ['tools:read'],
      tools: ['git.*'],
    });
    await insertOld(NOON + MINUTE_MS, [
      call(1, { principalId: ada, tokenId: made.id }),
      call(2, { principalId: ada, tokenId: narrow.id, subject: 'git.pull' }),
      call(3, { subject: 'git.secret' }),
    ]);
    await addUpAll();
    const names = (items: Item[]) => items.map(({ tool }) => tool);
    expect(names(await usage('', made.token))).toEqual(['git.pull', 'git.push']);
    expect(names(await usage('', narrow.token))).toEqual(['git.pull']);
    expect(names(await usage('&principal=cyd', made.token))).toEqual(['git.pull', 'git.push']);
    expect(await usage('&principal=git.secret', made.token)).toEqual([]);
    for (const query of ['by=group', 'group=dev']) {
      const refused = await portico.api('GET', `/api/v1/usage?${query}`, undefined, {
        token: made.token,
      });
      expect(refused.status).toBe(403);
    }
  });

  it('[OPS-7] exports a table that no spreadsheet reads as formulas', async () => {
    await insertOld(NOON + MINUTE_MS, [
      call(1, { principalId: '=cmd|x', subject: 'git.say "hi", all' }),
    ]);
    const response = await portico.api('GET', `/api/v1/usage/export?from=${DAY}&by=principal,tool`);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [heading, row] = (await response.text()).split('\r\n');
    expect(heading).toMatch(
      /^principal,principal_name,server,server_name,tool,action,calls,errors,/,
    );
    expect(row).toMatch(/^'=cmd\|x,'=cmd\|x,s1,git,"git\.say ""hi"", all",tool\.call,1,0,/);
  });

  it('[OPS-7] exports a table without rows with the same columns, and says how far it goes', async () => {
    const table = async () => {
      const path = `/api/v1/usage/export?from=${DAY}&by=day,principal,token,group,server,tool`;
      const response = await portico.api('GET', path);
      const [heading, ...rows] = (await response.text()).split('\r\n');
      const until = response.headers.get('counted-until') ?? '';
      return { heading, rows: rows.filter(row => row !== ''), until };
    };
    const empty = await table();
    expect(empty.rows).toEqual([]);
    expect(Math.abs(Date.parse(empty.until) - Date.now())).toBeLessThan(MINUTE_MS);
    const { id: principalId } = await make('Eve', ['dev']);
    await insertOld(NOON + MINUTE_MS, [call(1, { principalId })]);
    const { heading, rows, until } = await table();
    expect(heading).toBe(empty.heading);
    expect(rows).toEqual([expect.stringContaining(`,${until}`)]);
  });

  it.each(['by=color', 'from=2026-13-01', 'from=2026-11-02&to=2026-11-01', 'limit=0'])(
    '[OPS-7] refuses %s',
    async query => {
      expect((await portico.api('GET', `/api/v1/usage?${query}`)).status).toBe(422);
    },
  );

  it('[OPS-7] counts a call once that was stored when it was sent and with its end', async () => {
    const open = (n: number) => call(n, { id: toTimeId(NOON + n), outcome: 'unknown' });
    const [early, late, lost, turned] = [open(1), open(2), open(3), open(4)];
    const ended = (event: AuditEvent) => ({ ...event, outcome: 'done' as const });
    const sums = async () => (await usage()).map(({ calls, unknown }) => [calls, unknown]);
    // In one part, in two, without an end, and the end before the beginning.
    await insertOld(NOON + MINUTE_MS, [early, ended(early), late, lost, ended(turned)]);
    await addUpAll();
    expect(await sums()).toEqual([[4, 2]]);
    await insertOld(NOON + 2 * MINUTE_MS, [ended(late), turned]);
    await addUpAll();
    expect(await sums()).toEqual([[4, 1]]);
  });

  it('[OPS-7] adds further tools of a day into one row beyond its bound', async () => {
    await DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
       INSERT INTO usage SELECT ?, 'x', 't', 'tool.call', 's', 't' || i, 'git', 1, 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 FROM n`,
    )
      .bind(DAY)
      .run();
    await DB.prepare(
      `UPDATE usage SET tool = 'push', server_id = 's1', principal_id = 'ada', token_id = 't1' WHERE tool = 't7'`,
    ).run();
    await insertOld(NOON + MINUTE_MS, [
      call(1),
      call(2, { subject: 'git.a' }),
      call(3, { subject: 'git.b' }),
    ]);
    await addUpAll();
    const items = await usage('&by=tool&principal=ada');
    expect(items.map(({ tool, calls }) => [tool, calls])).toEqual([
      ['*', 2],
      ['git.push', 2],
    ]);
  });

  it('[OPS-7] does nothing if the database lacks its tables', async () => {
    await DB.batch([
      DB.prepare('ALTER TABLE usage_progress RENAME TO kept_progress'),
      DB.prepare('ALTER TABLE usage RENAME TO kept_usage'),
    ]);
    try {
      expect(await addUpPart(DB, '~')).toBe(false);
    } finally {
      await DB.batch([
        DB.prepare('ALTER TABLE kept_progress RENAME TO usage_progress'),
        DB.prepare('ALTER TABLE kept_usage RENAME TO usage'),
      ]);
    }
  });
});

async function make(name: string, groups: string[] = []): Promise<{ id: string }> {
  const response = await portico.api('POST', '/api/v1/principals', {
    name,
    groups,
  });
  return response.json();
}
