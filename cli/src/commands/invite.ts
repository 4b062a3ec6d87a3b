/** `portico invite`: prints a link with which a principal can sign in with a browser once. The link is shown only once. */
import type { Command } from 'commander';
import type { InvitationViewSchema } from '../../../src/sign-in/invitation-schema.ts';
import type { z } from 'zod';
import { apiOf, shown, type ApiOptions as Options } from '../gateway/api-command.ts';
import { findPrincipalId } from '../resources/act.ts';
import { INVITATIONS } from '../resources/sign-in-resources.ts';
import { note, writeJson, writeOut } from '../terminal.ts';
import { readExpiry } from './token.ts';

interface InviteOptions extends Options {
  expires: string;
}

type Issued = z.infer<typeof InvitationViewSchema> & { code: string; path: string };

const HELP = `
The link works once. It can be valid for ten minutes to a week.

Examples:
  portico invite Ada
  portico invite Ada --expires 3d`;

/** Adds `invite`. */
export function addInvite(program: Command): void {
  const command = program
    .command('invite <principal>')
    .summary('create a link with which somebody signs in')
    .description('Create a link with which a principal (name or id) signs in with a browser once.')
    .option(
      '--expires <when>',
      'when it expires: from now like 12h, or like 2027-01-31T00:00Z',
      '24h',
    )
    .addHelpText('after', HELP);
  shown(command).action(invite);
}

async function invite(name: string, options: InviteOptions): Promise<void> {
  const api = apiOf(options);
  const id = await findPrincipalId(api, name);
  const now = Date.now();
  const seconds = Math.round((Date.parse(readExpiry(options.expires, now)) - now) / 1000);
  const made = await api.post<Issued>(INVITATIONS, { principal: id, valid_seconds: seconds });
  if (options.json) return writeJson(made);
  await writeOut(`${api.origin}${made.path}\n`);
  note(`'${made.principal_name}' can sign in with it once, until ${made.expires_at}`);
}
