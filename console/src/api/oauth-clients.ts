/** Programs that people sign in to (OAuth clients), and what people allowed them (grants). */
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

/** Make one. Its secret is in this answer, and nowhere else. */
export const createClient = (body: CreateOAuthClient) =>
  request<IssuedOAuthClient>('oauth/clients', { method: 'POST', body });

/** Delete one. Its grants end with it. */
export const deleteClient = (id: string) =>
  request<undefined>(`oauth/clients/${encodeURIComponent(id)}`, { method: 'DELETE' });

/** End what somebody allowed a program. */
export const endGrant = (id: string) =>
  request<undefined>(`grants/${encodeURIComponent(id)}`, { method: 'DELETE' });
