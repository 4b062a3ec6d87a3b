/**
 * How many rows of the audit match, by time and by how they ended. Calls lie in chunks. A chunk says how its calls ended, so where nothing
 * else is asked for, those at the edges of the parts are opened only; else all are, the newest first. Either way at most as many are looked
 * at as can be in the time of a request; the answer says from when on it is of all.
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

/** Most chunks that are looked at for one request, chunks that are opened, calls in these, and other rows. */
const MAX_LOOKED = 5_000;
const MAX_CHUNKS = 1_000;
const MAX_CALLS = 20_000;
const MAX_ROWS = 50_000;
/** Chunks read at once, before requests have their turn. */
const BATCH = 25;

/** What began in one part of a span. */
export type CountPart = Partial<Record<AuditOutcome | 'slow', number>>;

export interface AuditCounts {
  /** By the number of the part; parts without rows are not there. */
  parts: ReadonlyMap<number, CountPart>;
  /** From then on all that matches is counted; before, nothing is. */
  countedSince: number;
}

/** Count what matches in a span. */
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
    // A part that is not counted whole is not told of.
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
  /** What chunks say of themselves. */
  counts: readonly Count[];
  /** Calls of those that were opened. */
  events: readonly Read[];
  countedSince: number;
}

/** Calls that match, and from when on these are all. */
async function countCalls(db: D1Database, filter: AuditFilter, span: CountSpan): Promise<Counted> {
  const { since, until, slowMs } = span;
  if (filter.kind === 'acts') return { counts: [], events: [], countedSince: since };
  const range = {
    fromId: firstIdAt(since),
    beforeId: firstIdAt(until + LONGEST_MS),
    since,
    until,
  };
  if (slowMs !== SLOW_MS || !asksOnlyHow(filter)) {
    return { counts: [], ...(await readNewest(db, filter, range)) };
  }
  const { counts, last } = await countWhole(db, range, span, filter.outcome, MAX_LOOKED);
  if (last) range.fromId = last.id;
  const opened = await readNewest(db, filter, range, whereNotWhole(span));
  return { ...opened, counts, countedSince: Math.max(opened.countedSince, last?.at ?? since) };
}

/** What chunks say of their calls without being opened. */
const HOW: ReadonlySet<string> = new Set(['kind', 'outcome', 'since', 'until']);
const asksOnlyHow = (filter: AuditFilter): boolean =>
  Object.entries(filter).every(([name, value]) => value === undefined || HOW.has(name));

/** The newest calls that match, and from when on these are all. @param also what must be true of chunks besides */
async function readNewest(
  db: D1Database,
  filter: AuditFilter,
  { ...range }: ChunkRange,
  also?: Condition,
): Promise<{ events: Read[]; countedSince: number }> {
  const { since, until } = range;
  const { outcome, ...others } = filter;
  // The end of a call may be in another chunk than its beginning, which is `unknown`.
  const asked = outcome === 'unknown' ? others : filter;
  const matches = matcherOf(asked);
  const events: Read[] = [];
  const ended = new Set<string>();
  let calls = 0;
  for (let chunks = 0; chunks < MAX_CHUNKS && calls < MAX_CALLS; chunks += BATCH) {
    const found = await listChunks(db, range, asked, 'newest', BATCH, also);
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
  // What was handed over before began before.
  const countedSince = timeOfId(range.beforeId) ?? until;
  return { events: toKept(events, ended, outcome), countedSince };
}

/** Without the beginnings of calls whose end is known. */
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
