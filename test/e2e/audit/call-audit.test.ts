/**
 * Ten thousand calls under faults, or a share of them, with the gateway killed and started again in their midst. Recorded before they
 * leave: one row for each, with one end, soon. Recorded in batches: no row twice, none wrong, and none lost but of the last moments
 * before the kill. In chains that show an edit and a deletion, and no secret in any of them.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { createRandom, drawn, SEED } from '../../unit/seeded.ts';
import { CANARY, KINDS, make } from '../support/audited-calls.ts';
import type { Callers, MadeCall } from '../support/audited-calls.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { openModern } from '../support/raw-client.ts';

const CALLERS = 8;
const AT_ONCE = 24;
/** A row has its end within this time after its call was left alone, in milliseconds. */
const SETTLED_MS = 180_000;
/** For a machine that is busy. */
const TIME_MS = 900_000;

interface Row {
  id: string;
  principal: string;
  subject: string;
  outcome: string;
  code: string | null;
  shard: string;
  chunk?: string;
  detail: { arguments?: { key?: string } };
}

/** A second of gathering, and what a busy machine adds to it: calls that were over so long before a kill have their rows, in milliseconds. */
const AT_RISK_MS = 2_000;
const MODES = [
  ['before', drawn(10_000)],
  ['batched', drawn(10_000)],
] as const;

const settings = {
  // Whoever leaves leaves first, on a machine that is busy too.
  PORTICO_CALL_TIMEOUT_MS: '120000',
  PORTICO_DISCOVERY_INTERVAL_MS: '3600000',
  PORTICO_HEALTH_INTERVAL_MS: '3600000',
  // Every call here is meant to reach its server.
  PORTICO_CIRCUIT_FAILURES: '1000000',
};

