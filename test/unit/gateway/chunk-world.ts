/** Rows of calls on their way to a database with a clock of its own, in fake time. */
import { inflateRawSync } from 'node:zlib';
import type { AuditEvent } from '../../../src/audit/audit-schema.ts';
import { toCallChunk, withId, type CallChunk } from '../../../src/audit/chunks/call-chunk.ts';
import {
  GatheredCalls,
  type EndedCall,
  type GatheredCallsPorts,
} from '../../../src/gateway/call-log/gathered-calls.ts';
import { timeOfId } from '../../../src/shared/util/time-id.ts';

export const START = 1_790_000_000_000;
export const GATHER_MS = 1_000;
/** How long the database accepts a chunk, see `WRITABLE_MS`. */
const WRITABLE_MS = 20_000;

/** The fate of a write: carried out or not, and its sender gets the outcome or not. */
export type Fate = 'done' | 'lost' | 'unheard' | 'never' | 'slow';

/** A database with a clock of its own, in fake time. @param packingOf the fate of a packing */
export function createWorld(
  fateOf: () => Fate = () => 'done',
  more: Partial<GatheredCallsPorts> = {},
  packingOf: () => Fate = () => 'done',
) {
  let now = START;
  let aheadMs = 0;
  const waiting: { until: number; go: () => void }[] = [];
  const stored = new Map<string, CallChunk>();
  const tried: string[] = [];
  let woken = 0;
  let packing = 0;
  const work: Promise<unknown>[] = [];
  const ports = {
    async pack(id: string, events: readonly AuditEvent[]) {
      const fate = packingOf();
      if (fate === 'never') return new Promise<never>(() => {});
      if (fate === 'slow') await ports.wait(6_000);
      packing += 1;
      return toCallChunk(id, events).finally(() => (packing -= 1));
    },
    async rename(chunk: CallChunk, id: string) {
      packing += 1;
      return withId(chunk, id).finally(() => (packing -= 1));
    },
    async write(chunk: CallChunk) {
      tried.push(chunk.id);
      const fate = fateOf();
      if (fate === 'lost') throw new Error('lost');
      // Longer than a try may take, and sometimes longer than a chunk may be written.
      if (fate === 'slow') await ports.wait(6_000 + 400 * (tried.length % 50));
      if (fate === 'never') return new Promise<never>(() => {});
      const isInTime = Math.abs(now + aheadMs - (timeOfId(chunk.id) ?? 0)) < WRITABLE_MS;
      if (isInTime && !stored.has(chunk.id)) stored.set(chunk.id, structuredClone(chunk));
      if (fate === 'unheard') throw new Error('unheard');
      return { isThere: stored.has(chunk.id), now: now + aheadMs };
    },
    wakeChain: async () => void (woken += 1),
    gatherMs: GATHER_MS,
    wait: (ms: number) => new Promise<void>(go => waiting.push({ until: now + ms, go })),
    now: () => now,
    isOneMachine: false,
    ...more,
  };
  const gathered = new GatheredCalls(ports);
  const isPacking = () => packing > 0;
  /** Waits until everything only waits for time to pass. */
  const settle = async () => {
    do for (let n = 0; n < 3; n += 1) await new Promise(resolve => setImmediate(resolve));
    while (isPacking());
  };
  return {
    gathered,
    ports,
    stored,
    tried,
    work,
    woken: () => woken,
    setAhead: (ms: number) => (aheadMs = ms),
    wait: ports.wait,
    now: ports.now,
    waitUntil: (each: Promise<unknown>) => void work.push(each),
    async pass(ms: number, step = ms) {
      const until = now + ms;
      while (now < until) {
        await settle();
        now += Math.min(step, until - now);
        for (const each of waiting.splice(0)) {
          if (each.until <= now) each.go();
          else waiting.push(each);
        }
      }
      await settle();
    },
    async rows(): Promise<AuditEvent[]> {
      return [...stored.values()].flatMap(readChunk);
    },
  };
}

/** The contents of a chunk, read without the Worker's own reader. */
export function readChunk({ body }: CallChunk): AuditEvent[] {
  const text = inflateRawSync(Buffer.from(body, 'base64url')).toString();
  const names = ['id', 'at', 'principalId', 'tokenId', 'action', 'subject', 'outcome', 'code'];
  const rows = JSON.parse(text) as unknown[][];
  return rows.map(
    row => Object.fromEntries([...names, 'detail'].map((name, i) => [name, row[i]])) as never,
  );
}

/** An ended call. */
export const ended = (id: string, more: Partial<EndedCall> = {}): EndedCall => ({
  principalId: 'p',
  started: async () => ({
    id,
    at: START,
    tokenId: 't',
    action: 'tool.call',
    subject: 'a.echo',
    detail: '{"door":"modern"}',
  }),
  end: { outcome: 'done', code: null, detail: { duration_ms: 3 } },
  ...more,
});
