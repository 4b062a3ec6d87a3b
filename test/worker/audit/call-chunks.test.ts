/** Chunks of calls in the database: each stored once, and read in the order of time however they overlap. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEvent, AuditFilter, AuditPosition } from '../../../src/audit/audit-schema.ts';
import { toCallChunk, toEvents } from '../../../src/audit/chunks/call-chunk.ts';
import { writeChunk } from '../../../src/audit/chunks/chunk-store.ts';
import { compare, findCall, positionOf, readCalls } from '../../../src/audit/chunks/read-calls.ts';
import { toTimeId } from '../../../src/shared/util/time-id.ts';
import { createRandom, SEED } from '../../unit/seeded.ts';
import { insertOld, toCall } from '../support/chunks.ts';

const { DB } = env;

beforeEach(async () => {
  await DB.prepare('DELETE FROM call_chunks').run();
});

describe('a chunk', () => {
  it('[SEC-6] is stored once, and only if it was neither late nor early', async () => {
    const now = Date.now();
    const chunk = await toCallChunk(toTimeId(now), [toCall(now - 5)]);
    expect(await writeChunk(DB, chunk)).toMatchObject({ isThere: true });
    expect(await writeChunk(DB, chunk)).toMatchObject({ isThere: true });
    for (const aside of [-25_000, 25_000]) {
      const late = await toCallChunk(toTimeId(now + aside), [toCall(now)]);
      const { isThere, now: there } = await writeChunk(DB, late);
      expect(isThere).toBe(false);
      expect(Math.abs(there - Date.now())).toBeLessThan(5_000);
    }
    const { results } = await DB.prepare('SELECT id, calls FROM call_chunks').all();
    expect(results).toEqual([{ id: chunk.id, calls: 1 }]);
  });

  it('[EDGE-2] costs one written row, however many calls it holds', async () => {
    const now = Date.now();
    const calls = Array.from({ length: 200 }, (_, i) => toCall(now - i));
    const { id, fromAt, toAt, keys, hash, body } = await toCallChunk(toTimeId(now), calls);
    const { meta } = await DB.prepare('INSERT INTO call_chunks VALUES (?, ?, ?, ?, ?, ?, ?)')
      .bind(id, fromAt, toAt, calls.length, keys, hash, body)
      .run();
    expect(meta.rows_written).toBe(1);
  });

  it('[SEC-6] returns what was put in, and reveals a change', async () => {
    const calls = [toCall(1), toCall(2, { detail: { text: '\u{1F600} "\\ \u2028', n: 1e300 } })];
    const chunk = await toCallChunk(toTimeId(3), calls);
    expect(await toEvents(chunk)).toEqual(calls);
    for (const body of ['', '!', 'AAAA', chunk.body.slice(4)]) {
      const [event, ...others] = await toEvents({ ...chunk, body });
      expect(others).toEqual([]);
      expect(event).toMatchObject({ outcome: 'unknown', detail: { unreadable: true } });
    }
  });

  it('[SEC-6] is read up to a bound, however well it was compressed', async () => {
    const withText = (text: string) => toCallChunk(toTimeId(3), [toCall(1, { detail: { text } })]);
    // A character of four bytes lies across the end of a piece at every offset.
    const long = '\u{1F600}a'.repeat(1_000_000);
    const [read] = await toEvents(await withText(long));
    expect(read?.detail['text'] === long).toBe(true);
    const bomb = await withText('x'.repeat(9_000_000));
    expect(bomb.body.length).toBeLessThan(20_000);
    expect(await toEvents(bomb)).toMatchObject([{ detail: { unreadable: true } }]);
  });
});

const START = Date.UTC(2026, 9, 1);
const HOUR_MS = 3_600_000;

/** Chunks of several isolates at once: most with calls of some seconds, some with calls of hours before. */
async function writeHistory(chunks: number, perChunk: number): Promise<AuditEvent[]> {
  const random = createRandom();
  const all: AuditEvent[] = [];
  let at = START + 4 * HOUR_MS;
  for (let n = 0; n < chunks; n += 1) {
    // Some in the very same millisecond.
    at += random.chance(0.3) ? 0 : random.below(4_000);
    const calls = Array.from({ length: 1 + random.below(perChunk) }, () =>
      toCall(at - random.below(random.chance(0.05) ? 3 * HOUR_MS : 25_000), {
        principalId: random.pick(['ada', 'bob', 'cyd']),
        tokenId: random.pick(['t1', 't2']),
        action: random.pick(['tool.call', 'tool.call', 'prompt.get']),
        subject: random.pick(['git.push', 'git.pull', 'gitlab.push', 'mail.send']),
        outcome: random.pick(['done', 'done', 'failed', 'denied']),
      }),
    );
    await insertOld(at, calls);
    all.push(...calls);
  }
  return all;
}

