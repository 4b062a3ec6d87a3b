/** `portico explain`: says why a principal or a token may use a tool or not, and what to change. */
import type { Command } from 'commander';
import { STEP_ADVICE, type StepName } from '../../../src/gateway/explain/step-advice.ts';
import { parseQualifiedName } from '../../../src/shared/naming/qualified-name.ts';
import { EXIT, Failure } from '../failure.ts';
import { apiOf, shown, type ApiOptions } from '../gateway/api-command.ts';
import { findRecord, findToken, SERVERS, type Api, type ServerRecord } from '../gateway/api.ts';
import { visible } from '../output/table.ts';
import { findPrincipalId } from '../resources/act.ts';
import { note, writeJson, writeTable } from '../terminal.ts';

interface Options extends ApiOptions {
  principal?: string;
  withToken?: string;
  toolset?: string;
}

interface Explanation {
  is_allowed: boolean;
  is_listed: boolean;
  code: string | null;
  decided_by: StepName;
  steps: { step: StepName; passes: boolean | null; detail: string; rules: string[] }[];
}

const HELP = `
For administrators. Give principals and tokens by name or by id. Without
--with-token it explains what a token without limits may do. The first step that
refuses is the reason; ids of the rules that decide are in its detail. Nothing
is sent to the server.

Examples:
  portico explain github.delete_repository --principal Ada
  portico explain github.create_issue --with-token ci
  portico explain github.create_issue --principal Ada --toolset triage`;

/** Adds `explain`. */
export function addExplain(program: Command): void {
  const explain = program
    .command('explain <tool>')
    .summary('say why somebody may use a tool or not')
    .description('Say why a principal or a token may use a tool or not, and what to change.')
    .option('--principal <name>', 'whose access is explained')
    .option('--with-token <name>', 'the token whose access is explained')
    .option('--toolset <name>', 'explain it for the endpoint of this toolset')
    .addHelpText('after', HELP);
  shown(explain).action(run);
}

/** @throws Failure where the gateway refuses */
async function run(tool: string, options: Options): Promise<void> {
  const { principal, withToken, toolset } = options;
  const api = apiOf(options);
  const whose = await findWhose(api, principal, withToken);
  const body = { ...whose, ...(await findOwnName(api, tool)), ...(toolset && { toolset }) };
  const found = await api.post<Explanation>('/api/v1/access/explain', body);
  if (options.json) return writeJson(found);
  const { is_allowed: isAllowed, is_listed: isListed, code, decided_by: by } = found;
  const rows = found.steps.map(({ step, passes, detail, rules }) => [
    step,
    passes === null ? 'not known' : passes ? 'passes' : 'refuses',
    [detail, ...rules].join(' '),
  ]);
  await writeTable(['STEP', 'RESULT', 'DETAIL'], rows, { last: 'wrap' });
  const listed = isListed ? 'lists have it' : 'lists do not have it';
  const called = isAllowed ? 'a call is sent' : `a call is refused${code ? ` with ${code}` : ''}`;
  note(visible(`${tool}: ${listed}, ${called}; decided by ${by}`));
  if (!isAllowed || !isListed) note(STEP_ADVICE[by]);
}

async function findWhose(api: Api, principal?: string, token?: string) {
  if ((principal === undefined) === (token === undefined)) {
    throw new Failure('give either --principal or --with-token', EXIT.usage);
  }
  return principal === undefined
    ? { token: (await findToken(api, token ?? '')).id }
    : { principal: await findPrincipalId(api, principal) };
}

/** Splits a qualified name, in any style, at a server that exists. @throws Failure where there is none */
async function findOwnName(api: Api, name: string): Promise<{ server: string; tool: string }> {
  const guesses = parseQualifiedName(name);
  const [first] = guesses;
  if (!first) throw new Failure(`'${name}' names no server; write SERVER.TOOL`, EXIT.usage);
  const servers = await api.list<ServerRecord>(SERVERS, 'servers');
  const { server, tool } =
    guesses.find(guess => servers.some(each => each.name === guess.server)) ?? first;
  return { server: findRecord('server', server, servers).id, tool };
}
