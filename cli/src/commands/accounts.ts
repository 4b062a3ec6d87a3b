/**
 * `portico accounts`: people's own accounts at servers. Adds `connect` to the verbs that all records have. A token is never passed as an
 * argument.
 */
import type { Command } from 'commander';
import {
  ACCOUNTS,
  connectByPage,
  pageOf,
  untilInterrupted,
  type AccountView as View,
} from '../accounts/account-page.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Api } from '../gateway/api.ts';
import { apiOf, shown, type ApiOptions as Options } from '../gateway/api-command.ts';
import { readValue } from '../input.ts';
import { describe } from '../resources/resource.ts';
import { note, writeJson, writeOut } from '../terminal.ts';
import { addResource } from './resources.ts';

interface ConnectOptions extends Options {
  fromEnv?: string;
  browser: boolean;
}

const ACCOUNT = describe<View>({
  name: 'accounts',
  noun: 'account',
  called: 'the accounts that people have at servers',
  path: ACCOUNTS,
  list: 'accounts',
  none: 'no accounts yet; portico accounts connect SERVER',
  columns: [
    ['ID', ({ id }) => id],
    ['SERVER', ({ server_name: name }) => name],
    ['PRINCIPAL', ({ principal_name: name }) => name],
    ['SINCE', ({ updated_at: since }) => since],
  ],
  written: 'elsewhere',
  fields: [],
  example: { id: 'ID' },
  removal: 'Calls of its principal no longer use it.',
});

const HELP = `
At a terminal a page of the gateway opens, where you sign in at the server or
paste a token of it; the command waits for that. Else a token of the server is
what comes on standard input, or an environment variable. Your calls to the
server carry the account from then on, and nobody else's do; it is never shown
again. The server has to be set up for it (accounts per_principal, or both).

Examples:
  portico accounts connect github
  portico accounts connect github --no-browser
  portico accounts connect github < token.txt
  portico accounts connect github --from-env GITHUB_TOKEN`;

/** Adds `accounts`. */
export function addAccounts(program: Command): void {
  const connect = addResource(program, ACCOUNT)
    .command('connect <server>')
    .description('Connect an account of your own at a server, on a page or by a token of it.')
    .option('--from-env <name>', 'the environment variable that has the token')
    .option('--no-browser', 'show the address of the page; open none')
    .addHelpText('after', HELP);
  shown(connect).action(connectAccount);
}

async function connectAccount(server: string, options: ConnectOptions): Promise<void> {
  const api = apiOf(options);
  const isByPage = options.fromEnv === undefined && (process.stdin.isTTY || !options.browser);
  const made = await (isByPage ? byPage : byToken)(api, server, options);
  if (options.json) return writeJson(made);
  await writeOut(`${made.id}\n`);
  note(`connected; calls of '${made.principal_name}' to ${made.server_name} use this account`);
}

async function byToken(api: Api, server: string, { fromEnv }: ConnectOptions): Promise<View> {
  const token = (await readValue(fromEnv)).trim();
  return api.post<View>(ACCOUNTS, { server, token });
}

async function byPage(api: Api, server: string, { browser }: ConnectOptions): Promise<View> {
  const query = new URLSearchParams({ server });
  const { servers } = await api.json<{ servers: unknown[] }>('GET', `/api/v1/tools?${query}`);
  if (servers.length === 0) {
    throw new Failure(`there is no server '${server}'; see portico tools`, EXIT.notFound);
  }
  const { signal, release } = untilInterrupted();
  try {
    return await connectByPage(api, pageOf(api.origin, server), { opens: browser, signal });
  } finally {
    release();
  }
}