const FILTERS: [AuditFilter, (event: AuditEvent) => boolean][] = [
  [{}, () => true],
  [{ principalIds: ['ada', 'nobody'] }, ({ principalId }) => principalId === 'ada'],
  [{ tokenIds: ['t2'], outcome: 'failed' }, e => e.tokenId === 't2' && e.outcome === 'failed'],
  [{ kind: 'calls' }, () => true],
  [{ action: 'prompt.get' }, ({ action }) => action === 'prompt.get'],
  [{ subjects: ['mail.send', 'git.pull'] }, e => ['mail.send', 'git.pull'].includes(e.subject)],
  [{ subjectPrefix: 'git' }, ({ subject }) => subject.startsWith('git')],
  [{ ofServers: { ids: [], names: ['git'] } }, ({ subject }) => subject.startsWith('git.')],
  [
    { since: START + 3.9 * HOUR_MS, until: START + 4.005 * HOUR_MS },
    ({ at }) => at >= START + 3.9 * HOUR_MS && at < START + 4.005 * HOUR_MS,
  ],
];

describe(`calls in chunks (seed ${SEED})`, () => {
  it('[SEC-6] are read page by page in the order of their time, each once, through every filter', async () => {
    const all = await writeHistory(70, 12);
    for (const order of ['newest', 'oldest'] as const) {
      for (const [filter, matches] of FILTERS) {
        const read: string[] = [];
        const positions: AuditPosition[] = [];
        for (;;) {
          const { calls: page } = await readCalls(DB, filter, order, 37, positions.at(-1));
          read.push(...page.map(({ id }) => id));
          positions.push(...page.map(positionOf));
          if (page.length < 37) break;
        }
        const sorted = positions.toSorted((a, b) => compare(order, a, b));
        expect(positions).toEqual(sorted);
        const wanted = all.filter(matches).map(({ id }) => id);
        expect(wanted.length).toBeGreaterThan(10);
        expect(read.toSorted()).toEqual(wanted.toSorted());
      }
      expect(await readCalls(DB, { kind: 'acts' }, order, 1)).toEqual({ calls: [] });
    }
  });

  it('[SEC-6] are read once with their end, if they were also stored when they were sent', async () => {
    const random = createRandom();
    const wanted: AuditEvent[] = [];
    let at = START;
    const pending: { at: number; call: AuditEvent }[] = [];
    for (let n = 0; n < 60; n += 1) {
      at += random.below(20_000);
      const open = Array.from({ length: 1 + random.below(3) }, () =>
        toCall(at - random.below(50), {
          principalId: random.pick(['ada', 'bob']),
          outcome: 'unknown',
          detail: { door: 'modern' },
        }),
      );
      for (const call of open) {
        const end = { ...call, outcome: random.pick(['done', 'failed'] as const), detail: {} };
        // Some ended hours later, and the end of some is unknown.
        const isEnded = random.chance(0.8);
        const ms = random.chance(0.1) ? 3 * HOUR_MS : random.below(30_000);
        if (isEnded) pending.push({ at: at + ms, call: end });
        wanted.push(isEnded ? end : call);
      }
      const over = pending.filter(each => each.at <= at).map(({ call }) => call);
      pending.splice(0, pending.length, ...pending.filter(each => each.at > at));
      // An end may be written before its beginning.
      await insertOld(at, random.chance(0.5) ? [...open, ...over] : [...over, ...open]);
    }
    for (const { at: endedAt, call } of pending) await insertOld(endedAt, [call]);
    const FOUND: [AuditFilter, (event: AuditEvent) => boolean][] = [
      [{}, () => true],
      [{ outcome: 'unknown' }, ({ outcome }) => outcome === 'unknown'],
      [
        { outcome: 'done', principalIds: ['ada'] },
        e => e.outcome === 'done' && e.principalId === 'ada',
      ],
      [
        { outcome: 'unknown', principalIds: ['bob'] },
        e => e.outcome === 'unknown' && e.principalId === 'bob',
      ],
    ];
    for (const order of ['newest', 'oldest'] as const) {
      for (const [filter, matches] of FOUND) {
        const read: AuditEvent[] = [];
        let after: AuditPosition | undefined;
        for (;;) {
          const { calls: page } = await readCalls(DB, filter, order, 9, after);
          read.push(...page);
          const last = page.at(-1);
          if (!last || page.length < 9) break;
          after = positionOf(last);
        }
        const told = (events: readonly AuditEvent[]) =>
          events.map(({ id, outcome }) => `${id} ${outcome}`).toSorted();
        expect(told(read)).toEqual(told(wanted.filter(matches)));
      }
    }
  });

  it('[SEC-6] are in order if many chunks were written in one millisecond', async () => {
    const all: AuditEvent[] = [];
    for (let n = 0; n < 30; n += 1) {
      const calls = [toCall(START - n), toCall(START - 1_000 + n)];
      await insertOld(START, calls);
      all.push(...calls);
    }
    for (const order of ['newest', 'oldest'] as const) {
      const { calls: read } = await readCalls(DB, {}, order, 1_000);
      expect(read.map(({ at }) => at)).toEqual(
        all.map(({ at }) => at).toSorted((a, b) => (order === 'oldest' ? a - b : b - a)),
      );
    }
  });

  it('[SEC-6] are found by their ids', async () => {
    const all = await writeHistory(20, 5);
    for (const { id, at } of all.slice(0, 40)) {
      expect(await findCall(DB, id)).toMatchObject({ id, at, shard: 'calls' });
    }
    expect(await findCall(DB, toTimeId(START + 4 * HOUR_MS))).toBeUndefined();
    expect(await findCall(DB, crypto.randomUUID())).toBeUndefined();
  });
});
