/** `/api/v1/sign-ins`: the browsers in which people are signed in. List, get, end. */
import { OfPrincipalSchema } from '../sign-in/invitation-schema.ts';
import { SignInViewSchema, toSignInView } from '../sign-in/sign-in-schema.ts';
import { OWN_SCOPES } from '../access/tokens/own-tokens.ts';
import type { Api, ApiPorts } from './frame.ts';
import { registerList, registerOne } from './records.ts';

const resource = {
  path: '/api/v1/sign-ins',
  tag: 'principals',
  name: 'SignIn',
  noun: 'sign-in',
  phrase: 'a sign-in',
  scopes: OWN_SCOPES,
  view: SignInViewSchema.meta({ id: 'SignIn' }),
  example: {
    id: '7b8c9d0e-1f2a-4b3c-9d4e-5f6a7b8c9d0e',
    principal: '2f6d8c1a-93f4-4b51-8a5e-6a0a4a9b7c11',
    principal_name: 'Ada',
    by: 'token',
    token: '5a1f0a52-7a0e-4f0e-8f0b-6f3c2d1e0a99',
    identity: null,
    passkey: null,
    created_at: '2026-11-02T09:00:00.000Z',
    expires_at: '2026-11-02T21:00:00.000Z',
  },
  toView: toSignInView,
  delete: {
    summary: 'End a sign-in',
    description: 'The browser is signed out at once. What its user allowed clients stays.',
  },
  deleted: 'Ended',
};

const listed = {
  operationId: 'listSignIns',
  summary: 'List sign-ins',
  description:
    'Those made with the token or sign-in of this request, newest first, page by page; administrators see all.',
  key: 'sign_ins',
  page: 'SignInPage',
  query: OfPrincipalSchema,
};

/** Adds the routes. */
export function registerSignIns(api: Api, { signInRecords }: ApiPorts): void {
  registerList(api, resource, listed, signInRecords);
  registerOne(api, resource, signInRecords);
}
