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
    noun: 'invitation',
    path: INVITATIONS,
    list: 'invitations',
    none: 'no invitations wait; portico invite NAME',
    columns: [
      ['ID', ({ id }) => id],
      ['PRINCIPAL', ({ principal_name: name }) => name],
      ['EXPIRES', ({ expires_at: expires }) => expires],
    ],
    written: 'elsewhere',
    fields: [],
    example: { id: 'ID' },
    removal: 'Its code signs nobody in.',
  }),
  describe<z.infer<typeof SignInViewSchema>>({
    name: 'sign-ins',
    noun: 'sign-in',
    called: 'the browsers in which people are signed in',
    path: '/api/v1/sign-ins',
    list: 'sign_ins',
    none: 'nobody is signed in with a browser',
    columns: [
      ['ID', ({ id }) => id],
      ['PRINCIPAL', ({ principal_name: name }) => name],
      ['BY', ({ by }) => by],
      ['SINCE', ({ created_at: since }) => since],
    ],
    written: 'elsewhere',
    fields: [],
    example: { id: 'ID' },
    removal: 'The browser is signed out at once. What its user allowed clients stays.',
  }),
  describe<z.infer<typeof ProviderViewSchema>>({
    name: 'sign-in-providers',
    noun: 'provider',
    called: 'the providers by which people sign in',
    path: '/api/v1/sign-in-providers',
    list: 'sign_in_providers',
    none: 'no providers yet; portico sign-in-providers add NAME',
    columns: [
      ['NAME', ({ name }) => name],
      ['KIND', ({ kind }) => kind],
      ['ISSUER', ({ issuer }) => issuer],
      ['NEW PEOPLE', ({ creates_principals: isOpen }) => (isOpen ? 'get a principal' : 'refused')],
    ],
    written: 'named',
    fields: [
      text('issuer', '--issuer <url>', 'what it calls itself; fixed'),
      text('client_id', '--client-id <id>', 'what it calls the gateway'),
      text('client_secret', '--client-secret <name>', 'the secret that is sent to it'),
      text('groups_claim', '--groups-claim <claim>', 'where it says the groups of somebody'),
      {
        field: 'creates_principals',
        flags: '--creates-principals',
        about: 'who was never here gets a principal',
        takes: 'flag',
      },
      {
        field: 'takes_assertions',
        flags: '--takes-assertions',
        about: 'what it signs for clients counts as a sign-in',
        takes: 'flag',
      },
    ],
    example: {
      id: 'Acme',
      new: ['add Acme --issuer https://id.acme.com --client-id c1'],
      edit: '--groups-claim groups',
      json: '{"required_claims": {}}',
    },
    removal: 'Who came by it is signed out; the principals stay.',
  }),
  describe<z.infer<typeof PasskeyViewSchema>>({
    name: 'passkeys',
    noun: 'passkey',
    called: 'the passkeys by which people sign in',
    path: '/api/v1/passkeys',
    list: 'passkeys',
    none: 'nobody has a passkey yet',
    columns: [
      ['ID', ({ id }) => id],
      ['NAME', ({ name }) => name],
      ['PRINCIPAL', ({ principal_name: name }) => name],
      ['USED', ({ last_used_at: used }) => used?.slice(0, 10) ?? 'never'],
    ],
    written: 'elsewhere',
    fields: [],
    example: { id: 'ID' },
    removal: 'Who came by it is signed out, also clients; the principal stays.',
  }),
  describe<z.infer<typeof GrantViewSchema>>({
    name: 'grants',
    noun: 'grant',
    called: 'which programs people let in',
    path: '/api/v1/grants',
    list: 'grants',
    none: 'nobody let a program in yet',
    columns: [
      ['ID', ({ id }) => id],
      ['PROGRAM', ({ name }) => name],
      ['PRINCIPAL', ({ principal_name: name }) => name],
      ['SCOPES', ({ scopes }) => scopes.join(' ')],
      ['USED', ({ last_used_at: used }) => used?.slice(0, 10) ?? 'never'],
    ],
    written: 'elsewhere',
    fields: [],
    example: { id: 'ID' },
    removal: 'The program is refused at once; it has to ask again.',
  }),
];