describe.each(MODES)(`recorded %s, %i calls under faults (seed ${SEED})`, (mode, count) => {
  const env = { ...settings, PORTICO_AUDIT_CALLS: mode };
  const random = createRandom();
  const upstreams: Record<string, Upstream> = {};
  const made: MadeCall[] = [];
  let gateway: Gateway;
  let data: string;
  let tokens: { able: string; unable: string }[];
  let rows: Row[];
  let killedAt = 0;

  function pickKind(): string {
    let at = random.below(100);
    for (const [name, { share }] of Object.entries(KINDS)) {
      at -= share;
      if (at < 0) return name;
    }
    return 'good';
  }

  async function hasArrived({ mark, server }: MadeCall): Promise<boolean> {
    const counters = await upstreams[server]?.counters(`?key=${mark}`);
    return (counters?.['executions'] ?? 0) > 0;
  }

  const callersOf = ({ able, unable }: { able: string; unable: string }): Callers => {
    const url = `${gateway.origin}/mcp`;
    return {
      able: openModern({ url, token: able }),
      unable: openModern({ url, token: unable }),
      hasArrived,
    };
  };

  /** Makes calls up to a number, so many at once; each caller goes on with the next when one is over. */
  async function makeCalls(upTo: number): Promise<void> {
    const callers = tokens.map(callersOf);
    const servers = Object.keys(upstreams);
    const next = async (): Promise<void> => {
      while (made.length < upTo) {
        const mark = `c${made.length}`;
        const call = { mark, kind: pickKind(), server: random.pick(servers), isOver: false };
        made.push(call);
        await make(call, random.pick(callers));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
  }

  async function exportRows(): Promise<Row[]> {
    const { text } = await gateway.api('GET', '/api/v1/audit/export?action=tool.call');
    return text
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line) as Row);
  }

  const markOf = ({ detail }: Row) => detail.arguments?.key ?? '';

  /** Which shards are not as they were written. */
  async function findBroken(): Promise<string[]> {
    const { json } = await gateway.api('GET', '/api/v1/audit/shards?limit=500');
    const broken: string[] = [];
    for (const { shard } of json['shards'] as { shard: string }[]) {
      const path = `/api/v1/audit/verify?limit=10000&shard=${encodeURIComponent(shard)}`;
      const found = await gateway.api('GET', path);
      if (found.json['is_intact'] !== true) broken.push(shard);
    }
    return broken;
  }

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'portico-e2e-audit-'));
    gateway = await startGateway({ data, env });
    for (const [name, options] of Object.entries({
      modern: { era: 'modern', answer: 'json' },
      streaming: { era: 'modern', answer: 'sse' },
      legacy: { era: 'legacy', answer: 'json' },
    })) {
      const upstream = await startFixture('faulty', options);
      upstreams[name] = upstream;
      const headers = { Authorization: `Bearer ${CANARY}` };
      await gateway.register(name, `${upstream.origin}/mcp`, { headers });
    }
    const create = async (scopes: string[]) =>
      (await gateway.createToken({ name: 'a', scopes })).token;
    tokens = await Promise.all(
      Array.from({ length: CALLERS }, async () => ({
        able: await create(['tools:read', 'tools:call']),
        unable: await create(['tools:read']),
      })),
    );
  }, TIME_MS);

  afterAll(async () => {
    await gateway?.stop();
    await Promise.all(Object.values(upstreams).map(upstream => upstream.stop()));
    await rm(data, { recursive: true, force: true });
  });

  it(
    '[SEC-6] have one row each with one end, through a kill of the gateway',
    async () => {
      const killing = until('most of them were made', TIME_MS, async () =>
        made.length >= (count * 3) / 4 ? true : undefined,
      ).then(() => {
        killedAt = Date.now();
        return gateway.kill();
      });
      // What is begun while the gateway is gone finds nobody, and is no call.
      await makeCalls((count * 3) / 4 + AT_ONCE);
      await killing;
      const { port, adminToken } = gateway;
      gateway = await startGateway({ data, port, adminToken, env });
      await makeCalls(count);
      const over = made.filter(({ isOver }) => isOver);
      expect(over.length).toBeGreaterThan(count - 4 * AT_ONCE);

      const lost = made.filter(({ isOver }) => !isOver);
      const seen = await Promise.all(lost.map(hasArrived));
      const isAtRisk = ({ overAt = killedAt }: MadeCall) =>
        mode === 'batched' && overAt > killedAt - AT_RISK_MS && overAt <= killedAt + 1_000;
      const all = [...over, ...lost.filter((_, i) => seen[i])];
      const expected = all.filter(call => !isAtRisk(call));
      expect(expected.length).toBeGreaterThan(count * 0.5);
      let missing = expected;
      const look = async () => {
        rows = await exportRows();
        const marks = new Set(rows.map(markOf));
        missing = expected.filter(({ mark }) => !marks.has(mark));
        return missing.length === 0 ? true : undefined;
      };
      await until('every call has its row', SETTLED_MS, look, 1_000).catch(() => undefined);
      expect(missing).toEqual([]);

      const byMark = Map.groupBy(rows, markOf);
      const several = [...byMark.values()].filter(ofOne => ofOne.length > 1);
      expect(several).toEqual([]);
      expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
      const wrong = over.flatMap(({ mark, kind }) => {
        const [row] = byMark.get(mark) ?? [];
        if (!row && mode === 'batched') return [];
        const { outcome, code } = row ?? {};
        const is = KINDS[kind];
        return outcome === is?.outcome && code === is?.code ? [] : [[mark, kind, outcome, code]];
      });
      // An answer may have reached its caller, and the end of its call not its row, when the gateway was killed.
      expect(wrong.filter(([, , outcome]) => outcome !== 'unknown')).toEqual([]);
      expect(wrong.length).toBeLessThanOrEqual(mode === 'before' ? 4 * AT_ONCE : 0);
      const unrecorded = all.filter(({ mark }) => !byMark.has(mark)).length;
      console.log(`${mode}: ${unrecorded} of ${all.length} calls have no row after the kill`);
    },
    TIME_MS,
  );

  it('[SEC-6] [SEC-2] leave no secret in any row', async () => {
    const { text } = await gateway.api('GET', '/api/v1/audit/export');
    expect(text.length).toBeGreaterThan(100_000);
    expect(text).not.toContain(CANARY);
    for (const { able, unable } of tokens) {
      expect(text.includes(able) || text.includes(unable)).toBe(false);
    }
  });

  it(
    '[SEC-6] are in chains that are whole, until a row of them is edited or deleted',
    async () => {
      expect(await findBroken()).toEqual([]);
      const { port, adminToken } = gateway;
      await gateway.stop();
      const folder = join(data, 'storage', 'd1');
      const [file] = (await readdir(folder, { recursive: true })).filter(
        name => name.endsWith('.sqlite') && !name.includes('metadata'),
      );
      const database = new DatabaseSync(join(folder, file ?? ''));
      const change = (sql: string, ...of: string[]) => database.prepare(sql).run(...of).changes;
      const broken = mode === 'before' ? tamperWithRows(change) : tamperWithChunks(change);
      database.close();
      gateway = await startGateway({ data, port, adminToken, env });
      expect((await findBroken()).toSorted()).toEqual(broken.toSorted());
    },
    TIME_MS,
  );

  /** @returns the shards that are broken by it */
  function tamperWithRows(change: (sql: string, ...of: string[]) => number | bigint): string[] {
    const [edited = '', deleted = ''] = [...new Set(rows.map(({ shard }) => shard))];
    // Another outcome than the row has: one of eight is a denial already.
    const edit = `UPDATE audit_events SET outcome = CASE outcome WHEN 'denied' THEN 'done' ELSE 'denied' END
      WHERE shard = ? AND seq = 7`;
    expect(change(edit, edited)).toBe(1);
    expect(change('DELETE FROM audit_events WHERE shard = ? AND seq = 7', deleted)).toBe(1);
    return [edited, deleted];
  }

  function tamperWithChunks(change: (sql: string, ...of: string[]) => number | bigint): string[] {
    const { chunk = '' } = rows[7] ?? {};
    expect(change('UPDATE call_chunks SET to_at = to_at + 1 WHERE id = ?', chunk)).toBe(1);
    return ['calls'];
  }
});
