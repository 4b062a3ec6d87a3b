/** Counts of the audit: by time and outcome, of calls in chunks and of administrative changes, for each viewer's own rows. */
import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { toCall, insertOld } from '../support/chunks.ts';
import { createPortico, createToken } from '../support/portico.ts';

interface Counts {
  since: string;
  until: string;
  step_seconds: number;
  counted_since: string;
  parts: Record<string, number | string>[];
}

const portico = createPortico();
const HOUR = 3_600_000;
const T0 = Date.UTC(2026, 0, 5);
const time = (ms: number) => new Date(ms).toISOString();
const SPAN = `since=${time(T0)}&until=${time(T0 + 24 * HOUR)}`;

async function count(query: string, token?: string): Promise<Counts> {
  const sent = token === undefined ? {} : { token };
  const answer = await portico.api('GET', `/api/v1/audit/counts?${query}`, undefined, sent);
  const text = await answer.text();
  expect([text.slice(0, 300), answer.status]).toEqual([text.slice(0, 300), 200]);
  return JSON.parse(text) as Counts;
}
const sumOf = ({ parts }: Counts, name: string) =>
  parts.reduce((sum, part) => sum + Number(part[name]), 0);

describe('counts', () => {
  beforeEach(async () => {
    await env.DB.prepare('DELETE FROM call_chunks').run();
  });

  it('[SEC-6] [OPS-1] are by time and outcome, with the number of slow calls', async () => {
    await insertOld(T0 + HOUR, [
      toCall(T0),
      toCall(T0 + 1, { outcome: 'denied', code: 'tool_not_found' }),
      toCall(T0 + HOUR - 1, { outcome: 'failed', detail: { duration_ms: 5000 } }),
    ]);
    await insertOld(T0 + 3 * HOUR, [toCall(T0 + HOUR), toCall(T0 + 2 * HOUR)]);
    const found = await count(`${SPAN}&kind=calls&step=3600`);
    expect(found).toMatchObject({ step_seconds: 3600, counted_since: time(T0) });
    const none = { done: 0, denied: 0, failed: 0, cancelled: 0, unknown: 0, slow: 0 };
    expect(found.parts).toEqual([
      { at: time(T0), ...none, done: 1, denied: 1, failed: 1, slow: 1 },
      { at: time(T0 + HOUR), ...none, done: 1 },
      { at: time(T0 + 2 * HOUR), ...none, done: 1 },
    ]);
    expect(sumOf(await count(`${SPAN}&slow_ms=3`), 'slow')).toBe(4 + 1);
    expect(sumOf(await count(`${SPAN}&outcome=denied`), 'denied')).toBe(1);
    expect((await count(`${SPAN}&kind=acts`)).parts).toEqual([]);
  });

  it('[SEC-6] include calls that began within the span, whenever they were written', async () => {
    await insertOld(T0 + 26 * HOUR, [toCall(T0 - 1), toCall(T0), toCall(T0 + 24 * HOUR - 1)]);
    await insertOld(T0 + 25 * HOUR, [toCall(T0 + 24 * HOUR)]);
    expect(sumOf(await count(`${SPAN}&kind=calls`), 'done')).toBe(2);
  });

  it('[SEC-6] count a call once, also if its beginning was stored too', async () => {
    const [open, lost] = [
      toCall(T0 + 5, { outcome: 'unknown' }),
      toCall(T0 + 6, { outcome: 'unknown' }),
    ];
    await insertOld(T0 + 1000, [open, lost]);
    await insertOld(T0 + 2 * HOUR, [{ ...open, outcome: 'done' }]);
    const all = await count(SPAN);
    expect([sumOf(all, 'done'), sumOf(all, 'unknown')]).toEqual([1, 1]);
    expect(sumOf(await count(`${SPAN}&outcome=unknown`), 'unknown')).toBe(1);
  });

  it('[SEC-6] [OPS-1] are equal for chunks with and without a summary of their calls', async () => {
    const outcomes = ['done', 'denied', 'failed', 'cancelled'] as const;
    for (let n = 0; n < 40; n += 1) {
      const from = T0 - HOUR + n * 0.7 * HOUR;
      const calls = Array.from({ length: 5 }, (_, i) =>
        toCall(from + i * (n % 4) * 200_000, {
          outcome: outcomes[(n + i) % outcomes.length] ?? 'done',
          detail: { duration_ms: (n + i) % 3 === 0 ? 5000 : 4999 },
        }),
      );
      await insertOld(from + HOUR, calls, n % 5 !== 0);
    }
    for (const query of ['', '&outcome=denied', '&outcome=unknown', '&step=3600', '&step=86400']) {
      // Chunks summarize no other duration, so all of them are opened.
      const [said, read] = [await count(SPAN + query), await count(`${SPAN}${query}&slow_ms=4999`)];
      const without = (parts: Counts['parts']) => parts.map(part => ({ ...part, slow: 0 }));
      expect([query, without(said.parts)]).toEqual([query, without(read.parts)]);
    }
    const all = await count(SPAN);
    await env.DB.prepare("UPDATE call_chunks SET keys = json_remove(keys, '$.counts')").run();
    expect(await count(SPAN)).toEqual(all);
    expect(sumOf(all, 'slow')).toBeGreaterThan(10);
    expect(sumOf(all, 'done')).toBeGreaterThan(10);
  });

  it("[SEC-6] [ACC-9] cover what the viewer may see, and other people's names count nothing", async () => {
    const { id, token } = await createToken(portico);
    const me = await env.DB.prepare('SELECT principal_id AS id FROM tokens WHERE id = ?')
      .bind(id)
      .first<{ id: string }>();
    const mine = { principalId: me?.id ?? '', tokenId: id };
    await insertOld(T0 + HOUR, [toCall(T0), toCall(T0 + 1), toCall(T0 + 2, mine)]);
    expect(sumOf(await count(SPAN, token), 'done')).toBe(1);
    expect((await count(`${SPAN}&principal=ada`, token)).parts).toEqual([]);
    expect(sumOf(await count(SPAN), 'done')).toBe(3);
    expect(sumOf(await count(`${SPAN}&principal=ada`), 'done')).toBe(2);
    const { token: other } = await createToken(portico, { scopes: ['servers:read'] });
    const refused = await portico.api('GET', '/api/v1/audit/counts', undefined, { token: other });
    expect(refused.status).toBe(403);
  });

  it('[SEC-6] [REG-8] refuse an invalid span, and more parts than allowed', async () => {
    for (const query of [
      `since=${time(T0)}&until=${time(T0)}`,
      `${SPAN}&step=60`,
      `${SPAN}&step=0`,
      `${SPAN}&slow_ms=0`,
      `${SPAN}&limit=5`,
    ]) {
      const answer = await portico.api('GET', `/api/v1/audit/counts?${query}`);
      expect([query, answer.status]).toEqual([query, 422]);
    }
    const last = await count('');
    expect(Date.parse(last.until) - Date.parse(last.since)).toBe(30 * 24 * HOUR);
    expect(sumOf(last, 'done')).toBeGreaterThan(0);
  });
});

