/**
 * Counts the audit rows that match, by time and outcome. Calls are stored in chunks. A chunk lists the outcomes of its calls, so if the
 * filter asks for nothing else, only chunks that cross the edge of a part are opened; otherwise all are opened, the newest first. Either
 * way the number of chunks read is bounded by the time of a request; `countedSince` tells since when the counts are complete.
 */
import { firstIdAt, timeOfId } from '../shared/util/time-id.ts';
import { yieldToRequests } from '../shared/util/yield-to-requests.ts';
import { countEvents, type Count, type CountSpan } from './audit-count-store.ts';
import type { AuditEvent, AuditFilter, AuditOutcome } from './audit-schema.ts';
import type { Condition } from './audit-store.ts';
import { isSlow, SLOW_MS, toCountedEvents } from './chunks/call-chunk.ts';
import { countWhole, whereNotWhole } from './chunks/chunk-count-store.ts';
import { listChunks, type ChunkRange } from './chunks/chunk-store.ts';
import { LONGEST_MS, matcherOf } from './chunks/read-calls.ts';

/** Limits for one request: chunks considered, chunks opened, calls in opened chunks, and other rows. */
const MAX_CONSIDERED = 5_000;
const MAX_CHUNKS = 1_000;
const MAX_CALLS = 20_000;
const MAX_ROWS = 50_000;
/** Chunks read at once, before other requests get their turn. */
const BATCH = 25;

/** Counts for one part of a span, by the time at which a call began. */
export type CountPart = Partial<Record<AuditOutcome | 'slow', number>>;

export interface AuditCounts {
  /** By the number of the part; parts without rows are absent. */
  parts: ReadonlyMap<number, CountPart>;
  /** From then on every match is counted; earlier ones are not. */
  countedSince: number;
}

/** Counts what matches in a span. */
export async function countAudit(
  db: D1Database,
  filter: AuditFilter,
  span: CountSpan,
): Promise<AuditCounts> {
  const within = { ...filter, since: span.since, until: span.until };
  const [rows, calls] = await Promise.all([
    countEvents(db, within, span, MAX_ROWS),
    countCalls(db, within, span),
  ]);
  const countedSince = Math.max(span.since, rows.countedSince, calls.countedSince);
  const first = Math.ceil((countedSince - span.since) / span.stepMs);
  const parts = new Map<number, CountPart>();
  const add = (part: number, name: keyof CountPart, count: number) => {
    // A part that is not counted completely is left out.
    if (part < first || count === 0) return;
    const before = parts.get(part) ?? {};
    parts.set(part, { ...before, [name]: (before[name] ?? 0) + count });
  };
  for (const { part, outcome, count, slow } of [...rows.counts, ...calls.counts]) {
    add(part, outcome, count);
    add(part, 'slow', slow);
  }
  for (const { at, outcome, detail } of calls.events) {
    const part = Math.floor((at - span.since) / span.stepMs);
    add(part, outcome, 1);
    if (isSlow(detail, span.slowMs)) add(part, 'slow', 1);
  }
  return { parts, countedSince: span.since + first * span.stepMs };
}

type Read = Pick<AuditEvent, 'id' | 'at' | 'outcome' | 'detail'>;

interface Counted {
  /** Counts that chunks list themselves. */
  counts: readonly Count[];
  /** Calls of the chunks that were opened. */
  events: readonly Read[];
  countedSince: number;
}

/** Counts the calls that match, and returns since when the counts are complete. */
async function countCalls(db: D1Database, filter: AuditFilter, span: CountSpan): Promise<Counted> {
  const { since, until, slowMs } = span;
  if (filter.kind === 'acts') return { counts: [], events: [], countedSince: since };
  const range = {
    fromId: firstIdAt(since),
    beforeId: firstIdAt(until + LONGEST_MS),
    since,
    until,
  };
  if (slowMs !== SLOW_MS || !needsNoChunk(filter)) {
    return { counts: [], ...(await readNewest(db, filter, range)) };
  }
  const { counts, last } = await countWhole(db, range, span, filter.outcome, MAX_CONSIDERED);
  if (last) range.fromId = last.id;
  const opened = await readNewest(db, filter, range, whereNotWhole(span));
  return { ...opened, counts, countedSince: Math.max(opened.countedSince, last?.at ?? since) };
}

/** Filters that can be answered without opening a chunk. */
const HOW: ReadonlySet<string> = new Set(['kind', 'outcome', 'since', 'until']);
const needsNoChunk = (filter: AuditFilter): boolean =>
  Object.entries(filter).every(([name, value]) => value === undefined || HOW.has(name));

/** Reads the newest calls that match, and returns since when they are complete. @param also further condition on chunks */
async function readNewest(
  db: D1Database,
  filter: AuditFilter,
  { ...range }: ChunkRange,
  also?: Condition,
): Promise<{ events: Read[]; countedSince: number }> {
  const { since, until } = range;
  const { outcome, ...others } = filter;
  // A call's end may be in another chunk than its beginning, whose outcome is `unknown`.
  const widened = outcome === 'unknown' ? others : filter;
  const matches = matcherOf(widened);
  const events: Read[] = [];
  const ended = new Set<string>();
  let calls = 0;
  for (let chunks = 0; chunks < MAX_CHUNKS && calls < MAX_CALLS; chunks += BATCH) {
    const found = await listChunks(db, range, widened, 'newest', BATCH, also);
    calls += found.reduce((sum, chunk) => sum + chunk.calls, 0);
    for (const event of (await Promise.all(found.map(toCountedEvents))).flat()) {
      if (event.at < since || event.at >= until || !matches(event)) continue;
      if (event.outcome !== 'unknown') ended.add(event.id);
      events.push(event);
    }
    const last = found.at(-1);
    if (!last || found.length < BATCH)
      return { events: toKept(events, ended, outcome), countedSince: since };
    range.beforeId = last.id;
    await yieldToRequests();
  }
  // Calls that were handed over earlier than the last chunk read also began earlier.
  const countedSince = timeOfId(range.beforeId) ?? until;
  return { events: toKept(events, ended, outcome), countedSince };
}

/** Removes the beginnings of calls whose end is known. */
const toKept = (
  events: readonly Read[],
  ended: ReadonlySet<string>,
  outcome: AuditOutcome | undefined,
): Read[] =>
  events.filter(
    event =>
      (event.outcome !== 'unknown' || !ended.has(event.id)) &&
      (outcome === undefined || event.outcome === outcome),
  );
