/**
 * Adds up calls by day, in the object of the chain of chunks: each chunk once it is sealed, so that no other chunk can come before it.
 *
 * Invariant: the sums and how far they go are one batch, which does nothing unless the stored progress is where the part begins.
 * So a part that is cut off, repeated or run twice at once is counted once. A call stored when it left and again with its end counts as
 * one call.
 */
import { firstIdAt, timeOfId } from '../../shared/util/time-id.ts';
import { toDay } from '../../shared/util/utc-day.ts';
import { yieldToRequests } from '../../shared/util/yield-to-requests.ts';
import { onEitherSchema } from '../../shared/util/either-schema.ts';
import type { AuditEvent } from '../audit-schema.ts';
import { toCountedEvents } from '../chunks/call-chunk.ts';
import { listChunksUpTo } from '../chunks/chunk-store.ts';
import { LONGEST_MS } from '../chunks/read-calls.ts';
import { isOpen, toCells } from './usage-cells.ts';
import { addPart, deleteUsage, findOpen, findProgress } from './usage-store.ts';

/** Chunks read at once, before other requests get their turn, and most chunks of one part. */
const AT_ONCE = 10;
const MAX_CHUNKS = 100;
/** A part counts as full from this many calls on. */
const MAX_CALLS = 5_000;

/**
 * Adds up chunks up to one, as many as make a part.
 * @returns whether there may be more
 * @throws Error if the database cannot be read or written
 */
export function addUpPart(db: D1Database, lastId: string): Promise<boolean> {
  return onEitherSchema(async age =>
    age === 'last' ? false : addNextPart(db, await findProgress(db), lastId),
  );
}

/** @returns whether there was one */
async function addNextPart(db: D1Database, afterId: string, lastId: string): Promise<boolean> {
  const { events, readTo } = await readPart(db, afterId, lastId);
  if (readTo === undefined) return false;
  const ended = new Set(events.filter(event => !isOpen(event)).map(({ id }) => id));
  const open = events.filter(event => isOpen(event) && !ended.has(event.id));
  for (const id of await findEndedBefore(db, open, afterId)) ended.add(id);
  const left = open.filter(({ id }) => !ended.has(id));
  const known = await findOpen(db, [...ended]);
  const all = [...events.filter(event => !isOpen(event)), ...left];
  const part = {
    afterId,
    lastId: readTo,
    cells: toCells(all, id => known.has(id)),
    open: left.map(({ id, at }) => ({ id, at })),
    ended: [...known],
    longestAt: (timeOfId(readTo) ?? 0) - 2 * LONGEST_MS,
  };
  await db.batch(addPart(db, part));
  return true;
}

async function readPart(
  db: D1Database,
  afterId: string,
  lastId: string,
): Promise<{ events: AuditEvent[]; readTo: string | undefined }> {
  const events: AuditEvent[] = [];
  let readTo: string | undefined;
  for (let chunks = 0; chunks < MAX_CHUNKS && events.length < MAX_CALLS; chunks += AT_ONCE) {
    const found = await listChunksUpTo(db, readTo ?? afterId, lastId, AT_ONCE);
    for (const chunk of found) events.push(...(await toCountedEvents(chunk)).filter(isReadable));
    readTo = found.at(-1)?.id ?? readTo;
    if (found.length < AT_ONCE) break;
    await yieldToRequests();
  }
  return { events, readTo };
}

/** The event of an unreadable chunk belongs to no principal. */
const isReadable = ({ principalId }: AuditEvent): boolean => principalId !== '';

/** Returns which of these calls have their end in chunks up to one: the end may have been written first. */
async function findEndedBefore(
  db: D1Database,
  open: readonly AuditEvent[],
  lastId: string,
): Promise<string[]> {
  const wanted = new Set(open.map(({ id }) => id));
  if (wanted.size === 0 || lastId === '') return [];
  const ended: string[] = [];
  let after = firstIdAt(Math.min(...open.map(({ at }) => at)));
  for (;;) {
    const chunks = await listChunksUpTo(db, after, lastId, AT_ONCE);
    for (const chunk of chunks) {
      const events = await toCountedEvents(chunk);
      ended.push(
        ...events.filter(event => wanted.has(event.id) && !isOpen(event)).map(({ id }) => id),
      );
    }
    const last = chunks.at(-1);
    if (!last || chunks.length < AT_ONCE) return ended;
    after = last.id;
    await yieldToRequests();
  }
}

/** Deletes the usage of days that ended before a time. */
export async function pruneUsage(db: D1Database, before: number): Promise<void> {
  await onEitherSchema(async age => {
    if (age === 'this') await deleteUsage(db, toDay(before)).run();
  });
}
