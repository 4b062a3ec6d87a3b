/** `/api/v1/sign-in-providers` and `/api/v1/identities`: the providers through which people sign in, and their identities there. */
import {
  CreateIdentitySchema,
  IdentityQuerySchema,
  IdentityViewSchema,
  toIdentityView,
} from '../sign-in/identities/identity-schema.ts';
import {
  CreateProviderSchema,
  ProviderQuerySchema,
  ProviderViewSchema,
  toProviderView,
  UpdateProviderSchema,
} from '../sign-in/providers/providers-schema.ts';
import type { Api, ApiPorts } from './frame.ts';
import { registerEdits, registerRecords } from './records.ts';

const created = {
  name: 'Acme',
  issuer: 'https://login.example.com',
  client_id: 'portico',
  client_secret: 'ACME_SIGN_IN',
  groups_claim: 'groups',
  group_map: { 'Platform Team': 'platform' },
  required_claims: { groups: ['Employees'] },
  creates_principals: true,
};

const provider = {
  path: '/api/v1/sign-in-providers',
  tag: 'principals',
  name: 'SignInProvider',
  noun: 'provider',
  phrase: 'a provider by which people sign in',
  key: 'provider, or its name',
  view: ProviderViewSchema.meta({ id: 'SignInProvider' }),
  example: {
    id: '4d5e6f70-8192-4a3b-9c4d-5e6f708192a3',
    ...created,
    kind: 'oidc',
    scopes: ['profile', 'email'],
    takes_assertions: false,
    max_age_seconds: 604_800,
    revision: 1,
    created_at: '2026-11-02T09:00:00.000Z',
    updated_at: '2026-11-02T09:00:00.000Z',
  },
  toView: toProviderView,
  delete: {
    description:
      'Its identities end, with the sign-ins made through them and the clients allowed there.',
  },
  create: {
    schema: CreateProviderSchema.meta({ id: 'CreateSignInProvider' }),
    example: created,
    description: 'Register `/sign-in/callback` of the gateway there as the redirect URI.',
  },
  list: {
    operationId: 'listSignInProviders',
    summary: 'List the providers by which people sign in',
    description: 'In the order of their names, page by page.',
    key: 'sign_in_providers',
    page: 'SignInProviderPage',
    query: ProviderQuerySchema,
  },
};

const patch = {
  schema: UpdateProviderSchema.meta({ id: 'UpdateSignInProvider' }),
  example: { group_map: { 'Platform Team': 'platform', Finance: 'finance' } },
  description:
    'Absent fields stay as they are. The change applies from the next sign-in on; grants from assertions end at once if assertions are no longer accepted.',
  problems: ['conflict'] as const,
};

const identity = {
  path: '/api/v1/identities',
  tag: 'principals',
  name: 'Identity',
  noun: 'identity',
  phrase: 'an identity',
  view: IdentityViewSchema.meta({ id: 'Identity' }),
  example: {
    id: '8e9fa0b1-c2d3-4e4f-8a5b-6c7d8e9fa0b1',
    name: 'Ada',
    email: 'ada@example.com',
    principal: '2f6d8c1a-93f4-4b51-8a5e-6a0a4a9b7c11',
    provider: provider.example.id,
    issuer: created.issuer,
    subject: '00u1a2b3c4',
    groups: ['platform'],
    created_at: '2026-11-02T09:00:00.000Z',
    signed_in_at: '2026-11-02T09:00:00.000Z',
    expires_at: '2026-11-09T09:00:00.000Z',
  },
  toView: toIdentityView,
  delete: {
    description:
      'The sign-ins made with it, and the clients allowed there, end; its principal stays.',
  },
  create: {
    schema: CreateIdentitySchema.meta({ id: 'CreateIdentity' }),
    example: {
      provider: provider.example.id,
      subject: '00u1a2b3c4',
      principal: '2f6d8c1a-93f4-4b51-8a5e-6a0a4a9b7c11',
    },
    change: { email: null, groups: [], signed_in_at: null },
    description: 'The person with this subject at the provider signs in as that principal.',
  },
  list: {
    operationId: 'listIdentities',
    summary: 'List identities',
    key: 'identities',
    page: 'IdentityPage',
    query: IdentityQuerySchema,
  },
};

/** Adds the routes. */
export function registerSignInProviders(api: Api, { providers, identities }: ApiPorts): void {
  registerRecords(api, provider, providers);
  registerEdits(api, provider, patch, providers);
  registerRecords(api, identity, identities);
}
