/** Principals and groups: what is stored of them, and what the API accepts and shows. */
import { z } from 'zod';
import {
  jsonOf,
  namePartOf,
  STAMP_COLUMNS,
  STAMP_VIEW,
  toStampView,
} from '../../records/record-schema.ts';
import { ScopeSchema } from '../../shared/identity/principal.ts';
import { GroupSchema } from '../policy/rule.ts';

/** A caller, with any of its tokens: a row of `principals`; times in milliseconds since the epoch. */
export const PrincipalSchema = z.object({
  id: z.string(),
  name: z.string(),
  groups: jsonOf(z.array(z.string())),
  /** The most that any of its tokens may do; null: each token has its own scopes. */
  scopes: jsonOf(z.array(ScopeSchema)).nullable(),
  ...STAMP_COLUMNS,
  updated_at: z.number().nullable(),
  token_count: z.number(),
  /** Groups from its identities, in addition to those given by hand. */
  claimed_groups: jsonOf(z.array(z.string())),
});
export type Principal = z.infer<typeof PrincipalSchema>;

/** A group exists as soon as a member or a rule names it. */
export const GroupViewSchema = z.object({
  name: z.string(),
  members: z.number().int().meta({ description: 'Principals in the group' }),
  rules: z.number().int().meta({ description: 'Access rules for the group' }),
});
export type Group = z.infer<typeof GroupViewSchema>;

const fields = {
  name: z.string().trim().min(1).max(100),
  groups: z.array(GroupSchema).max(100),
  scopes: z.array(ScopeSchema).nullable().meta({
    description:
      'The most that any of its tokens may do; null: only the scopes of each token count',
  }),
};

/** Body of `POST /api/v1/principals`. */
export const CreatePrincipalSchema = z.strictObject({
  name: fields.name,
  groups: fields.groups.default([]),
  scopes: fields.scopes.default(null),
});
export type CreatePrincipal = z.infer<typeof CreatePrincipalSchema>;

/** Body of `PATCH /api/v1/principals/{id}`: absent fields stay as they are. */
export const UpdatePrincipalSchema = z.strictObject(fields).partial();
export type UpdatePrincipal = z.infer<typeof UpdatePrincipalSchema>;

/** Filters of the list; an absent filter matches every principal. */
export const PrincipalQuerySchema = z.strictObject({
  name: namePartOf(100),
  group: GroupSchema.optional().meta({ description: 'Only members of this group' }),
});
export type PrincipalQuery = z.infer<typeof PrincipalQuerySchema>;

export const PrincipalViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  groups: z.array(z.string()),
  claimed_groups: z.array(z.string()).meta({
    description:
      'Groups that it has besides these through its identities, as the provider last reported them',
  }),
  scopes: z.array(ScopeSchema).nullable(),
  tokens: z.number().int().meta({ description: 'How many tokens it has' }),
  ...STAMP_VIEW,
});

/** Converts a principal to its API form. */
export function toPrincipalView(principal: Principal): z.infer<typeof PrincipalViewSchema> {
  const { id, name, groups, claimed_groups, scopes, token_count: tokens } = principal;
  return { id, name, groups, claimed_groups, scopes, tokens, ...toStampView(principal) };
}
