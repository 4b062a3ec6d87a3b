/**
 * `portico oauth-clients`: OAuth clients, the programs that ask people for access. Adds `add` to the verbs that all records have. A secret
 * is printed only once.
 */
import type { Command } from 'commander';
import type { z } from 'zod';
import type { ClientViewSchema } from '../../../src/oauth/clients/client-schema.ts';
import { again } from '../again.ts';
import { apiOf, shown, type ApiOptions as Options } from '../gateway/api-command.ts';
import { describe } from '../resources/resource.ts';
import { note, writeJson, writeOut } from '../terminal.ts';
import { addResource } from './resources.ts';

type View = z.infer<typeof ClientViewSchema>;

interface AddOptions extends Options {
  redirect: string[];
  public?: boolean;
}

const OAUTH_CLIENT = describe<View>({
  name: 'oauth-clients',
  called: 'OAuth clients',
  path: '/api/v1/oauth/clients',
  list: 'clients',
  none: 'no clients yet; most register themselves, others need portico oauth-clients add NAME',
  columns: [
    ['NAME', ({ name }) => name],
    ['ID', ({ id }) => id],
    ['KIND', ({ kind }) => kind],
    ['USED', ({ last_used_at: used }) => used?.slice(0, 10) ?? 'never'],
  ],
  example: { id: 'Reports' },
  removal: 'Its grants end at once. Most clients can register and ask for access again.',
});

const HELP = `
For a program that has no client metadata document and cannot register itself.
Most programs need no such entry. Enter the printed id and secret in yours.

Examples:
  portico oauth-clients add Reports --redirect https://reports.example.com/cb
  portico oauth-clients add Desk --redirect http://127.0.0.1/callback --public`;

/** Adds `oauth-clients`. */
export function addOAuthClients(program: Command): void {
  const add = addResource(program, OAUTH_CLIENT)
    .command('add <name>')
    .description('Create a client and print its id and secret; the secret is shown only once.')
    .requiredOption('--redirect <uri>', 'redirect URI; may be repeated', again)
    .option('--public', 'without a secret, for a program that cannot keep one')
    .addHelpText('after', HELP);
  shown(add).action(addClient);
}

async function addClient(name: string, options: AddOptions): Promise<void> {
  const { redirect: uris, public: isPublic = false } = options;
  const body = { name, redirect_uris: uris, public: isPublic };
  const made = await apiOf(options).post<View & { client_secret: string | null }>(
    OAUTH_CLIENT.path,
    body,
  );
  if (options.json) return writeJson(made);
  const { id, client_secret: secret } = made;
  await writeOut(`client_id=${id}\n${secret === null ? '' : `client_secret=${secret}\n`}`);
  note(
    `client '${made.name}' is created${secret === null ? '' : '; its secret is not shown again'}`,
  );
}
