/** `portico accounts`: people's own accounts at servers; beside what all records have, connect. A token never comes as an argument. */
import type { Command } from 'commander';
import type { z } from 'zod';
import type { AccountViewSchema } from '../../../src/servers/accounts/account-schema.ts';
import { apiOf, shown, type ApiOptions as Options } from '../gateway/api-command.ts';
import { readValue } from '../input.ts';
import { describe } from '../resources/resource.ts';
import { note, writeJson, writeOut } from '../terminal.ts';
import { addResource } from './resources.ts';

type View = z.infer<typeof AccountViewSchema>;

interface ConnectOptions extends Options {
  fromEnv?: string;
}

const ACCOUNT = describe<View>({
  name: 'accounts',
  noun: 'account',
  called: 'the accounts that people have at servers',
  path: '/api/v1/accounts',
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
  removal: 'Calls of its principal carry it no longer.',
});

const HELP = `
Your calls to the server carry the token from then on, and nobody else's do. It
is what comes on standard input, or an environment variable. It is never shown
again. The server has to be set up for it (accounts per_principal, or both).

Examples:
  portico accounts connect github < token.txt
  portico accounts connect github --from-env GITHUB_TOKEN`;

/** Adds `accounts`. */
export function addAccounts(program: Command): void {
  const connect = addResource(program, ACCOUNT)
    .command('connect <server>')
    .description('Connect an account of your own at a server, by a token of it.')
    .option('--from-env <name>', 'the environment variable that has the token')
    .addHelpText('after', HELP);
  shown(connect).action(connectAccount);
}

async function connectAccount(server: string, options: ConnectOptions): Promise<void> {
  const token = (await readValue(options.fromEnv)).trim();
  const made = await apiOf(options).post<View>(ACCOUNT.path, { server, token });
  if (options.json) return writeJson(made);
  await writeOut(`${made.id}\n`);
  note(`calls of '${made.principal_name}' to ${made.server_name} use this account`);
}
