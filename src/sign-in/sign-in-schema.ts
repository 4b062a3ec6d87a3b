/** Schemas of sign-ins, that is browsers in which a person is signed in: the stored row and the API. */
import { z } from 'zod';

/** A row of `sign_ins`; times in milliseconds since the epoch. */
export const SignInSchema = z.object({
  id: z.string(),
  principal_id: z.string(),
  principal_name: z.string(),
  /** The token it came by, else null. */
  token_id: z.string().nullable(),
  /** The identity it came by, else null. */
  identity_id: z.string().nullable(),
  /** The passkey it came by, in place of that token or identity; else null. */
  passkey_id: z.string().nullable(),
  created_at: z.number(),
  expires_at: z.number(),
});
export type SignIn = z.infer<typeof SignInSchema>;

export const SignInViewSchema = z.object({
  id: z.string(),
  principal: z.string().meta({ description: 'Id of the principal who is signed in' }),
  principal_name: z.string(),
  by: z
    .enum(['token', 'invitation', 'identity', 'passkey'])
    .meta({ description: 'What it was done with' }),
  token: z.string().nullable().meta({ description: 'Id of the token it was done with' }),
  identity: z.string().nullable().meta({ description: 'Id of the identity it was done with' }),
  passkey: z.string().nullable().meta({ description: 'Id of the passkey it was done with' }),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});

function wayOf({ passkey_id: passkey, token_id: token, identity_id: identity }: SignIn) {
  if (passkey) return 'passkey';
  if (token) return 'token';
  return identity ? 'identity' : 'invitation';
}

/** Turns a sign-in into its API form. */
export const toSignInView = (signIn: SignIn): z.infer<typeof SignInViewSchema> => ({
  id: signIn.id,
  principal: signIn.principal_id,
  principal_name: signIn.principal_name,
  by: wayOf(signIn),
  token: signIn.token_id,
  identity: signIn.identity_id,
  passkey: signIn.passkey_id,
  created_at: new Date(signIn.created_at).toISOString(),
  expires_at: new Date(signIn.expires_at).toISOString(),
});
