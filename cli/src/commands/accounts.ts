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
  called: "people's own accounts at servers",
  none: 'no accounts yet; portico accounts connect SERVER',
  columns: [
    ['ID', ({ id }) => id],
    ['SERVER', ({ server_name: name }) => name],
    ['PRINCIPAL', ({ principal_name: name }) => name],
    ['SINCE', ({ updated_at: since }) => since],
  ],
  example: { id: 'ID' },
  removal: 'Calls of its principal no longer use it.',
});

const HELP = `
At a terminal a page of the gateway opens, where you sign in at the server or
paste one of its tokens; the command waits until you have. Otherwise a token of
the server is read from standard input or --from-env. Your calls to the server
use this account from then on, and nobody else's do. The token is never shown
again. The server must allow own accounts (accounts: per_principal or both).

Examples:
  portico accounts connect github
  portico accounts connect github --no-browser
  portico accounts connect github < token.txt
  portico accounts connect github --from-env GITHUB_TOKEN`;

/** Adds `accounts`. */
export function addAccounts(program: Command): void {
  const connect = addResource(program, ACCOUNT)
    .command('connect <server>')
    .description('Connect your own account at a server, on a page or with a token.')
    .option('--from-env <name>', 'environment variable with the token')
    .option('--no-browser', 'print the address of the page instead of opening it')
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
