/** `portico audit`: shows who called and changed what, exports it for programs, and checks that nobody changed the record. */
import type { Command } from 'commander';
import { EXIT, Failure } from '../failure.ts';
import { addGatewayOptions, type GatewayOptions } from '../gateway-options.ts';
import { apiOf, filterByToken, shown, type ApiOptions as Options } from '../gateway/api-command.ts';
import { toSafeJson } from '../output/json.ts';
import { note, writeForeign, writeJson, writeTable } from '../terminal.ts';

/** Filters passed to the API unchanged. */
const FILTERS = ['principal', 'server', 'tool', 'action', 'outcome'] as const;

type Filters = { since?: string; withToken?: string } & {
  [filter in (typeof FILTERS)[number]]?: string;
};
type ListOptions = Options & Filters & { limit: string };
type ExportOptions = GatewayOptions & Filters & { after?: string };

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
Newest first. Give principals, tokens, servers and tools by name or by id, as
portico token list shows them; never the value of a token. --since takes a time,
or an age: 30m, 12h, 7d.

Examples:
  portico audit
  portico audit --principal Ada --outcome denied
  portico audit --tool github.create_issue --since 7d
  portico audit --with-token leaked
  portico audit verify`;

const EXPORT_HELP = `
One JSON object per line, oldest first. To continue an export that broke off,
pass the id of its last line to --after.

Examples:
  portico audit export > audit.ndjson
  portico audit export --server github --since 30d | jq -r .subject`;

const VERIFY_HELP = `
Rows and chunks of calls form hash chains, so an edit or a deletion shows. Exit
code 1 if a chain is broken.`;

/** Adds `audit`. */
export function addAudit(program: Command): void {
  const audit = program
    .command('audit')
    .summary('show who called and changed what')
    .description('Show who called and changed what, and check that nobody edited the log.')
    .addHelpText('after', HELP);
  const all = audit.command('list', { isDefault: true }).description('List calls and changes.');
  filtered(all).option('--limit <rows>', 'maximum number of rows', '20');
  shown(all.addHelpText('after', HELP)).action(list);
  const whole = audit.command('export').description('Export all rows as JSON lines.');
  filtered(whole).option('--after <id>', 'only rows after this id');
  addGatewayOptions(whole.addHelpText('after', EXPORT_HELP)).action(exportRows);
  const check = audit.command('verify').description('Check every hash chain.');
  shown(check.addHelpText('after', VERIFY_HELP)).action(verify);
}

function filtered(command: Command): Command {
  for (const filter of FILTERS)
    command.option(`--${filter} <${filter}>`, `only rows with this ${filter}`);
  return command
    .option('--with-token <name>', 'only what was done with this token')
    .option('--since <time>', 'only rows since this time');
}

function toQuery(given: Filters, more: Record<string, string>): URLSearchParams {
  const query = new URLSearchParams(more);
  for (const filter of FILTERS) {
    const value = given[filter];
    if (value !== undefined) query.set(filter, value);
  }
  filterByToken(query, given.withToken);
  if (given.since !== undefined) query.set('since', readSince(given.since, Date.now()));
  return query;
}

async function list({ limit, ...options }: ListOptions): Promise<void> {
  const filter = Object.fromEntries(toQuery(options, {}));
  // A page may have fewer rows than the limit, although others follow.
  const events = await apiOf(options).list<Row>(AUDIT, 'events', filter, limit);
  if (options.json) return writeJson(events);
  if (events.length === 0) return note('no matching rows');
  const rows = events.map(row => [
    row.at.slice(0, 19),
    row.principal_name ?? row.principal,
    row.action,
    row.subject_name ?? row.subject,
    row.code === null ? row.outcome : `${row.outcome} (${row.code})`,
  ]);
  const heading = ['TIME', 'PRINCIPAL', 'ACTION', 'WHAT', 'OUTCOME'];
  await writeTable(heading, rows);
}

/** @throws Failure where the gateway refuses, or the response breaks off */
async function exportRows({ after, ...options }: ExportOptions): Promise<void> {
  const query = toQuery(options, after === undefined ? {} : { after });
  for await (const text of apiOf(options).read(`${AUDIT}/export?${query}`)) {
    await writeForeign(text, toSafeJson);
  }
}

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Converts a time, or a span back from `now`, to the API's format.
 * @throws Failure where it is neither
 */
export function readSince(text: string, now: number): string {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const span = count === undefined ? NaN : Number(count) * (UNITS_MS[unit] ?? NaN);
  // `Date.parse` accepts too much: '5' is May 2001.
  const isDate = /^\d{4}-\d\d-\d\d/.test(text);
  const at = isDate ? Date.parse(text) : now - span;
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  throw new Failure(
    `'${text}' is not a valid time; write 30m, 12h, 7d, or 2027-01-31T00:00Z`,
    EXIT.usage,
  );
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
      seq === undefined ? 'intact' : `broken from ${seq} on`,
    ]);
    await writeTable(['CHAIN', 'CHECKED', 'STATE'], lines);
  }
  const broken = found.filter(({ first_broken_seq: seq }) => seq !== undefined);
  if (broken.length > 0) {
    throw new Failure(`broken chains: ${broken.map(({ shard }) => shard).join(', ')}`);
  }
}
