/** Schemas of clients in the API. Neither input nor output holds a secret. */
import { z } from 'zod';
import { hasHidden } from '../../shared/util/visible-text.ts';
import { AuthMethodSchema, type OAuthClient } from './client.ts';
import { isAllowedRedirect } from './redirects.ts';

const KindSchema = z.enum(['document', 'registered', 'manual']);

/** Body of `POST /api/v1/oauth/clients`. */
export const CreateClientSchema = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .refine(name => !hasHidden(name), 'contains an invisible character')
    .meta({ description: 'Shown to people when they are asked to allow the client' }),
  redirect_uris: z
    .array(z.string().refine(isAllowedRedirect, 'use https, or http of loopback; no fragment'))
    .min(1)
    .max(20)
    .meta({
      description: 'Redirect URIs to which people may be sent back; for loopback any port matches',
    }),
  public: z.boolean().optional().meta({
    description: 'It gets no secret, since it could not keep one; false if absent',
  }),
});
export type CreateClient = z.infer<typeof CreateClientSchema>;

/** Filter of the list; absent members match every client. */
export const ClientQuerySchema = z.strictObject({
  kind: KindSchema.optional().meta({ description: 'Only clients of this kind' }),
});
export type ClientQuery = z.infer<typeof ClientQuerySchema>;

export const ClientViewSchema = z.object({
  id: z.string().meta({ description: 'The `client_id`' }),
  kind: KindSchema.meta({
    description: 'It has a document at its id, registered itself, or an administrator made it',
  }),
  name: z.string().meta({ description: 'The name it gives itself; nobody checked it' }),
  redirect_uris: z.array(z.string()),
  auth_methods: z.array(AuthMethodSchema).meta({ description: 'How it authenticates' }),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable().meta({ description: 'Exact to five minutes' }),
});

/** A client as administrators see it; times in milliseconds since the epoch. */
export interface ShownClient extends OAuthClient {
  createdAt: number;
  lastUsedAt: number | null;
}

/** Turns a client into its API form. */
export const toClientView = (client: ShownClient): z.infer<typeof ClientViewSchema> => ({
  id: client.id,
  kind: client.kind,
  name: client.name,
  redirect_uris: [...client.redirectUris],
  auth_methods: [...client.authMethods],
  created_at: new Date(client.createdAt).toISOString(),
  last_used_at: client.lastUsedAt === null ? null : new Date(client.lastUsedAt).toISOString(),
});
