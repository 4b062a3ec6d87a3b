/** `portico approvals`: lists held tools, shows what changed in them, and approves or rejects them. */
import type { Command } from 'commander';
import { EXIT, Failure } from '../failure.ts';
import { apiOf, shown, type ApiOptions as Options } from '../gateway/api-command.ts';
import {
  APPROVALS,
  FINGERPRINT_CHARS,
  findApproval,
  listApprovals,
  nameOf,
  type Approval,
} from '../gateway/approvals.ts';
import { findRecord, SERVERS, type Api, type ServerRecord } from '../gateway/api.ts';
import { visible } from '../output/table.ts';
import { note, writeJson, writeOut, writeTable } from '../terminal.ts';

interface ListOptions extends Options {
  server?: string;
}

interface DecideOptions extends ListOptions {
  fingerprint?: string;
  acceptMisleading?: boolean;
}

type Verb = 'approve' | 'reject';

/** A held definition with its differences from the approved one. */
interface WholeApproval extends Approval {
  held_definition: string | null;
  diff: {
    changes: { path: string; before: { shown: string } | null; after: { shown: string } | null }[];
    more: number;
  } | null;
}

const HELP = `
A tool that a server adds or changes later is neither listed nor callable until
somebody approves it. The same holds for a tool with a misleading name.

Examples:
  portico approvals
  portico approvals show github.create_issue
  portico approvals approve github.create_issue github.close_issue
  portico approvals approve --server github
  portico approvals reject github.create_issue`;

const DECIDE_HELP = `
Name a tool as it is listed, or by its id. --server without a tool means all
waiting tools of that server; approve leaves out those with misleading names.
With --fingerprint nothing is done if the definition has changed since.`;

/** Most definitions in one request. */
const MAX_ITEMS = 500;
/** At least 8 digits identify a fingerprint. */
const MIN_FINGERPRINT = /^[0-9a-f]{8,64}$/;

/** Adds `approvals`. */
export function addApprovals(program: Command): void {
  const approvals = program
    .command('approvals')
    .summary('list held tools, approve or reject them')
    .description('List held tools, show what changed in them, approve or reject them.')
    .addHelpText('after', HELP);
  const all = approvals.command('list', { isDefault: true }).description('List the held tools.');
  all.option('--server <name>', 'only tools of this server');
  shown(all).action(list);
  const one = approvals
    .command('show <tool>')
    .description('Show how a held tool differs from the approved one.');
  shown(one).action(show);
  for (const verb of ['approve', 'reject'] as const) {
    const command = approvals
      .command(`${verb} [tool...]`)
      .description(
        verb === 'approve'
          ? 'Approve held tools; clients see them within a second or two.'
          : 'Reject tools: clients do not see them, and they no longer wait.',
      )
      .option('--server <name>', 'all waiting tools of this server')
      .option(
        '--fingerprint <digits>',
        'fingerprint of the definition that you reviewed, for one tool',
      );
    if (verb === 'approve') {
      command.option('--accept-misleading', 'approve one tool despite its misleading name');
    }
    const example = `\n\nExample:\n  portico approvals ${verb} github.create_issue`;
    shown(command.addHelpText('after', DECIDE_HELP + example));
    command.action((tools: string[], options: DecideOptions) => decide(verb, tools, options));
  }
}

/** Says why a decision is needed. */
function whyOf({ state, reason }: Approval): string {
  if (reason?.kind === 'look_alike') {
    return reason.name ? `reads like ${reason.name}` : 'reads like a tool of another server';
  }
  if (reason) return 'has invisible characters in its name';
  return state === 'changed' ? 'differs from the approved definition' : 'is new';
}

async function list({ server, ...options }: ListOptions): Promise<void> {
  const api = apiOf(options);
  const waiting = await listApprovals(api, await queryOf(api, server));
  if (options.json) return writeJson(waiting);
  if (waiting.length === 0) return note('nothing waits for approval');
  const rows = waiting.map(approval => [
    nameOf(approval),
    approval.held_fingerprint?.slice(0, FINGERPRINT_CHARS) ?? '',
    approval.changed_at.slice(0, 16),
    whyOf(approval),
  ]);
  const heading = ['NAME', 'FINGERPRINT', 'SINCE', 'WHY'];
  await writeTable(heading, rows);
}

