/**
 * A chunk: many calls, compressed, with what a search needs to skip it. Pure but for compression and hashing. Its hash
 * covers all of it; the chain of chunks is made of these hashes (`call-chain.ts`).
 */
import { z } from 'zod';
import { fromBase64Url, sha256Hex, toBase64Url } from '../../shared/crypto/base64url.ts';
import { timeOfId } from '../../shared/util/time-id.ts';
import { AuditOutcomeSchema, type AuditEvent, type AuditOutcome } from '../audit-schema.ts';

export interface CallChunk {
  /** Id of the time when the chunk was handed over (`time-id.ts`), which is later than every call in it. */
  id: string;
  /** When the earliest and the latest of its calls began, in milliseconds since the epoch. */
  fromAt: number;
  toAt: number;
  calls: number;
  /** JSON of `CallKeys`. */
  keys: string;
  /** SHA-256 over all other members. */
  hash: string;
  /** The calls, compressed: base64url of raw deflate of a JSON array. */
  body: string;
}

/** The distinct values among the calls of a chunk. */
export interface CallKeys {
  principals: string[];
  tokens: string[];
  actions: string[];
  subjects: string[];
  outcomes: string[];
  /** For each outcome the number of calls and how many of these were slow; present only if each row is a call that has ended. */
  counts?: OutcomeCounts;
}

type OutcomeCounts = Partial<Record<AuditOutcome, [calls: number, slow: number]>>;

/** Duration from which a call counts as slow in chunks, in milliseconds. */
export const SLOW_MS = 5_000;

/** Longest text of a chunk's calls that is read, in characters; a tampered chunk could decompress to any size. */
const MAX_TEXT_CHARS = 8_388_608;
const PIECE_BYTES = 131_072;

/** The used part of the platform's stream reader, which offers more than the standard. */
interface PieceReader {
  readAtLeast(
    bytes: number,
    into: Uint8Array,
  ): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

const RowSchema = z.tuple([
  z.string(),
  z.number(),
  z.string(),
  z.string(),
  z.string(),
  z.string(),
  AuditOutcomeSchema,
  z.string().nullable(),
  z.looseObject({}),
]);

const toRow = (event: AuditEvent) => [
  event.id,
  event.at,
  event.principalId,
  event.tokenId,
  event.action,
  event.subject,
  event.outcome,
  event.code,
  event.detail,
];

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)].toSorted();

/**
 * Makes a chunk of calls.
 * @param id see `CallChunk`
 * @param events at least one
 * @param isOfEnded each event is a call that has ended, and is in no other chunk
 */
export async function toCallChunk(
  id: string,
  events: readonly AuditEvent[],
  isOfEnded = false,
): Promise<CallChunk> {
  const times = events.map(({ at }) => at);
  const keys: CallKeys = {
    principals: distinct(events.map(({ principalId }) => principalId)),
    tokens: distinct(events.map(({ tokenId }) => tokenId)),
    actions: distinct(events.map(({ action }) => action)),
    subjects: distinct(events.map(({ subject }) => subject)),
    outcomes: distinct(events.map(({ outcome }) => outcome)),
    ...(isOfEnded ? { counts: countsOf(events) } : {}),
  };
  const chunk = {
    id,
    fromAt: Math.min(...times),
    toAt: Math.max(...times),
    calls: events.length,
    keys: JSON.stringify(keys),
    body: await deflate(JSON.stringify(events.map(toRow))),
  };
  return { ...chunk, hash: await hashOf(chunk) };
}

function countsOf(events: readonly AuditEvent[]): OutcomeCounts {
  const counts: OutcomeCounts = {};
  for (const { outcome, detail } of events) {
    const [calls, slow] = counts[outcome] ?? [0, 0];
    counts[outcome] = [calls + 1, slow + Number(isSlow(detail, SLOW_MS))];
  }
  return counts;
}

/** Whether a call took at least this long, by its details. */
export const isSlow = (detail: Readonly<Record<string, unknown>>, slowMs: number): boolean =>
  Number(detail['duration_ms']) >= slowMs;

/** Returns the same calls as a chunk with another id. */
export async function withId(chunk: CallChunk, id: string): Promise<CallChunk> {
  const other = { ...chunk, id };
  return { ...other, hash: await hashOf(other) };
}

/** Returns the hash that a chunk should have. */
export const hashOf = (chunk: Omit<CallChunk, 'hash'>): Promise<string> => {
  const { id, fromAt, toAt, calls, keys, body } = chunk;
  return sha256Hex(JSON.stringify([id, fromAt, toAt, calls, keys, body]));
};

/**
 * Returns the calls of a chunk for counting: only the fields that a count needs are checked, since a schema takes most
 * of the time of counting.
 */
export async function toCountedEvents(chunk: CallChunk): Promise<AuditEvent[]> {
  try {
    const rows: unknown = JSON.parse(await inflate(chunk.body));
    if (!Array.isArray(rows) || !rows.every(isCountable)) return [unreadable(chunk)];
    return rows.map(toEvent);
  } catch {
    return [unreadable(chunk)];
  }
}

const OUTCOMES: ReadonlySet<unknown> = new Set(AuditOutcomeSchema.options);
type Row = z.infer<typeof RowSchema>;
const isCountable = (row: unknown): row is Row =>
  Array.isArray(row) &&
  typeof row[1] === 'number' &&
  [0, 2, 3, 4, 5].every(i => typeof row[i] === 'string') &&
  OUTCOMES.has(row[6]) &&
  typeof row[8] === 'object' &&
  row[8] !== null;

const toEvent = ([
  id,
  at,
  principalId,
  tokenId,
  action,
  subject,
  outcome,
  code,
  detail,
]: Row): AuditEvent => ({
  id,
  at,
  principalId,
  tokenId,
  action,
  subject,
  outcome,
  code,
  detail,
});

/** Returns the calls of a chunk; if the chunk cannot be read, one event that says so. */
export async function toEvents(chunk: CallChunk): Promise<AuditEvent[]> {
  try {
    return z
      .array(RowSchema)
      .parse(JSON.parse(await inflate(chunk.body)))
      .map(toEvent);
  } catch {
    return [unreadable(chunk)];
  }
}

const unreadable = ({ id, fromAt }: CallChunk): AuditEvent => ({
  id: timeOfId(id) === undefined ? crypto.randomUUID() : id,
  at: fromAt,
  principalId: '',
  tokenId: '',
  action: 'tool.call',
  subject: '',
  outcome: 'unknown',
  code: null,
  detail: { unreadable: true },
});

async function deflate(text: string): Promise<string> {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return toBase64Url(new Uint8Array(await new Response(packed).arrayBuffer()));
}

/** @throws Error if the text is not valid, or too long */
async function inflate(body: string): Promise<string> {
  const bytes = fromBase64Url(body);
  if (!bytes) throw new Error('not base64url');
  const reader = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream('deflate-raw'))
    .getReader({ mode: 'byob' }) as unknown as PieceReader;
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    // In large pieces: with the platform's own, which are small, it takes five times as long.
    const { done, value } = await reader.readAtLeast(PIECE_BYTES, new Uint8Array(PIECE_BYTES));
    if (value) text += decoder.decode(value, { stream: true });
    if (text.length > MAX_TEXT_CHARS) {
      await reader.cancel();
      throw new Error('too long');
    }
    if (done) return text + decoder.decode();
  }
}
