/** `portico trace`: shows one trace of a gateway on this machine as a tree, or lists the stored ones. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import colors from 'picocolors';
import { EXIT, Failure } from '../failure.ts';
import { dataFolder } from '../folders.ts';
import { note, outputColumns, writeJson, writeOut, writeTable } from '../terminal.ts';
import { formatTree, toDuration } from '../trace/format-tree.ts';
import { findTrace, listTraces, readSpans, type SpanLine } from '../trace/read-traces.ts';

interface Options {
  dir?: string;
  json?: boolean;
  list?: boolean;
}

/** Most traces in a list: the newest. */
const MAX_LISTED = 50;
/** Digits of an id that are enough to tell traces apart. */
const SHOWN_ID = 12;
const ID = /^[0-9a-f]{4,32}$/i;

const HELP = `
A gateway on this machine stores a trace of each ask, chat and execution: its
steps, their duration and what was decided. Without an argument the newest one
is shown. The folder is --dir, else PORTICO_TRACE_DIR, else those of npm start
(.portico/traces here) and of portico up.

Examples:
  portico trace
  portico trace --list
  portico trace 4bf92f35
  portico trace ./traces/2026-11-22T10-15-00.000Z-4bf92f3577b34da6.ndjson
  portico trace --json | jq -r '.[] | select(.error) | .name'`;

/** Adds `trace`. */
export function addTrace(program: Command): void {
  program
    .command('trace')
    .argument('[trace]', 'trace id or its first digits, a file, or - for standard input')
    .summary('show what an ask, a chat or an execution did')
    .description('Show one trace as a tree.')
    .option('--list', `list the newest ${MAX_LISTED} traces`)
    .option('--dir <folder>', 'folder of the traces')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', HELP)
    .action(showTrace);
}

async function showTrace(which: string | undefined, options: Options): Promise<void> {
  if (options.list) return showList(options);
  const { spans, odd } = await readSpans(await pathsOf(which, options));
  if (odd > 0) note(`${odd} lines are not spans`);
  if (spans.length === 0) throw new Failure('it contains no spans', EXIT.notFound);
  if (options.json) return writeJson(spans);
  const paint = { title: colors.bold, good: colors.green, bad: colors.red, dim: colors.dim };
  const traces = [...Map.groupBy(spans, span => span.trace_id).values()];
  const look = { columns: outputColumns(), paint };
  await writeOut(traces.map(trace => formatTree(trace, look)).join('\n'));
}

async function pathsOf(which: string | undefined, options: Options): Promise<string[]> {
  if (which === '-') return ['-'];
  if (which !== undefined && (!ID.test(which) || existsSync(which))) return [which];
  const folders = foldersOf(options);
  const files = await listTraces(folders);
  const id = which ?? files.at(-1)?.traceId;
  if (id === undefined) {
    throw new Failure(
      `no trace in ${folders.join(' or ')}; name a folder with --dir`,
      EXIT.notFound,
    );
  }
  return findTrace(files, id).map(({ path }) => path);
}

async function showList(options: Options): Promise<void> {
  const folders = foldersOf(options);
  const files = (await listTraces(folders)).slice(-MAX_LISTED).toReversed();
  const roots: SpanLine[] = [];
  for (const { path } of files) {
    const [root] = (await readSpans([path])).spans;
    if (root !== undefined) roots.push(root);
  }
  if (options.json) return writeJson(roots);
  if (roots.length === 0) return note(`no trace in ${folders.join(' or ')}`);
  const rows = roots.map(root => [
    root.trace_id.slice(0, SHOWN_ID),
    root.start,
    toDuration(root.duration_ms),
    root.name,
    root.error ?? root.decision ?? '',
  ]);
  await writeTable(['TRACE', 'START', 'TIME', 'NAME', 'OUTCOME'], rows);
}

function foldersOf({ dir }: Options): string[] {
  const named = dir ?? process.env['PORTICO_TRACE_DIR'];
  if (named) return [resolve(named)];
  return [resolve('.portico', 'traces'), join(dataFolder(process.env), 'traces')];
}
