/** `portico usage`: how many calls were made, by whom and to which tools, as a table for people, JSON or CSV. */
import type { Command } from 'commander';
import { apiOf, filterByToken, shown, type ApiOptions } from '../gateway/api-command.ts';
import { visible } from '../output/table.ts';
import { note, writeForeign, writeJson, writeTable } from '../terminal.ts';

/** Filters passed to the API unchanged. */
const FILTERS = ['from', 'to', 'principal', 'group', 'server', 'tool'] as const;

type Options = ApiOptions & { by: string; limit: string; csv?: boolean; withToken?: string } & {
  [filter in (typeof FILTERS)[number]]?: string;
};

interface Row {
  day?: string;
  principal?: string;
  principal_name?: string | null;
  token?: string;
  token_name?: string | null;
  group?: string;
  server?: string;
  server_name?: string;
  tool?: string;
  action?: string;
  calls: number;
  errors: number;
  denied: number;
  result_chars: number;
  mean_ms: number | null;
  p95_ms: number | null;
}

interface Page {
  usage: Row[];
  counted_until: string;
  next_cursor?: string;
}

const USAGE = '/api/v1/usage';

const HELP = `
Most calls first, by default of the last 30 days; days are in UTC. --by takes
day, principal, token, group, server or tool, or several separated by commas.
CHARS counts characters of results; a token of a model is about four. P95 MS is
an upper bound: 95% of the calls took no longer.

Examples:
  portico usage
  portico usage --by principal,day --from 2026-11-01
  portico usage --by tool --server github
  portico usage --by day --with-token laptop
  portico usage --by group,tool --csv > usage.csv`;

/** Adds `usage`. */
export function addUsage(program: Command): void {
  const usage = program
    .command('usage')
    .summary('show how many calls were made')
    .description('Show how many calls were made, their errors, durations and size of results.')
    .option('--by <what>', 'what to group by', 'tool')
    .option('--from <day>', 'first day, like 2026-11-01')
    .option('--to <day>', 'last day')
    .option('--principal <principal>', 'only calls of this principal')
    .option('--with-token <name>', 'only calls with this token')
    .option('--group <group>', 'only calls of members of this group')
    .option('--server <server>', 'only calls of this server')
    .option('--tool <tool>', 'only calls of this tool')
    .option('--limit <rows>', 'maximum number of rows', '50')
    .option('--csv', 'print all rows as CSV, for spreadsheets')
    .addHelpText('after', HELP);
  shown(usage).action(run);
}

/** @throws Failure where the gateway refuses */
async function run({ by, limit, csv, withToken, ...options }: Options): Promise<void> {
  const query = new URLSearchParams({ by });
  for (const filter of FILTERS) {
    const value = options[filter];
    if (value !== undefined) query.set(filter, value);
  }
  filterByToken(query, withToken);
  const api = apiOf(options);
  if (csv) {
    for await (const text of api.read(`${USAGE}/export?${query}`)) {
      await writeForeign(text, table => visible(table.replaceAll('\r', '')));
    }
    return;
  }
  query.set('limit', limit);
  const page = await api.json<Page>('GET', `${USAGE}?${query}`);
  if (options.json) return writeJson(page);
  if (page.usage.length === 0) note('no matching calls');
  else await showTable(by.split(','), page.usage);
  note(`includes calls recorded until ${page.counted_until.slice(0, 19)}`);
  if (page.next_cursor !== undefined) note('there are more rows: raise --limit, or use --csv');
}

function showTable(by: readonly string[], rows: readonly Row[]): Promise<void> {
  const heading = by.map(name => name.trim().toUpperCase());
  const lines = rows.map(row => [
    ...heading.map(name => nameOf(name.toLowerCase(), row)),
    ...[row.calls, row.errors, row.denied, row.mean_ms, row.p95_ms, row.result_chars].map(toText),
  ]);
  const sums = ['CALLS', 'ERRORS', 'DENIED', 'MEAN MS', 'P95 MS', 'CHARS'];
  return writeTable([...heading, ...sums], lines);
}

const toText = (count: number | null): string => (count === null ? '-' : String(count));

function nameOf(by: string, row: Row): string {
  const names: Record<string, string | null | undefined> = {
    day: row.day,
    principal: row.principal_name ?? row.principal,
    token: row.token_name ?? row.token,
    group: row.group,
    server: row.server_name,
    tool: row.tool === '' && row.action === 'resource.read' ? 'resources' : row.tool,
  };
  const name = names[by] ?? '';
  return name === '' ? '(unknown)' : name;
}
