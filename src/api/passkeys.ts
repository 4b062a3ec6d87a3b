/** `/api/v1/passkeys`: the passkeys with which people sign in. List, get, delete. */
import { OfPrincipalSchema } from '../sign-in/invitation-schema.ts';
import { PasskeyViewSchema, toPasskeyView } from '../sign-in/passkeys/passkey-schema.ts';
import { OWN_SCOPES } from '../access/tokens/own-tokens.ts';
import type { Api, ApiPorts } from './frame.ts';
import { registerList, registerOne } from './records.ts';

const resource = {
  path: '/api/v1/passkeys',
  tag: 'principals',
  name: 'Passkey',
  noun: 'passkey',
  phrase: 'a passkey',
  scopes: OWN_SCOPES,
  view: PasskeyViewSchema.meta({ id: 'Passkey' }),
  example: {
    id: '9f0a1b2c-3d4e-4f5a-8b6c-7d8e9f0a1b2c',
    name: 'Laptop',
    principal: '2f6d8c1a-93f4-4b51-8a5e-6a0a4a9b7c11',
    principal_name: 'Ada',
    token: '5a1f0a52-7a0e-4f0e-8f0b-6f3c2d1e0a99',
    identity: null,
    created_at: '2026-11-25T09:00:00.000Z',
    last_used_at: null,
  },
  toView: toPasskeyView,
  delete: {
    description:
      'The sign-ins made with it, and the clients allowed there, end at once; its principal stays.',
  },
};

const listed = {
  operationId: 'listPasskeys',
  summary: 'List passkeys',
  description:
    'Those made with the token or sign-in of this request, newest first, page by page; administrators see all.',
  key: 'passkeys',
  page: 'PasskeyPage',
  query: OfPrincipalSchema,
};

/** Adds the routes. */
export function registerPasskeys(api: Api, { passkeyRecords }: ApiPorts): void {
  registerList(api, resource, listed, passkeyRecords);
  registerOne(api, resource, passkeyRecords);
}
