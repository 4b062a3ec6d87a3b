/**
 * The log of requests of a gateway on this machine: a file of one line of JSON a request, which becomes `NAME.1` at its limit and starts
 * anew (`local/request-log.ts`).
 */
import { open, stat } from 'node:fs/promises';
import { z } from 'zod';

/** What `src/telemetry/telemetry.ts` writes. */
const LineSchema = z.looseObject({
  time: z.string(),
  level: z.enum(['info', 'warn', 'error']),
  source: z.string().optional(),
  method: z.string().optional(),
  route: z.string().optional(),
  outcome: z.string(),
  code: z.union([z.string(), z.number()]).optional(),
  status: z.number().optional(),
  duration_ms: z.number(),
  upstream_ms: z.number().optional(),
  server: z.string().optional(),
  tool: z.string().optional(),
  prompt: z.string().optional(),
  cached: z.boolean().optional(),
  trace_id: z.string().optional(),
});
export type LogLine = z.infer<typeof LineSchema>;

/** How often a log that is followed is looked at, in milliseconds. */
const LOOK_MS = 250;

/** The requests of a text; what is no line of one is left out. */
export function parseLines(text: string): LogLine[] {
  return text.split('\n').flatMap(line => {
    try {
      return LineSchema.parse(JSON.parse(line));
    } catch {
      return [];
    }
  });
}

/** A place in a log: of which file, and how far. */
export interface Place {
  /** Undefined where there is no file yet. */
  file: number | undefined;
  offset: number;
}

/** Where a log ends now. */
export async function findEnd(path: string): Promise<Place> {
  const found = await stat(path).catch(() => undefined);
  return { file: found?.ino, offset: found?.size ?? 0 };
}

/** The last requests of a log before a place, the oldest first. @param isWanted which count */
export async function readLast(
  path: string,
  { offset }: Place,
  count: number,
  isWanted: (line: LogLine) => boolean,
): Promise<LogLine[]> {
  if (count === 0) return [];
  const now = parseLines(await readFrom(path, 0, offset)).filter(isWanted);
  if (now.length >= count) return now.slice(-count);
  const before = parseLines(await readFrom(`${path}.1`, 0)).filter(isWanted);
  return [...before, ...now].slice(-count);
}

/** Tells of requests as they are written, from a place on, until the signal aborts. */
export async function* follow(
  path: string,
  { file, offset }: Place,
  signal: AbortSignal,
): AsyncGenerator<LogLine[]> {
  let at = offset;
  let known = file;
  let rest = '';
  while (!signal.aborted) {
    const now = await stat(path).catch(() => undefined);
    if (known !== undefined && now !== undefined && now.ino !== known) {
      rest += await readFrom(`${path}.1`, at);
      at = 0;
    }
    known = now?.ino ?? known;
    const more = await readFrom(path, at);
    at += Buffer.byteLength(more);
    rest += more;
    const end = rest.lastIndexOf('\n') + 1;
    const lines = parseLines(rest.slice(0, end));
    rest = rest.slice(end);
    if (lines.length > 0) yield lines;
    await new Promise(resolve => setTimeout(resolve, LOOK_MS));
  }
}

/** What a file has from a byte on, and before another: whole characters, since lines are written whole. */
async function readFrom(path: string, from: number, to = Infinity): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (!file) return '';
  try {
    const { size } = await file.stat();
    const length = Math.min(size, to) - from;
    if (length <= 0) return '';
    const buffer = Buffer.alloc(length);
    const { bytesRead } = await file.read(buffer, 0, length, from);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await file.close();
  }
}
