/** Schemas of grants in the API. Administrators see which programs have tokens, for whom and for what; nobody sees the tokens. */
import { z } from 'zod';
import { ScopeSchema } from '../../shared/identity/principal.ts';
import { GrantRowSchema } from './grant.ts';

/** Filter of the list; absent members match every grant. */
export const GrantQuerySchema = z.strictObject({
  principal: z.string().min(1).max(100).optional().meta({
    description: 'Only those of the principal with this id',
  }),
  client: z.string().min(1).max(2_000).optional().meta({
    description: 'Only those of the client with this id',
  }),
});
export type GrantQuery = z.infer<typeof GrantQuerySchema>;

export const GrantViewSchema = z.object({
  id: z.string().meta({ description: 'Id of the token in audit rows' }),
  client: z.string().meta({ description: 'Id of the client' }),
  name: z.string().meta({ description: 'What the client called itself' }),
  principal: z.string().meta({ description: 'Id of the principal who allowed it' }),
  principal_name: z.string(),
  audience: z.string().meta({ description: 'The URL its tokens are for' }),
  scopes: z.array(ScopeSchema),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().meta({ description: 'Each use of its refresh token extends it' }),
  last_used_at: z.iso.datetime().nullable().meta({ description: 'Exact to five minutes' }),
});

/** A row with the name of the principal who allowed it. */
export const ShownGrantSchema = GrantRowSchema.extend({ principal_name: z.string() });
export type ShownGrant = z.infer<typeof ShownGrantSchema>;

/** Turns a grant into its API form. */
export function toGrantView(grant: ShownGrant): z.infer<typeof GrantViewSchema> {
  const { id, name, audience, scopes, principal_name, last_used_at: lastUsedAt } = grant;
  return {
    id,
    client: grant.client_id,
    name,
    principal: grant.principal_id,
    principal_name,
    audience,
    scopes,
    created_at: new Date(grant.created_at).toISOString(),
    expires_at: new Date(grant.expires_at).toISOString(),
    last_used_at: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
  };
}
