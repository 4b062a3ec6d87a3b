/** A person's passkeys, and the browsers in which they are signed in. */
import type { PasskeyPage, SignInPage } from '../generated/types.gen.ts';
import { paged } from './paged.ts';
import { request } from './request.ts';

export const PASSKEYS = ['passkeys'];
export const SIGN_INS = ['sign-ins'];

export const passkeysQuery = (principal: string) =>
  paged<PasskeyPage>([...PASSKEYS, principal], 'passkeys', { query: { principal } });

export const signInsQuery = (principal: string) =>
  paged<SignInPage>([...SIGN_INS, principal], 'sign-ins', { query: { principal } });

/** Deletes a passkey, and ends the sign-ins made with it. */
export const deletePasskey = (id: string) =>
  request<undefined>(`passkeys/${encodeURIComponent(id)}`, { method: 'DELETE' });

/** Signs a browser out. */
export const endSignIn = (id: string) =>
  request<undefined>(`sign-ins/${encodeURIComponent(id)}`, { method: 'DELETE' });
