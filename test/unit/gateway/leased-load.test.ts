/** One principal in four isolates, faster than an object could answer: no call is refused, and each has its row. */
import { afterEach, expect, it, vi } from 'vitest';
import type { AuditEvent } from '../../../src/audit/audit-schema.ts';
import { CallLedger } from '../../../src/gateway/call-log/call-ledger.ts';
import { createChunkLog } from '../../../src/gateway/call-log/call-log.ts';
import { GatheredCalls } from '../../../src/gateway/call-log/gathered-calls.ts';
import { createRandom, SEED } from '../seeded.ts';
import { createLeasedWorld } from './leased-world.ts';

afterEach(() => void vi.restoreAllMocks());

const ISOLATES = 4;
/** In each isolate: 500 a second. */
const EVERY_MS = 2;
const SECONDS = 12;
const SERVER = { id: 'id-a', name: 'a', status: 'CONNECTED' } as const;

it(`[EDGE-3] [ACC-6] [SEC-6] 2,000 calls a second of one principal pass in four isolates, and all have rows (seed ${SEED})`, async () => {
  const random = createRandom();
  const world = createLeasedWorld({ tripMs: () => 20 + random.below(10) });
  const stored = new Map<string, readonly AuditEvent[]>();
  const packed = new Map<string, readonly AuditEvent[]>();
  const { now, wait } = world;
  // 12,000 calls are made while 13,000 may pass; then the next 12,000.
  const limit = { perMinute: 130_000, burst: 13_000 };

  const ledgers = Array.from({ length: ISOLATES }, () => {
    const { limits: tokens, waitUntil } = world.createIsolate();
    const gathered = new GatheredCalls({
      async pack(id, events) {
        packed.set(id, events);
        return { id, fromAt: 0, toAt: 0, calls: events.length, keys: '', hash: '', body: '' };
      },
      rename: async (chunk, id) => ({ ...chunk, id }),
      async write({ id }) {
        await wait(30);
        stored.set(id, packed.get(id) ?? []);
        return { isThere: true, now: now() };
      },
      wakeChain: async () => {},
      gatherMs: 25_000,
      wait,
      now,
      isOneMachine: false,
    });
    const ledger = new CallLedger({
      log: createChunkLog(tokens, gathered),
      tokens,
      budgets: { take: async () => {}, refund: () => {} },
      keys: { digest: async () => 'k1.digest' },
      isRecording: true,
      limits: { principal: limit, server: limit },
    });
    return { ledger, waitUntil };
  });

  const outcomes = { left: 0, refused: 0, waitedMs: 0 };
  const made = new Set<string>();
  const call = async ({ ledger, waitUntil }: (typeof ledgers)[number], n: number) => {
    const id = `call-${made.size}`;
    made.add(id);
    const facts = { action: 'tool.call', subject: 'a.echo', detail: { n } };
    const named = { id, caller: { principalId: 'p', tokenId: 't' }, at: now(), facts };
    try {
      const open = await ledger.begin({ ...named, server: SERVER }, waitUntil);
      outcomes.left += 1;
      outcomes.waitedMs = Math.max(outcomes.waitedMs, now() - named.at);
      await wait(40);
      open?.end({ id, outcome: 'done', code: null, detail: {} }, false);
    } catch {
      outcomes.refused += 1;
    }
  };
  const calls: Promise<void>[] = [];
  for (let n = 0; n < (SECONDS * 1_000) / EVERY_MS; n += 1) {
    for (const isolate of ledgers) calls.push(call(isolate, n));
    await world.pass(EVERY_MS);
  }
  await world.pass(60_000);
  await Promise.all(calls);

  const offered = ISOLATES * ((SECONDS * 1_000) / EVERY_MS);
  expect([outcomes.left, outcomes.refused]).toEqual([offered, 0]);
  // A round trip and one polling interval; a few messages per thousand calls.
  expect(outcomes.waitedMs).toBeLessThan(150);
  expect(world.asked.length / offered).toBeLessThan(0.05);
  const rows = [...stored.values()].flat();
  expect([rows.length, new Set(rows.map(({ id }) => id)).size]).toEqual([offered, offered]);
  expect(rows.every(({ outcome }) => outcome === 'done')).toBe(true);
}, 60_000);
