/** Passkeys: what is stored of them, and what the API shows. */
import { z } from 'zod';
import { jsonOf } from '../../records/record-schema.ts';

/** Most passkeys of one principal. */
export const MAX_PASSKEYS = 20;
export const MAX_NAME_CHARS = 60;

/** A row of `passkeys`; times in milliseconds since the epoch. */
export const PasskeySchema = z.object({
  id: z.string(),
  /** As the authenticator calls it, base64url. */
  credential_id: z.string(),
  principal_id: z.string(),
  /** Name of the principal. */
  principal_name: z.string(),
  /** The token by which its owner was signed in who registered it; else null. */
  token_id: z.string().nullable(),
  /** The identity by which its owner was signed in; else null. */
  identity_id: z.string().nullable(),
  /** What its owner calls it. */
  name: z.string(),
  /** COSE key, base64url. */
  public_key: z.string(),
  /** Signatures as the authenticator counted them last; 0 where it does not count. */
  counter: z.number(),
  /** How a browser reaches it. */
  transports: jsonOf(z.array(z.string())),
  /** When the challenge was made by which it signed in last; 0: it never did. */
  challenged_at: z.number(),
  created_at: z.number(),
  last_used_at: z.number().nullable(),
});
export type Passkey = z.infer<typeof PasskeySchema>;

const time = z.iso.datetime();

export const PasskeyViewSchema = z.object({
  id: z.string(),
  name: z.string().meta({ description: 'What its owner calls it' }),
  principal: z.string().meta({ description: 'Id of the principal it signs in' }),
  principal_name: z.string(),
  token: z.string().nullable().meta({ description: 'Id of the token whose limits and end it has' }),
  identity: z.string().nullable().meta({ description: 'Id of the identity whose end it has' }),
  created_at: time,
  last_used_at: time.nullable(),
});

const toTime = (at: number) => new Date(at).toISOString();

/** Project a passkey to its API form. */
export const toPasskeyView = (passkey: Passkey): z.infer<typeof PasskeyViewSchema> => ({
  id: passkey.id,
  name: passkey.name,
  principal: passkey.principal_id,
  principal_name: passkey.principal_name,
  token: passkey.token_id,
  identity: passkey.identity_id,
  created_at: toTime(passkey.created_at),
  last_used_at: passkey.last_used_at === null ? null : toTime(passkey.last_used_at),
});