describe('of a hundred thousand calls', () => {
  const CHUNKS = 1_000;
  beforeAll(async () => {
    await env.DB.prepare('DELETE FROM call_chunks').run();
    for (let n = 0; n < CHUNKS; n += 1) {
      const at = T0 + n * 80_000;
      const calls = Array.from({ length: 100 }, (_, i) => toCall(at + i));
      await insertOld(at + 1000, calls);
    }
  });

  it('[SEC-6] [OPS-1] the newest are opened, and the response says since when', async () => {
    const found = await count(`${SPAN}&step=3600`);
    const since = Date.parse(found.counted_since);
    expect(since).toBeGreaterThan(T0);
    const chunks = Array.from({ length: CHUNKS }, (_, n) => T0 + n * 80_000);
    expect(sumOf(found, 'done')).toBe(100 * chunks.filter(at => at >= since).length);
    expect(sumOf(found, 'done')).toBeGreaterThan(15_000);
  });

  it('[SEC-6] [OPS-1] all are counted if chunks have summaries', async () => {
    const said = JSON.stringify({ done: [100, 2] });
    await env.DB.prepare("UPDATE call_chunks SET keys = json_set(keys, '$.counts', json(?))")
      .bind(said)
      .run();
    const found = await count(`${SPAN}&step=3600`);
    expect(found.counted_since).toBe(time(T0));
    expect(sumOf(found, 'done')).toBe(100 * CHUNKS);
    expect(sumOf(await count(`${SPAN}&step=3600&slow_ms=4999`), 'done')).toBeLessThan(50_000);
  });
});
