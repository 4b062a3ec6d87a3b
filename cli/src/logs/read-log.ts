/**
 * Reads the request log of a gateway on this machine: a file with one line of JSON per request, which is renamed to `NAME.1` at its size
 * limit (`local/request-log.ts`).
 */
import { open, stat } from 'node:fs/promises';
import { z } from 'zod';
import { tryJson } from '../../../src/shared/json/json-spans.ts';

/** The format that `src/telemetry/telemetry.ts` writes. */
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

/** How often a followed log is polled, in milliseconds. */
const LOOK_MS = 250;

/** Parses the requests in a text; other lines are left out. */
export function parseLines(text: string): LogLine[] {
  return text.split('\n').flatMap(line => LineSchema.safeParse(tryJson(line)).data ?? []);
}

/** A position in a log: inode of the file, and offset in bytes. */
export interface Place {
  /** Undefined where there is no file yet. */
  file: number | undefined;
  offset: number;
}

/** Returns the current end of a log. */
export async function findEnd(path: string): Promise<Place> {
  const found = await stat(path).catch(() => undefined);
  return { file: found?.ino, offset: found?.size ?? 0 };
}

/** Returns the last matching requests before a position, the oldest first. @param isWanted selects them */
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

/** Yields requests as they are written, from a position on, until the signal aborts. */
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

/** Reads a file between two byte offsets. Characters are complete, since lines are written whole. */
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
