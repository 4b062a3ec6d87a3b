/** OAuth clients (programs that people sign in to), and grants (what people allowed them). */
import type {
  CreateOAuthClient,
  GrantPage,
  IssuedOAuthClient,
  OAuthClientPage,
} from '../generated/types.gen.ts';
import { paged } from './paged.ts';
import { request } from './request.ts';

export const CLIENTS = ['oauth-clients'];
export const GRANTS = ['grants'];

export const clientsQuery = () => paged<OAuthClientPage>(CLIENTS, 'oauth/clients');

export const grantsQuery = () => paged<GrantPage>(GRANTS, 'grants');

/** Creates a client. Its secret is only in this response. */
export const createClient = (body: CreateOAuthClient) =>
  request<IssuedOAuthClient>('oauth/clients', { method: 'POST', body });

/** Deletes a client and with it its grants. */
export const deleteClient = (id: string) =>
  request<undefined>(`oauth/clients/${encodeURIComponent(id)}`, { method: 'DELETE' });

/** Ends a grant. */
export const endGrant = (id: string) =>
  request<undefined>(`grants/${encodeURIComponent(id)}`, { method: 'DELETE' });
