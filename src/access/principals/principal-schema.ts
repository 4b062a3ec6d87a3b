/** Principals and groups: what is stored of them, what the API takes and shows. */
import { z } from 'zod';
import { GroupSchema } from '../policy/rule.ts';
import { ScopeSchema, type Scope } from '../../shared/identity/token.ts';

/** Who calls, with any of its tokens; times in milliseconds since the epoch. */
export interface Principal {
  id: string;
  name: string;
  groups: string[];
  /** The most any of its tokens may do; null: each token's own scopes. */
  scopes: Scope[] | null;
  /** Counts edits. */
  revision: number;
  createdAt: number;
  updatedAt: number | null;
  /** How many tokens it has. */
  tokenCount: number;
}

/** A group exists by being named: by members, by rules, or both. */
export interface Group {
  name: string;
  members: number;
  rules: number;
}

const fields = {
  name: z.string().trim().min(1).max(100),
  groups: z.array(GroupSchema).max(100),
  scopes: z.array(ScopeSchema).nullable().meta({
    description: 'The most any of its tokens may do; null: each token its own scopes',
  }),
};

/** Body of `POST /api/v1/principals`. */
export const CreatePrincipalSchema = z.strictObject({
  name: fields.name,
  groups: fields.groups.default([]),
  scopes: fields.scopes.default(null),
});
export type CreatePrincipal = z.infer<typeof CreatePrincipalSchema>;

/** Body of `PATCH /api/v1/principals/{id}`: what is absent stays. */
export const UpdatePrincipalSchema = z.strictObject(fields).partial();
export type UpdatePrincipal = z.infer<typeof UpdatePrincipalSchema>;

export const PrincipalViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  groups: z.array(z.string()),
  scopes: z.array(ScopeSchema).nullable(),
  tokens: z.number().int().meta({ description: 'How many tokens it has' }),
  revision: z.number().int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export const GroupViewSchema = z.object({
  name: z.string(),
  members: z.number().int().meta({ description: 'Principals that are in it' }),
  rules: z.number().int().meta({ description: 'Access rules for it' }),
});

/** Project a principal to its API form. */
export function toPrincipalView(principal: Principal): z.infer<typeof PrincipalViewSchema> {
  const { id, name, groups, scopes, revision, createdAt, updatedAt, tokenCount } = principal;
  return {
    id,
    name,
    groups,
    scopes,
    tokens: tokenCount,
    revision,
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt ?? createdAt).toISOString(),
  };
}
