/** Ways in without a token: invitations, browser sign-ins, passkeys, and programs that people granted access. */
import type {
  CreateInvitation,
  GrantPage,
  InvitationPage,
  IssuedInvitation,
  PasskeyPage,
  SignInPage,
} from '../generated/types.gen.ts';
import { paged } from './paged.ts';
import { PEOPLE_MS } from './people.ts';
import { request } from './request.ts';

const of = (principal: string) => ({ query: { principal }, every: PEOPLE_MS });
const end = (path: string) => (id: string) =>
  request<undefined>(`${path}/${encodeURIComponent(id)}`, { method: 'DELETE' });

/** Lists usable invitations. @param principal whose; empty: everybody's */
export const invitationsQuery = (principal: string) =>
  paged<InvitationPage>(['invitations', principal], 'invitations', of(principal));

/** Creates an invitation. The code is only in this response. */
export const createInvitation = (body: CreateInvitation) =>
  request<IssuedInvitation>('invitations', { method: 'POST', body });

export const deleteInvitation = end('invitations');

/** Browsers in which a principal is signed in. */
export const signInsQuery = (principal: string) =>
  paged<SignInPage>(['sign-ins', principal], 'sign-ins', of(principal));

export const endSignIn = end('sign-ins');

export const passkeysQuery = (principal: string) =>
  paged<PasskeyPage>(['passkeys', principal], 'passkeys', of(principal));

export const deletePasskey = end('passkeys');

/** Programs that a principal granted access. */
export const grantsQuery = (principal: string) =>
  paged<GrantPage>(['grants', principal], 'grants', of(principal));

export const endGrant = end('grants');
