/**
 * Reads traces from a folder: NDJSON files, written by a gateway on this machine and named by time and id. Lines that are not spans are
 * left out and counted.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { EXIT, Failure } from '../failure.ts';
import { readInput } from '../input.ts';
import { tryJson } from '../../../src/shared/json/json-spans.ts';

/** The format that `src/tracing/to-ndjson.ts` writes. */
const SpanSchema = z.looseObject({
  trace_id: z.string().max(64),
  span_id: z.string().max(64),
  parent_span_id: z.string().max(64).optional(),
  name: z.string(),
  start: z.string(),
  duration_ms: z.number(),
  unfinished: z.boolean().optional(),
  decision: z.string().optional(),
  error: z.string().optional(),
  attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  dropped_attributes: z.number().optional(),
  dropped_spans: z.number().optional(),
});
export type SpanLine = z.infer<typeof SpanSchema>;

export interface TraceFile {
  path: string;
  /** Start time from the file's name, which sorts by time. */
  started: string;
  traceId: string;
}

const FILE = /^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z)-([0-9a-f]{32})(?:-\d+)?\.ndjson$/;
/** Most files read for one id: an outer trace may have started many. */
const MAX_FILES = 100;

/** Lists the traces in folders, the oldest first; a missing folder has none. @throws Failure */
export async function listTraces(folders: readonly string[]): Promise<TraceFile[]> {
  const found: TraceFile[] = [];
  for (const folder of folders) {
    for (const name of await namesOf(folder)) {
      const [, started, traceId] = FILE.exec(name) ?? [];
      if (started !== undefined && traceId !== undefined) {
        found.push({ path: join(folder, name), started, traceId });
      }
    }
  }
  return found.toSorted((a, b) => (a.started < b.started ? -1 : a.started > b.started ? 1 : 0));
}

async function namesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    throw new Failure(`${folder} cannot be read (${code})`, EXIT.usage);
  }
}

/** Returns the files of the trace with this id or its beginning. @throws Failure where there is none or more than one */
export function findTrace(files: readonly TraceFile[], id: string): TraceFile[] {
  const named = files.filter(({ traceId }) => traceId.startsWith(id.toLowerCase()));
  const ids = new Set(named.map(({ traceId }) => traceId));
  if (ids.size === 0) throw new Failure(`no trace ${id}; see portico trace --list`, EXIT.notFound);
  if (ids.size > 1) throw new Failure(`${ids.size} traces begin with ${id}`, EXIT.usage);
  return named.slice(-MAX_FILES);
}

export interface ReadSpans {
  spans: SpanLine[];
  /** Lines that are not spans. */
  odd: number;
}

/** Reads the spans of files; `-` is standard input. @throws Failure where one cannot be read */
export async function readSpans(paths: readonly string[]): Promise<ReadSpans> {
  const read: ReadSpans = { spans: [], odd: 0 };
  for (const path of paths) {
    for (const line of (await readInput(path)).split('\n')) {
      if (line.trim() === '') continue;
      const span = SpanSchema.safeParse(tryJson(line));
      if (span.success) read.spans.push(span.data);
      else read.odd += 1;
    }
  }
  return read;
}
