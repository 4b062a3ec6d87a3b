/** Named secrets: the record, and what the API accepts and shows. A value is never shown again. */
import { z } from 'zod';
import { jsonOf, STAMP_COLUMNS, STAMP_VIEW, toStampView } from '../records/record-schema.ts';
import type { Place } from '../shared/crypto/envelope.ts';
import { SECRET_NAME } from './references.ts';

/** A named secret as it is stored. */
export interface SealedSecret {
  name: string;
  /** An envelope, bound to name and origins. */
  sealed: string;
  /** Origins it may be sent to, sorted. */
  origins: readonly string[];
  /** Counts writes, so that a value opened earlier is opened again after a change. */
  revision: number;
}

/** A row of `secrets`; times in milliseconds since the epoch. */
export const SecretSchema = z.object({
  name: z.string(),
  sealed: z.string(),
  origins: jsonOf(z.array(z.string())),
  ...STAMP_COLUMNS,
});
export type Secret = z.infer<typeof SecretSchema>;

/** The place that a secret is bound to. */
export function secretPlace({ name, origins }: Pick<SealedSecret, 'name' | 'origins'>): Place {
  return { kind: 'secret', id: name, field: 'value', origin: origins.join(' ') };
}

export const SecretNameSchema = z
  .string()
  .regex(SECRET_NAME, 'use 1 to 64 capital letters, digits or "_", starting with a letter');

/** Body of `PUT /api/v1/secrets/{name}`. */
export const PutSecretSchema = z.strictObject({
  value: z
    .string()
    .min(1)
    .max(8192)
    .regex(/^[\x20-\x7e]+$/, 'a value may hold visible ASCII characters and spaces only')
    .refine(value => value.trim() === value, 'a value may not begin or end with a space'),
  origins: z.array(z.string().min(1).max(300)).min(1).max(20),
});
export type PutSecret = z.infer<typeof PutSecretSchema>;

/** Body of `POST /api/v1/secrets/compare`. */
export const CompareSecretsSchema = z.strictObject({
  secrets: z
    .array(z.strictObject({ name: SecretNameSchema, value: PutSecretSchema.shape.value }))
    .max(100),
});
export type CompareSecrets = z.infer<typeof CompareSecretsSchema>;

/** A server that refers to a secret. */
export interface SecretUser {
  id: string;
  name: string;
  /** Names of the secrets it refers to. */
  names: readonly string[];
  /** Which of the secrets are sent to which origin, as far as that is known in advance. */
  sentTo: readonly { origin: string; names: readonly string[] }[];
}

export const SecretViewSchema = z.object({
  name: z.string(),
  origins: z.array(z.string()),
  servers: z.array(z.object({ id: z.string(), name: z.string() })),
  ...STAMP_VIEW,
});

/** Converts a secret to its API form, without its value. */
export function toSecretView(
  secret: Secret,
  users: readonly SecretUser[],
): z.infer<typeof SecretViewSchema> {
  const own = users.filter(({ names }) => names.includes(secret.name));
  return {
    name: secret.name,
    origins: secret.origins,
    servers: own.map(({ id, name }) => ({ id, name })),
    ...toStampView(secret),
  };
}
