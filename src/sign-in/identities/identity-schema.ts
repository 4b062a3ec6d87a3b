/** Schemas of identities, that is people at providers: the stored row and the API. */
import { z } from 'zod';
import { jsonOf } from '../../records/record-schema.ts';

/** Longest subject that is stored. */
export const MAX_SUBJECT_CHARS = 500;

/** A row of `identities`; times in milliseconds since the epoch. */
export const IdentitySchema = z.object({
  id: z.string(),
  issuer: z.string(),
  subject: z.string(),
  provider_id: z.string(),
  principal_id: z.string(),
  /** Name at the provider at the last sign-in, for display. */
  name: z.string(),
  email: z.string().nullable(),
  /** Groups that the provider's map gave at the last sign-in. */
  groups: jsonOf(z.array(z.string())),
  created_at: z.number(),
  /** 0: not signed in yet; an administrator created it. */
  signed_in_at: z.number(),
  /** From then on the identity does not count, until the next sign-in. */
  expires_at: z.number(),
});
export type Identity = z.infer<typeof IdentitySchema>;

/** Body of `POST /api/v1/identities`: links a person at a provider to a principal before their first sign-in. */
export const CreateIdentitySchema = z.strictObject({
  provider: z.string().min(1).max(100).meta({ description: 'Id of the provider, or its name' }),
  subject: z.string().min(1).max(MAX_SUBJECT_CHARS).meta({
    description: 'The `sub` of the person at the provider; at GitHub the number of the account',
  }),
  principal: z
    .string()
    .min(1)
    .max(100)
    .meta({ description: 'Id of the principal they sign in as' }),
});
export type CreateIdentity = z.infer<typeof CreateIdentitySchema>;

/** Filter of the list. */
export const IdentityQuerySchema = z.strictObject({
  principal: z.string().min(1).max(100).optional().meta({
    description: 'Only those of the principal with this id',
  }),
  provider: z.string().min(1).max(100).optional().meta({
    description: 'Only those of the provider with this id',
  }),
});
export type IdentityQuery = z.infer<typeof IdentityQuerySchema>;

const time = z.iso.datetime();

export const IdentityViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable().meta({ description: 'For display only; it decides nothing' }),
  principal: z.string().meta({ description: 'Id of the principal it signs in' }),
  provider: z.string().meta({ description: 'Id of the provider' }),
  issuer: z.string(),
  subject: z.string(),
  groups: z
    .array(z.string())
    .meta({ description: 'Groups of the last sign-in, by the map of the provider' }),
  created_at: time,
  signed_in_at: time.nullable().meta({ description: 'null: not signed in yet' }),
  expires_at: time,
});

const toTime = (at: number) => new Date(at).toISOString();

/** Turns an identity into its API form. */
export const toIdentityView = (identity: Identity): z.infer<typeof IdentityViewSchema> => ({
  id: identity.id,
  name: identity.name,
  email: identity.email,
  principal: identity.principal_id,
  provider: identity.provider_id,
  issuer: identity.issuer,
  subject: identity.subject,
  groups: identity.groups,
  created_at: toTime(identity.created_at),
  signed_in_at: identity.signed_in_at === 0 ? null : toTime(identity.signed_in_at),
  expires_at: toTime(identity.expires_at),
});
