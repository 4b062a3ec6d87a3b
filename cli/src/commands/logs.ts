/** `portico logs`: the requests that a gateway on this machine served, one per line. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import colors from 'picocolors';
import { EXIT, Failure } from '../failure.ts';
import { dataFolder } from '../folders.ts';
import { formatLine } from '../logs/format-line.ts';
import { findEnd, follow, readLast, type LogLine } from '../logs/read-log.ts';
import { writeOut } from '../terminal.ts';

interface Options {
  follow?: boolean;
  lines: number;
  level: (typeof LEVELS)[number];
  data?: string;
  json?: boolean;
}

const LEVELS = ['info', 'warn', 'error'] as const;
const FILE = 'requests.ndjson';
const MAX_LINES = 100_000;

const HELP = `
A gateway on this machine writes one line per finished request: what was called,
the outcome, the duration, the server's share of it, and the trace. Arguments
and results are never logged. The folder is --data, else that of npm start
(.portico here), else that of portico up. On Cloudflare, wrangler tail shows the
same lines.

Examples:
  portico logs
  portico logs -f
  portico logs -f --level warn
  portico logs --json -n 1000 | jq -r 'select(.duration_ms > 1000) | .tool'`;

/** Adds `logs`. */
export function addLogs(program: Command): void {
  program
    .command('logs')
    .summary('show the requests to a gateway on this machine')
    .description('Show the last requests to a gateway on this machine, one per line.')
    .option('-f, --follow', 'keep printing new requests')
    .option('-n, --lines <number>', 'how many of the last requests', parseCount, 20)
    .addOption(
      new Option('--level <level>', 'only requests of this level or a worse one')
        .choices(LEVELS)
        .default('info'),
    )
    .option('--data <folder>', 'data folder of the gateway')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', HELP)
    .action(showLogs);
}

async function showLogs(options: Options): Promise<void> {
  const path = findLog(options.data);
  const least = LEVELS.indexOf(options.level);
  const isWanted = ({ level }: LogLine) => LEVELS.indexOf(level) >= least;
  const paint = { dim: colors.dim, warn: colors.yellow, bad: colors.red };
  const show = async (lines: readonly LogLine[]) => {
    const texts = lines.map(line =>
      options.json ? JSON.stringify(line) : formatLine(line, paint),
    );
    if (texts.length > 0) await writeOut(`${texts.join('\n')}\n`);
  };
  const end = new AbortController();
  process.once('SIGINT', () => end.abort());
  const place = await findEnd(path);
  await show(await readLast(path, place, options.lines, isWanted));
  if (!options.follow) return;
  for await (const lines of follow(path, place, end.signal)) await show(lines.filter(isWanted));
}

/** Returns the log in the named folder, which need not exist yet, or else the first one found. */
function findLog(data: string | undefined): string {
  if (data !== undefined) return join(resolve(data), FILE);
  const folders = [resolve('.portico'), dataFolder(process.env)];
  const found = folders.map(folder => join(folder, FILE)).find(path => existsSync(path));
  if (found !== undefined) return found;
  throw new Failure(
    `no log of requests in ${folders.join(' or ')}; name a data folder with --data`,
    EXIT.notFound,
  );
}

function parseCount(text: string): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= MAX_LINES) return count;
  throw new InvalidArgumentError(`It must be a number up to ${MAX_LINES}.`);
}
