/**
 * Reads calls from chunks in the order of their time, page by page. A chunk holds calls that began before it was handed over: within the
 * gathering time, or hours before if they were long. So chunks are read until the unread ones cannot hold a call that comes earlier in the
 * order.
 *
 * Invariant: a call is returned once. If it was stored when it left and again with its end, the one with its end is returned.
 */
import { firstIdAt, timeOfId } from '../../shared/util/time-id.ts';
import { yieldToRequests } from '../../shared/util/yield-to-requests.ts';
import {
  CALLS_SHARD,
  GENESIS,
  type AuditEvent,
  type AuditFilter,
  type AuditOrder,
  type AuditPosition,
  type PlacedEvent,
} from '../audit-schema.ts';
import { isOwnCall } from '../own-rows-store.ts';
import { isInPlace, toPlaces } from '../places.ts';
import { toEvents, type CallChunk } from './call-chunk.ts';
import { listChunks } from './chunk-store.ts';

/** No call takes longer than this, including the time until it is handed over; in milliseconds. */
export const LONGEST_MS = 3 * 3_600_000 + 300_000;
/** Times that are further apart than this are read separately, in milliseconds. */
const GAP_MS = 10_000;
/** Chunks read at once, and chunks after which a page ends even if it is not full. */
const BATCH = 8;
const MAX_OPENED = 1_000;
/** The latest possible time, in milliseconds: the last that an id can hold. */
const LAST_MS = 2 ** 48 - 1;

/** Calls, and the position up to which they were read, if there may be more behind it. */
interface ReadCalls {
  calls: PlacedEvent[];
  readTo?: AuditPosition;
}

/**
 * Returns the next calls that match a filter.
 * @param limit most calls; fewer only if there are no more, or too many chunks without a match
 * @param after return only calls after this position
 */
export async function readCalls(
  db: D1Database,
  filter: AuditFilter,
  order: AuditOrder,
  limit: number,
  after?: AuditPosition,
): Promise<ReadCalls> {
  if (filter.kind === 'acts') return { calls: [] };
  const reading = { db, filter, order, matches: toMatcher(filter, order, after), opened: 0 };
  const found: PlacedEvent[] = [];
  let rest: Span | undefined = firstSpan(filter, order, after);
  for (let turns = 0; rest && found.length < limit; turns += 1) {
    if (reading.opened >= MAX_OPENED) return { calls: found, readTo: startOf(rest, order) };
    if (turns > 0) await yieldToRequests();
    const read = await readSome(reading, rest);
    const calls = await withoutOpen(reading, read.events);
    found.push(...calls.toSorted((a, b) => compare(order, positionOf(a), positionOf(b))));
    rest = read.rest;
  }
  return { calls: found.slice(0, limit) };
}

/** Returns the position before every call of a span, and behind every other. */
const startOf = ({ since, until }: Span, order: AuditOrder): AuditPosition =>
  order === 'newest' ? [until, '', 0] : [since - 1, '~', 0];

interface Reading {
  db: D1Database;
  filter: AuditFilter;
  order: AuditOrder;
  matches(event: PlacedEvent): boolean;
  /** Chunks opened so far. */
  opened: number;
}

/** A span of time in which calls began: from `since` on, before `until`. */
interface Span {
  since: number;
  until: number;
}

function firstSpan(
  { since = 0, until = LAST_MS }: AuditFilter,
  order: AuditOrder,
  after: AuditPosition | undefined,
): Span | undefined {
  // Other calls of exactly the position's time may come after it.
  const from = order === 'oldest' && after ? Math.max(since, after[0]) : since;
  const to = order === 'newest' && after ? Math.min(until, after[0] + 1) : until;
  return from < to ? { since: from, until: to } : undefined;
}

/** Reads all calls in the first part of a span, in this order. @returns the calls, and the rest of the span */
async function readSome(
  reading: Reading,
  span: Span,
): Promise<{ events: PlacedEvent[]; rest: Span | undefined }> {
  const { db, filter, order } = reading;
  const isNewest = order === 'newest';
  const latest = toIdAt(span.until + LONGEST_MS);
  const near = {
    ...span,
    fromId: firstIdAt(span.since),
    beforeId: isNewest ? toIdAt(span.until) : latest,
  };
  // If this many chunks were handed over in one millisecond, twice as many are read.
  for (let most = BATCH; ; most *= 2) {
    const chunks = await listChunks(db, near, filter, order, most + 1);
    const further = chunks[most];
    const edge = further && Math.min(span.until, (timeOfId(further.id) ?? 0) + (isNewest ? 1 : 0));
    const here = {
      ...span,
      ...(edge === undefined ? {} : { [isNewest ? 'since' : 'until']: edge }),
    };
    if (here.since >= here.until) continue;
    // Long calls, which were handed over late.
    const late = isNewest ? toIdAt(span.until) : (further?.id ?? latest);
    const events = [
      ...(await keptOf(reading, here, chunks.slice(0, most))),
      ...(await readLate(reading, here, late)),
    ];
    if (edge === undefined || (!isNewest && edge === span.until))
      return { events, rest: undefined };
    return { events, rest: { ...span, [isNewest ? 'until' : 'since']: edge } };
  }
}

const isOpen = ({ outcome }: PlacedEvent): boolean => outcome === 'unknown';

