/** Accounts of principals at servers: the stored row, and what the API accepts and shows. Neither includes the credential. */
import { z } from 'zod';

/** A row of `accounts` with the names of its principal and server; times in milliseconds since the epoch. */
export const AccountSchema = z.object({
  id: z.string(),
  principal_id: z.string(),
  principal_name: z.string(),
  server_id: z.string(),
  server_name: z.string(),
  revision: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
  /** Authorization server at which its owner signed in; null if a token was pasted. */
  issuer: z.string().nullable(),
  /** Scope granted to it, as the issuer reported. */
  scope: z.string().nullable(),
  /** Why its owner has to sign in again. */
  ended: z.string().nullable(),
});
export type Account = z.infer<typeof AccountSchema>;

/** Body of `POST /api/v1/accounts`. */
export const ConnectAccountSchema = z.strictObject({
  server: z.string().min(1).max(100).meta({ description: 'Id of the server, or its name' }),
  token: z
    .string()
    .min(1)
    .max(8192)
    .regex(/^[\x21-\x7e]+$/, 'use visible ASCII characters only')
    .meta({ description: 'Sent to the server as `Authorization: Bearer …` with your calls' }),
});
export type ConnectAccount = z.infer<typeof ConnectAccountSchema>;

/** Filter for the list. */
export const AccountQuerySchema = z.strictObject({
  server: z.string().min(1).max(100).optional().meta({
    description: 'Only those at the server with this id',
  }),
  principal: z.string().min(1).max(100).optional().meta({
    description: 'Only those of the principal with this id; of administrators',
  }),
});
export type AccountQuery = z.infer<typeof AccountQuerySchema>;

export const AccountViewSchema = z.object({
  id: z.string(),
  principal: z.string().meta({ description: 'Id of the principal whose account it is' }),
  principal_name: z.string(),
  server: z.string().meta({ description: 'Id of the server' }),
  server_name: z.string(),
  issuer: z.string().nullable().meta({
    description: 'Authorization server at which its owner signed in; null: a token was pasted',
  }),
  scope: z.string().nullable().meta({ description: 'Its scopes there, if known' }),
  needs_sign_in: z.string().nullable().meta({
    description: 'Why its owner has to sign in again; null while it works',
  }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** Converts an account to its API form. */
export const toAccountView = (account: Account): z.infer<typeof AccountViewSchema> => ({
  id: account.id,
  principal: account.principal_id,
  principal_name: account.principal_name,
  server: account.server_id,
  server_name: account.server_name,
  issuer: account.issuer,
  scope: account.scope,
  needs_sign_in: account.ended,
  created_at: new Date(account.created_at).toISOString(),
  updated_at: new Date(account.updated_at).toISOString(),
});
