/** `portico audit`: who called and changed what, and whether anybody changed the record of it. */
import type { Command } from 'commander';
import colors from 'picocolors';
import { EXIT, Failure } from '../failure.ts';
import { apiOf, shown, type ApiOptions as Options } from '../gateway/api-command.ts';
import { formatTable } from '../output/table.ts';
import { note, outputColumns, writeJson, writeOut } from '../terminal.ts';

/** Filters that the API takes as they are. */
const FILTERS = ['principal', 'server', 'tool', 'action', 'outcome'] as const;

type ListOptions = Options & { since?: string; limit: string } & {
  [filter in (typeof FILTERS)[number]]?: string;
};

interface Row {
  at: string;
  principal: string;
  principal_name: string | null;
  action: string;
  subject: string;
  subject_name: string | null;
  outcome: string;
  code: string | null;
}

interface Checked {
  rows: number;
  is_intact: boolean;
  first_broken_seq?: number;
  next_from?: number;
}

const AUDIT = '/api/v1/audit';

const HELP = `
Newest first. Principals, servers and tools are named, or given by their
ids. --since takes a time, or so long ago: 30m, 12h, 7d.

Examples:
  portico audit
  portico audit --principal Ada --outcome denied
  portico audit --tool github.create_issue --since 7d
  portico audit verify`;

const VERIFY_HELP = `
Rows and chunks of calls form chains, so an edit or a deletion shows. Exit
code 1 where something is not as it was written.`;

/** Adds `audit`. */
export function addAudit(program: Command): void {
  const audit = program
    .command('audit')
    .summary('show who called and changed what')
    .description('Show who called and changed what, and check that nobody changed it.')
    .addHelpText('after', HELP);
  const all = audit.command('list', { isDefault: true }).description('List calls and changes.');
  for (const filter of FILTERS) all.option(`--${filter} <${filter}>`, `only of this ${filter}`);
  all.option('--since <time>', 'only from then on').option('--limit <rows>', 'so many', '20');
  shown(all.addHelpText('after', HELP)).action(list);
  const check = audit.command('verify').description('Check every chain.');
  shown(check.addHelpText('after', VERIFY_HELP)).action(verify);
}

async function list({ since, limit, ...options }: ListOptions): Promise<void> {
  const query = new URLSearchParams({ limit });
  for (const filter of FILTERS) {
    const value = options[filter];
    if (value !== undefined) query.set(filter, value);
  }
  if (since !== undefined) query.set('since', toTime(since));
  const { events } = await apiOf(options).json<{ events: Row[] }>('GET', `${AUDIT}?${query}`);
  if (options.json) return writeJson(events);
  if (events.length === 0) return note('nothing is recorded of that');
  const rows = events.map(row => [
    row.at.slice(0, 19),
    row.principal_name ?? row.principal,
    row.action,
    row.subject_name ?? row.subject,
    row.code === null ? row.outcome : `${row.outcome} (${row.code})`,
  ]);
  const heading = ['TIME', 'PRINCIPAL', 'ACTION', 'WHAT', 'OUTCOME'];
  await writeOut(formatTable(heading, rows, { columns: outputColumns(), paint: colors.bold }));
}

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @throws Failure where it is no time */
function toTime(text: string): string {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const at =
    count === undefined ? Date.parse(text) : Date.now() - Number(count) * (UNITS_MS[unit] ?? 0);
  if (Number.isNaN(at)) throw new Failure(`'${text}' is no time`, EXIT.usage);
  return new Date(at).toISOString();
}

async function verify(options: Options): Promise<void> {
  const api = apiOf(options);
  const shards = await api.list<{ shard: string }>(`${AUDIT}/shards`, 'shards');
  const found: { shard: string; rows: number; first_broken_seq?: number }[] = [];
  for (const { shard } of shards) {
    let rows = 0;
    let from: number | undefined = 1;
    let broken: number | undefined;
    while (from !== undefined) {
      const query = new URLSearchParams({ shard, from: String(from) });
      const part: Checked = await api.json<Checked>('GET', `${AUDIT}/verify?${query}`);
      rows += part.rows;
      broken = part.first_broken_seq;
      from = part.is_intact ? part.next_from : undefined;
    }
    found.push({ shard, rows, ...(broken === undefined ? {} : { first_broken_seq: broken }) });
  }
  if (options.json) await writeJson(found);
  else {
    const lines = found.map(({ shard, rows, first_broken_seq: seq }) => [
      shard,
      String(rows),
      seq === undefined ? 'whole' : `broken from ${seq} on`,
    ]);
    await writeOut(formatTable(['CHAIN', 'CHECKED', 'STATE'], lines, { columns: outputColumns() }));
  }
  const broken = found.filter(({ first_broken_seq: seq }) => seq !== undefined);
  if (broken.length > 0) {
    throw new Failure(`not as it was written: ${broken.map(({ shard }) => shard).join(', ')}`);
  }
}