/** Removes the calls stored when they left whose end is stored too. */
async function withoutOpen(
  reading: Reading,
  events: readonly PlacedEvent[],
): Promise<readonly PlacedEvent[]> {
  const open = events.filter(isOpen);
  if (open.length === 0) return events;
  const ended = events.filter(event => !isOpen(event));
  if (reading.filter.outcome !== undefined) {
    // A search for calls without an end has not read the others.
    const { outcome: _, ...filter } = reading.filter;
    const others = { ...reading, filter, matches: (event: PlacedEvent) => !isOpen(event) };
    for (const span of spansOf(open.map(({ at }) => at))) {
      ended.push(...(await readLate(others, span, firstIdAt(span.since))));
    }
    reading.opened = others.opened;
  }
  const ids = new Set(ended.map(({ id }) => id));
  return events.filter(event => !isOpen(event) || !ids.has(event.id));
}

/** Returns spans that cover some times; times that are far apart are in separate spans. */
function spansOf(times: readonly number[]): Span[] {
  const spans: Span[] = [];
  for (const at of times.toSorted((a, b) => a - b)) {
    const last = spans.at(-1);
    if (last && at < last.until + GAP_MS) last.until = at + 1;
    else spans.push({ since: at, until: at + 1 });
  }
  return spans;
}

/** Returns the calls of a span in the chunks from an id on. */
async function readLate(reading: Reading, span: Span, fromId: string): Promise<PlacedEvent[]> {
  const { db, filter } = reading;
  const range = { ...span, fromId, beforeId: toIdAt(span.until + LONGEST_MS) };
  const events: PlacedEvent[] = [];
  for (;;) {
    const chunks = await listChunks(db, range, filter, 'oldest', BATCH);
    events.push(...(await keptOf(reading, span, chunks)));
    const last = chunks.at(-1);
    if (!last || chunks.length < BATCH) return events;
    range.fromId = behind(last.id);
    await yieldToRequests();
  }
}

async function keptOf(
  reading: Reading,
  { since, until }: Span,
  chunks: readonly CallChunk[],
): Promise<PlacedEvent[]> {
  const { matches } = reading;
  reading.opened += chunks.length;
  const events = (await Promise.all(chunks.map(toPlacedEvents))).flat();
  return events.filter(event => event.at >= since && event.at < until && matches(event));
}

const toIdAt = (at: number): string => firstIdAt(Math.min(LAST_MS, at));
/** Returns a text that sorts after an id and before all later ids. */
const behind = (id: string): string => `${id}~`;

async function toPlacedEvents(chunk: CallChunk): Promise<PlacedEvent[]> {
  const events = await toEvents(chunk);
  const { id: chunkId, hash } = chunk;
  return events.map((event, i) => ({
    ...event,
    shard: CALLS_SHARD,
    seq: i + 1,
    chunk: chunkId,
    previousHash: GENESIS.hash,
    hash,
  }));
}

/** Returns the position of an event among all; the id of a call in a chunk distinguishes it from others of the same time. */
export const positionOf = ({ at, shard, seq, id, chunk }: PlacedEvent): AuditPosition =>
  chunk === undefined ? [at, shard, seq] : [at, `${shard}/${id}`, 0];

/** Below zero if the first comes first. */
export function compare(order: AuditOrder, a: AuditPosition, b: AuditPosition): number {
  const [first, second] = order === 'oldest' ? [a, b] : [b, a];
  if (first[0] !== second[0]) return first[0] - second[0];
  if (first[1] !== second[1]) return first[1] < second[1] ? -1 : 1;
  return first[2] - second[2];
}

function toMatcher(filter: AuditFilter, order: AuditOrder, after: AuditPosition | undefined) {
  const matches = matcherOf(filter);
  return (event: PlacedEvent): boolean =>
    matches(event) && (after === undefined || compare(order, after, positionOf(event)) < 0);
}

/** Whether an event matches a filter, apart from its time. */
export function matcherOf(filter: AuditFilter): (event: AuditEvent) => boolean {
  const { own, principalIds, tokenIds, subjects, action, outcome, subjectPrefix } = filter;
  const places = filter.ofServers && toPlaces(filter.ofServers);
  const within = (values: readonly string[] | undefined, value: string) =>
    values === undefined || values.includes(value);
  return event =>
    (own === undefined || isOwnCall(own, event)) &&
    within(principalIds, event.principalId) &&
    within(tokenIds, event.tokenId) &&
    within(subjects, event.subject) &&
    (action === undefined || action === event.action) &&
    (outcome === undefined || outcome === event.outcome) &&
    (subjectPrefix === undefined || event.subject.startsWith(subjectPrefix)) &&
    (places === undefined || places.some(place => isInPlace(event.subject, place)));
}

/** Returns the call with an id, or undefined if no chunk has it. */
export async function findCall(db: D1Database, id: string): Promise<PlacedEvent | undefined> {
  const at = timeOfId(id);
  if (at === undefined) return undefined;
  const range = {
    fromId: firstIdAt(at),
    beforeId: firstIdAt(at + LONGEST_MS),
    since: at,
    until: at + 1,
  };
  for (;;) {
    const chunks = await listChunks(db, range, {}, 'oldest', BATCH);
    const events = (await Promise.all(chunks.map(toPlacedEvents))).flat();
    const found = events.find(event => event.id === id);
    const last = chunks.at(-1);
    if (found || !last || chunks.length < BATCH) return found;
    range.fromId = behind(last.id);
  }
}
