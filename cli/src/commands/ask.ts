/** `portico ask`: a request in plain words; the gateway plans, judges and makes one call. Its subcommands manage the allow-list. */
import type { Command } from 'commander';
import type { z } from 'zod';
import type { EntryViewSchema } from '../../../src/agents/ask/allowlist-schema.ts';
import { connectByPage, findPage, untilInterrupted } from '../accounts/account-page.ts';
import { EXIT, Failure } from '../failure.ts';
import { addGatewayOptions } from '../gateway-options.ts';
import type { Api } from '../gateway/api.ts';
import { apiOf, shown, type ApiOptions as Options } from '../gateway/api-command.ts';
import { formatAsked, type Asked } from '../output/asked.ts';
import { findPrincipalId } from '../resources/act.ts';
import type { Subject } from '../resources/subject.ts';
import { isTerminal, note, outputColumns, writeJson, writeOut, writeTable } from '../terminal.ts';

interface AskOptions extends Options {
  dryRun?: boolean;
  summary?: boolean;
}
interface AllowOptions extends Options {
  sideEffects?: boolean;
  group?: string;
  principal?: string;
  description?: string;
}
type Entry = z.infer<typeof EntryViewSchema>;

const ALLOWLIST = '/api/v1/ask/allowlist';

const HELP = `
The model of the gateway plans one call. The gateway judges the plan and makes
the call only if an administrator has allowed the tool. Put the request into
quotes: its first word may be the name of a command above.

Exit codes: 0 called (or no tool fits), 1 the call failed, 5 refused.

Examples:
  portico ask 'find the document about travel expenses'
  portico ask 'which tickets about the VPN are open?' --summary
  portico ask 'delete document doc-1' --dry-run
  portico ask 'read policy passwords' --json | jq .verdict
  portico ask allow documents 'search_*'
  portico ask allow tickets close_ticket --side-effects --group support`;

const ALLOW_HELP = `
A pattern may contain "*". A tool that is not annotated read-only needs
--side-effects and the exact names of server and tool.

Examples:
  portico ask allow '*' 'search_*'
  portico ask allow tickets close_ticket --side-effects --group support`;

/** Adds `ask`. */
export function addAsk(program: Command): void {
  const ask = addGatewayOptions(program.command('ask'))
    .argument('<words...>', 'the request')
    .summary('one guarded call from a request in words')
    .description('Make one call from a request in words: it is planned, judged and made.')
    .option('--dry-run', 'only plan and judge; call nothing')
    .option('--summary', 'also summarise the result, each claim with its evidence')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', HELP)
    .action(askFor);
  const allow = ask
    .command('allow <server> <tool>')
    .description('Add tools to the allow-list.')
    .option('--side-effects', 'also for tools that may change something')
    .option('--group <name>', 'only for this group')
    .option('--principal <name>', 'only for this principal, by name or id')
    .option('--description <text>', 'why they are allowed')
    .addHelpText('after', ALLOW_HELP);
  shown(allow).action(allowTool);
  const list = ask.command('list').description('List the allow-list.');
  shown(list)
    .addHelpText('after', '\nExample:\n  portico ask list')
    .action((_options: Options, command: Command) => listAllowed(command.optsWithGlobals()));
  const remove = ask
    .command('remove <id>')
    .description('Remove an entry of the allow-list, by its id.');
  shown(remove)
    .addHelpText('after', '\nExample:\n  portico ask remove 2c6e0d1a-8f5b-4a83-9f0e-6d1b2a3c4d55')
    .action((id: string, _options: Options, command: Command) =>
      removeEntry(id, command.optsWithGlobals()),
    );
}

async function askFor(words: string[], options: AskOptions): Promise<void> {
  const api = apiOf(options);
  const ask = () =>
    api.post<Asked>('/api/v1/ask', {
      request: words.join(' '),
      ...(options.summary ? { summarize: true } : {}),
      ...(options.dryRun ? { dry_run: true } : {}),
    });
  const first = await ask();
  const asked = (await connectFor(first, api)) ? await ask() : first;
  if (options.json) await writeJson(asked);
  else {
    const { data, notes } = formatAsked(asked, outputColumns() !== undefined);
    for (const line of notes) note(line);
    if (data !== '') await writeOut(data);
  }
  const { decision, message, reason } = asked.verdict;
  if (decision === 'refused') throw new Failure(`refused: ${message} (${reason})`, EXIT.refused);
  if (asked.error) throw new Failure(`${asked.error.message} (${asked.error.code})`);
  if (asked.result?.isError === true) throw new Failure('the tool reported an error');
}

/** If the call failed because an account is missing, lets a person at a terminal connect it. @returns whether it is connected now */
async function connectFor({ error }: Asked, api: Api): Promise<boolean> {
  const isWanted = error?.code === 'account_required' && isTerminal();
  const page = isWanted ? findPage(error.message, api.origin) : undefined;
  if (!page) return false;
  const { signal, release } = untilInterrupted();
  try {
    await connectByPage(api, page, { opens: true, signal });
    return true;
  } finally {
    release();
  }
}

async function allowTool(
  server: string,
  tool: string,
  _own: AllowOptions,
  command: Command,
): Promise<void> {
  const options = command.optsWithGlobals<AllowOptions>();
  if (options.group !== undefined && options.principal !== undefined) {
    throw new Failure('--group or --principal, not both', EXIT.usage);
  }
  const api = apiOf(options);
  const entry = await api.post<Entry>(ALLOWLIST, {
    server,
    tool,
    subject: await toSubject(api, options),
    ...(options.sideEffects ? { side_effects: true } : {}),
    ...(options.description === undefined ? {} : { description: options.description }),
  });
  if (options.json) return writeJson(entry);
  const what = entry.side_effects ? ', side effects included' : '';
  note(`${entry.server} ${entry.tool} is on the allow-list${what}; ${entry.id}`);
}

async function toSubject(api: Api, { group, principal }: AllowOptions): Promise<Subject> {
  if (group !== undefined) return { kind: 'group', name: group };
  if (principal === undefined) return { kind: 'everyone' };
  return { kind: 'principal', id: await findPrincipalId(api, principal) };
}

async function listAllowed(options: Options): Promise<void> {
  const entries = await apiOf(options).list<Entry>(ALLOWLIST, 'entries');
  if (options.json) return writeJson(entries);
  if (entries.length === 0) return note('the allow-list is empty; portico ask allow SERVER TOOL');
  const rows = entries.map(({ id, subject, server, tool, side_effects: changes, description }) => [
    server,
    tool,
    changes ? 'yes' : 'no',
    subject.kind === 'everyone'
      ? 'everyone'
      : `${subject.kind} ${subject.kind === 'group' ? subject.name : subject.id}`,
    id,
    description,
  ]);
  const heading = ['SERVER', 'TOOL', 'SIDE EFFECTS', 'FOR', 'ID', 'DESCRIPTION'];
  await writeTable(heading, rows);
}

async function removeEntry(id: string, options: Options): Promise<void> {
  await apiOf(options).json('DELETE', `${ALLOWLIST}/${encodeURIComponent(id)}`);
  if (options.json) return writeJson({ removed: id });
  note(`${id} is removed`);
}
