/** `portico identities`: who people are at the identity providers they sign in with. Adds `add` to the verbs that all records have. */
import type { Command } from 'commander';
import type { z } from 'zod';
import type { IdentityViewSchema } from '../../../src/sign-in/identities/identity-schema.ts';
import { apiOf, shown, type ApiOptions as Options } from '../gateway/api-command.ts';
import { findPrincipalId } from '../resources/act.ts';
import { describe } from '../resources/resource.ts';
import { note, writeJson, writeOut } from '../terminal.ts';
import { addResource } from './resources.ts';

type View = z.infer<typeof IdentityViewSchema>;

interface AddOptions extends Options {
  provider: string;
  subject: string;
}

const IDENTITY = describe<View>({
  name: 'identities',
  noun: 'identity',
  called: "people's identities at providers",
  none: 'nobody signed in with a provider yet',
  columns: [
    ['NAME', ({ name }) => name],
    ['ID', ({ id }) => id],
    ['EMAIL', ({ email }) => email ?? ''],
    ['GROUPS', ({ groups }) => groups.join(' ')],
    ['LAST SIGN-IN', ({ signed_in_at: at }) => at ?? 'never'],
  ],
  example: { id: 'Ada' },
  removal: 'Whoever signed in with it is signed out, clients too; the principal stays.',
});

const HELP = `
With that identity they sign in as this principal from then on, with the groups
that the provider's groups map to. The subject is the provider's 'sub'; for
GitHub it is the numeric id of the account, not an email address.

Example:
  portico identities add Ada --provider Acme --subject 00u1a2b3c4`;

/** Adds `identities`. */
export function addIdentities(program: Command): void {
  const add = addResource(program, IDENTITY)
    .command('add <principal>')
    .description('Link a principal (name or id) to an identity at a provider.')
    .requiredOption('--provider <name>', 'name or id of the provider')
    .requiredOption('--subject <text>', "the person's 'sub' at the provider")
    .addHelpText('after', HELP);
  shown(add).action(addIdentity);
}

async function addIdentity(name: string, options: AddOptions): Promise<void> {
  const api = apiOf(options);
  const principal = await findPrincipalId(api, name);
  const { provider, subject } = options;
  const made = await api.post<View>(IDENTITY.path, { provider, subject, principal });
  if (options.json) return writeJson(made);
  await writeOut(`${made.id}\n`);
  note(`'${made.name}' can sign in with ${provider}`);
}
