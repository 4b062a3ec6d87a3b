/** Schemas of passkeys: the stored row and the API. */
import { z } from 'zod';
import { jsonOf } from '../../records/record-schema.ts';

/** Maximum number of a principal's passkeys by one token, and of those by none. */
export const MAX_PASSKEYS = 20;
export const MAX_NAME_CHARS = 60;

/** A row of `passkeys`; times in milliseconds since the epoch. */
export const PasskeySchema = z.object({
  id: z.string(),
  /** The authenticator's id of the credential, base64url. */
  credential_id: z.string(),
  principal_id: z.string(),
  principal_name: z.string(),
  /** The token its owner was signed in with when registering it, else null. */
  token_id: z.string().nullable(),
  /** The identity its owner was signed in with when registering it, else null. */
  identity_id: z.string().nullable(),
  /** The name its owner gave it. */
  name: z.string(),
  /** COSE key, base64url. */
  public_key: z.string(),
  /** The authenticator's last signature counter; 0 if it does not count. */
  counter: z.number(),
  /** Transports by which a browser reaches it. */
  transports: jsonOf(z.array(z.string())),
  /** Creation time of the challenge of its last sign-in; 0 if it never signed in. */
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

/** Turns a passkey into its API form. */
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
