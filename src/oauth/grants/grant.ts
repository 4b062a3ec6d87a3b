/**
 * A grant: what a person allowed a client. Creates the opaque codes and refresh tokens of a grant, and defines its lifetimes and the
 * response of `/token`.
 */
import { z } from 'zod';
import { randomBytes, toBase64Url } from '../../shared/crypto/base64url.ts';
import { jsonOf } from '../../records/record-schema.ts';
import { ScopeSchema } from '../../shared/identity/principal.ts';

/** Lifetimes of what a grant issues, in milliseconds. */
export const LIFE = {
  code: 120_000,
  access: 3_600_000,
  refresh: 30 * 86_400_000,
  /** For this long a used refresh token still returns its successor. */
  grace: 60_000,
} as const;

const Names = jsonOf(z.array(z.string())).nullable();

/** A row of `oauth_grants`; times in milliseconds since the epoch. */
export const GrantRowSchema = z.object({
  id: z.string(),
  client_id: z.string(),
  name: z.string(),
  principal_id: z.string(),
  token_id: z.string().nullable(),
  identity_id: z.string().nullable(),
  audience: z.string(),
  scopes: jsonOf(z.array(ScopeSchema)),
  servers: Names,
  tools: Names,
  toolsets: Names,
  code_challenge: z.string().nullable(),
  redirect_uri: z.string().nullable(),
  code_expires_at: z.number().nullable(),
  redeemed_at: z.number().nullable(),
  answer_sealed: z.string().nullable(),
  answer_until: z.number().nullable(),
  created_at: z.number(),
  expires_at: z.number(),
  ends_at: z.number().nullable(),
  last_used_at: z.number().nullable(),
});
export type Grant = z.infer<typeof GrantRowSchema>;

/** The response of `/token` (RFC 6749 §5.1). */
export interface TokenAnswer {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  /** Absent where the client presents another assertion instead. */
  refresh_token?: string;
  scope: string;
  /** The audience, where the client did not name it itself. */
  resource?: string;
}

type Opaque = 'code' | 'refresh' | 'device_code';

/** Creates a code, a refresh token or a device code: 256 random bits behind a prefix that secret scanners can find. */
export const createOpaque = (kind: Opaque): string =>
  `portico_${kind}_${toBase64Url(randomBytes(32))}`;

/** Returns the text whose HMAC is stored for such a value. */
export const toKept = (kind: Opaque, value: string): string => `${kind}:${value}`;

/** Whether a text has the form of such a value. */
export const isOpaque = (kind: Opaque, value: string): boolean =>
  value.length === `portico_${kind}_`.length + 43 && value.startsWith(`portico_${kind}_`);

/** Returns until when a grant is valid that is used now. */
export const expiryOf = ({ ends_at: endsAt }: Pick<Grant, 'ends_at'>, now: number): number =>
  Math.min(now + LIFE.refresh, endsAt ?? Infinity);