async function show(tool: string, options: Options): Promise<void> {
  const api = apiOf(options);
  const { id } = findApproval(tool, await listApprovals(api));
  const whole = await api.json<WholeApproval>('GET', `${APPROVALS}/${id}`);
  if (options.json) return writeJson(whole);
  const { held_fingerprint: fingerprint, held_definition: definition, diff } = whole;
  const lines = [`${nameOf(whole)} ${whyOf(whole)}; fingerprint ${fingerprint ?? 'none'}`];
  for (const { path, before, after } of diff?.changes ?? []) {
    lines.push(path === '' ? '(the whole definition)' : path);
    if (before) lines.push(`  - ${before.shown}`);
    if (after) lines.push(`  + ${after.shown}`);
  }
  if (diff && diff.more > 0) lines.push(`… and ${diff.more} more changes`);
  if (!diff) lines.push(definition ?? 'its definition is too long to show');
  await writeOut(`${lines.map(visible).join('\n')}\n`);
}

async function decide(verb: Verb, tools: string[], options: DecideOptions): Promise<void> {
  const { server, fingerprint, acceptMisleading: accepts = false } = options;
  if (tools.length === 0 && server === undefined) {
    throw new Failure('name tools, or a server with --server', EXIT.usage);
  }
  const isOne = tools.length === 1;
  if ((fingerprint !== undefined || accepts) && !isOne) {
    throw new Failure('--fingerprint and --accept-misleading are for one tool', EXIT.usage);
  }
  if (fingerprint !== undefined && !MIN_FINGERPRINT.test(fingerprint)) {
    throw new Failure('--fingerprint has at least 8 hexadecimal digits', EXIT.usage);
  }
  if (tools.length > MAX_ITEMS) {
    throw new Failure(`name at most ${MAX_ITEMS} tools at once`, EXIT.usage);
  }
  const api = apiOf(options);
  const query = await queryOf(api, server);
  // `reject` also accepts approved tools, if they are named.
  const isAny = verb === 'reject' && tools.length > 0;
  const known = await listApprovals(api, { ...query, ...(isAny ? { state: 'any' } : {}) });
  const wanted =
    tools.length > 0
      ? [...new Set(tools.map(tool => findApproval(tool, known)))]
      : known.filter(({ reason }) => verb === 'reject' || reason === null);
  const left = tools.length > 0 ? [] : known.filter(approval => !wanted.includes(approval));
  const misleading = wanted.find(({ reason }) => verb === 'approve' && reason !== null && !accepts);
  if (misleading) {
    const what = `${nameOf(misleading)} ${whyOf(misleading)}`;
    throw new Failure(`${what}; approve it by itself with --accept-misleading`);
  }
  const items = wanted.map(approval => toItem(approval, fingerprint));
  const decided = await decideAll(api, verb, items, accepts);
  if (options.json) return writeJson(decided);
  const words = verb === 'approve' ? 'approved' : 'rejected';
  note(wanted.length === 0 ? 'nothing waits' : `${words}: ${wanted.map(nameOf).join(', ')}`);
  for (const approval of left) note(`${nameOf(approval)} is not approved: it ${whyOf(approval)}`);
}

interface Item {
  server_id: string;
  kind: string;
  name: string;
  fingerprint: string;
}

/** @throws Failure where the given fingerprint is not that of the current definition, or there is no definition */
function toItem(approval: Approval, lookedAt: string | undefined): Item {
  const { server_id, kind, name } = approval;
  const fingerprint = approval.held_fingerprint ?? approval.approved_fingerprint;
  if (fingerprint === null) {
    throw new Failure(`${nameOf(approval)} has no definition to decide on`, EXIT.notFound);
  }
  if (lookedAt !== undefined && !fingerprint.startsWith(lookedAt)) {
    const now = fingerprint.slice(0, FINGERPRINT_CHARS);
    throw new Failure(`${nameOf(approval)} has changed; its fingerprint is now ${now}`);
  }
  return { server_id, kind, name, fingerprint };
}

interface Decided {
  decided: number;
  server_ids: string[];
}

/** Sends as few requests as possible; each is applied completely or not at all. */
async function decideAll(api: Api, verb: Verb, items: readonly Item[], accepts: boolean) {
  const all: Decided = { decided: 0, server_ids: [] };
  for (let at = 0; at < items.length; at += MAX_ITEMS) {
    const body = {
      items: items.slice(at, at + MAX_ITEMS),
      ...(verb === 'approve' && accepts ? { accept_quarantined: true } : {}),
    };
    const { decided, server_ids: ids } = await api.post<Decided>(`${APPROVALS}/${verb}`, body);
    all.decided += decided;
    all.server_ids = [...new Set([...all.server_ids, ...ids])];
  }
  return all;
}

async function queryOf(api: Api, server: string | undefined): Promise<Record<string, string>> {
  if (server === undefined) return {};
  const { id } = findRecord('server', server, await api.list<ServerRecord>(SERVERS, 'servers'));
  return { server: id };
}
