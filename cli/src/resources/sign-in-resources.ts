/** The records for people's sign-in with a browser. */
import type { z } from 'zod';
import type { InvitationViewSchema } from '../../../src/sign-in/invitation-schema.ts';
import type { GrantViewSchema } from '../../../src/oauth/grants/grant-schema.ts';
import type { SignInViewSchema } from '../../../src/sign-in/sign-in-schema.ts';
import type { ProviderViewSchema } from '../../../src/sign-in/providers/providers-schema.ts';
import type { PasskeyViewSchema } from '../../../src/sign-in/passkeys/passkey-schema.ts';
import { describe, text, type Resource } from './resource.ts';

/** The API path of invitations; `portico invite` creates them. */
export const INVITATIONS = '/api/v1/invitations';

export const SIGN_IN_RESOURCES: readonly Resource[] = [
  describe<z.infer<typeof InvitationViewSchema>>({
    name: 'invitations',
    none: 'no invitations wait; portico invite NAME',
    columns: [
      ['ID', ({ id }) => id],
      ['PRINCIPAL', ({ principal_name: name }) => name],
      ['EXPIRES', ({ expires_at: expires }) => expires],
    ],
    example: { id: 'ID' },
    removal: 'Its link no longer works.',
  }),
  describe<z.infer<typeof SignInViewSchema>>({
    name: 'sign-ins',
    called: 'browsers in which people are signed in',
    none: 'nobody is signed in with a browser',
    columns: [
      ['ID', ({ id }) => id],
      ['PRINCIPAL', ({ principal_name: name }) => name],
      ['BY', ({ by }) => by],
      ['SINCE', ({ created_at: since }) => since],
    ],
    example: { id: 'ID' },
    removal: 'The browser is signed out at once. What its user granted to clients stays.',
  }),
  describe<z.infer<typeof ProviderViewSchema>>({
    name: 'sign-in-providers',
    noun: 'provider',
    called: 'providers with which people sign in',
    none: 'no providers yet; portico sign-in-providers add NAME',
    columns: [
      ['NAME', ({ name }) => name],
      ['KIND', ({ kind }) => kind],
      ['ISSUER', ({ issuer }) => issuer],
      ['NEW PEOPLE', ({ creates_principals: isOpen }) => (isOpen ? 'get a principal' : 'refused')],
    ],
    written: 'named',
    fields: [
      text('issuer', '--issuer <url>', 'issuer URL of the provider; cannot be changed later'),
      text('client_id', '--client-id <id>', 'client id of the gateway at the provider'),
      text(
        'client_secret',
        '--client-secret <name>',
        'name of the stored secret that holds the client secret',
      ),
      text('groups_claim', '--groups-claim <claim>', "claim with a person's groups"),
      {
        field: 'creates_principals',
        flags: '--creates-principals',
        about: 'create a principal for people who sign in for the first time',
        takes: 'flag',
      },
      {
        field: 'takes_assertions',
        flags: '--takes-assertions',
        about: 'accept assertions that it signs for clients (ID-JAG)',
        takes: 'flag',
      },
    ],
    example: {
      id: 'Acme',
      new: ['add Acme --issuer https://id.acme.com --client-id c1'],
      edit: '--groups-claim groups',
      json: '{"required_claims": {}}',
    },
    removal: 'People who signed in with it are signed out; their principals stay.',
  }),
  describe<z.infer<typeof PasskeyViewSchema>>({
    name: 'passkeys',
    called: 'passkeys with which people sign in',
    none: 'nobody has a passkey yet',
    columns: [
      ['ID', ({ id }) => id],
      ['NAME', ({ name }) => name],
      ['PRINCIPAL', ({ principal_name: name }) => name],
      ['USED', ({ last_used_at: used }) => used?.slice(0, 10) ?? 'never'],
    ],
    example: { id: 'ID' },
    removal: 'Whoever signed in with it is signed out, clients too; the principal stays.',
  }),
  describe<z.infer<typeof GrantViewSchema>>({
    name: 'grants',
    called: 'programs to which people gave access',
    none: 'nobody gave a program access yet',
    columns: [
      ['ID', ({ id }) => id],
      ['PROGRAM', ({ name }) => name],
      ['PRINCIPAL', ({ principal_name: name }) => name],
      ['SCOPES', ({ scopes }) => scopes.join(' ')],
      ['USED', ({ last_used_at: used }) => used?.slice(0, 10) ?? 'never'],
    ],
    example: { id: 'ID' },
    removal: 'The program loses access at once; it has to ask again.',
  }),
];
