/** Schemas of sign-in providers: the stored row and the API. */
import { z } from 'zod';
import { GroupSchema } from '../../access/policy/rule.ts';
import { SecretNameSchema } from '../../credentials/secret-schema.ts';
import { jsonOf, STAMP_COLUMNS, STAMP_VIEW, toStampView } from '../../records/record-schema.ts';

const MAX_ENTRIES = 500;
const ClaimSchema = z.string().min(1).max(200);
const ValueSchema = z.string().min(1).max(300);
const isSmall = (entries: object) => Object.keys(entries).length <= MAX_ENTRIES;

const fields = {
  name: z.string().trim().min(1).max(60).meta({ description: 'Its name on the sign-in page' }),
  client_id: z.string().min(1).max(300),
  client_secret: SecretNameSchema.nullable().meta({
    description: 'Name of the secret that is sent to its token endpoint; null: none',
  }),
  scopes: z
    .array(z.string().regex(/^[!#-[\]-~]{1,100}$/))
    .max(30)
    .meta({
      description: 'Scopes to request besides `openid`',
    }),
  groups_claim: ClaimSchema.nullable().meta({
    description: 'The claim with groups, or its path with dots; null: none is read',
  }),
  group_map: z.record(ValueSchema, GroupSchema).refine(isSmall).meta({
    description: 'Maps values of that claim to groups; other values give none',
  }),
  required_claims: z
    .record(ClaimSchema, z.array(ValueSchema).min(1).max(MAX_ENTRIES))
    .refine(isSmall)
    .meta({
      description: 'Who may sign in: each claim must be, or contain, one of its values',
    }),
  creates_principals: z.boolean().meta({
    description: 'A person who may sign in and has no principal yet gets one',
  }),
  takes_assertions: z.boolean().meta({
    description: 'Identity assertions that it signs for a client (ID-JAG) are accepted at `/token`',
  }),
  max_age_seconds: z.number().int().min(3_600).max(7_776_000).meta({
    description: 'How long an identity is valid after its last sign-in',
  }),
};

const { name: _name, client_id: _id, client_secret: _secret, ...settings } = fields;
/** Rows of earlier versions lack newer settings. */
const SettingsSchema = z.object({
  ...settings,
  takes_assertions: fields.takes_assertions.default(false),
});

/** A row of `sign_in_providers`; times in milliseconds since the epoch. */
export const ProviderSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** `access` is Cloudflare Access; its client id is the tag of an application. */
  kind: z.enum(['oidc', 'github', 'access']),
  issuer: z.string(),
  client_id: z.string(),
  /** Name of a secret. */
  client_secret: z.string().nullable(),
  settings: jsonOf(SettingsSchema),
  ...STAMP_COLUMNS,
});
export type Provider = z.infer<typeof ProviderSchema>;

/** Body of `POST /api/v1/sign-in-providers`. */
export const CreateProviderSchema = z.strictObject({
  ...fields,
  kind: ProviderSchema.shape.kind.default('oidc'),
  issuer: z.url().max(500),
  client_secret: fields.client_secret.default(null),
  scopes: fields.scopes.default(['profile', 'email']),
  groups_claim: fields.groups_claim.default(null),
  group_map: fields.group_map.default({}),
  required_claims: fields.required_claims.default({}),
  creates_principals: fields.creates_principals.default(false),
  takes_assertions: fields.takes_assertions.default(false),
  max_age_seconds: fields.max_age_seconds.default(604_800),
});
export type CreateProvider = z.infer<typeof CreateProviderSchema>;

/** Body of `PATCH /api/v1/sign-in-providers/{id}`; absent members stay. The issuer cannot change: another issuer is another provider. */
export const UpdateProviderSchema = z.strictObject(fields).partial();
export type UpdateProvider = z.infer<typeof UpdateProviderSchema>;

/** The list has no filter. */
export const ProviderQuerySchema = z.strictObject({});

export const ProviderViewSchema = z.object({
  id: z.string(),
  ...fields,
  kind: ProviderSchema.shape.kind,
  issuer: z.string(),
  ...STAMP_VIEW,
});

/** Turns a provider into its API form. */
export function toProviderView(provider: Provider): z.infer<typeof ProviderViewSchema> {
  const { id, name, kind, issuer, client_id, client_secret, settings: own } = provider;
  return { id, name, kind, issuer, client_id, client_secret, ...own, ...toStampView(provider) };
}
