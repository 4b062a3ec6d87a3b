/** Identity providers for sign-in, and the identities of people there. */
import type {
  CreateIdentity,
  CreateSignInProvider,
  Identity,
  IdentityPage,
  SignInProvider,
  SignInProviderPage,
  UpdateSignInProvider,
} from '../generated/types.gen.ts';
import { paged } from './paged.ts';
import { PEOPLE_MS } from './people.ts';
import { request } from './request.ts';

interface Asking {
  signal: AbortSignal;
}

const PATH = 'sign-in-providers';
const STALE_MS = 30_000;

const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;

/** Lists the providers by name. */
export const providersQuery = () => paged<SignInProviderPage>([PATH, 'list'], PATH);

export const providerQuery = (id: string) => ({
  queryKey: [PATH, 'one', id],
  queryFn: ({ signal }: Asking) => request<SignInProvider>(pathOf(id), { signal }),
  staleTime: STALE_MS,
});

/** Reads the current state of a provider. */
export const readProvider = (id: string) => request<SignInProvider>(pathOf(id));

export const createProvider = (body: CreateSignInProvider) =>
  request<SignInProvider>(PATH, { method: 'POST', body });

/** Edits a provider. @throws ApiProblem 412 where it has another revision */
export const updateProvider = (id: string, body: UpdateSignInProvider, revision: number) =>
  request<SignInProvider>(pathOf(id), { method: 'PATCH', body, revision });

/** Deletes a provider, and ends the sign-ins made with it. */
export const deleteProvider = (id: string) => request<undefined>(pathOf(id), { method: 'DELETE' });

/** Lists the identities at a provider, or those of a principal. */
export const identitiesQuery = (of: { principal: string } | { provider: string }) =>
  paged<IdentityPage>(['identities', of], 'identities', { query: of, every: PEOPLE_MS });

export const createIdentity = (body: CreateIdentity) =>
  request<Identity>('identities', { method: 'POST', body });

export const deleteIdentity = (id: string) =>
  request<undefined>(`identities/${encodeURIComponent(id)}`, { method: 'DELETE' });
