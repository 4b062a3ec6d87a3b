/** Bearer tokens: their form, their scopes, what the API takes and shows. */
import { z } from 'zod';
import { randomBytes, toBase64Url } from '../lib/base64url.ts';

export const ScopeSchema = z.enum([
  'tools:read',
  'tools:call',
  'servers:read',
  'servers:write',
  'admin',
]);
export type Scope = z.infer<typeof ScopeSchema>;

export const MEMBER_SCOPES: Scope[] = ['tools:read', 'tools:call'];

/** A stored token. `servers` null means every server, else the ids it is narrowed to. */
export interface Token {
  id: string;
  principalId: string;
  name: string;
  servers: string[] | null;
  scopes: Scope[];
  /** Milliseconds since the epoch. */
  createdAt: number;
}

const TOKEN_FORM = /^portico_[A-Za-z0-9_-]{43}$/;

/** A new token: 256 random bits behind a prefix that secret scanners can find. */
export function createTokenValue(): string {
  return `portico_${toBase64Url(randomBytes(32))}`;
}

/** Whether a text has the form of a token at all; anything else never reaches a database. */
export function isTokenForm(value: string): boolean {
  return TOKEN_FORM.test(value);
}

/**
 * The token of an `Authorization` header, or undefined. The scheme is case-insensitive
 * (RFC 9110 §11.1); there is one way to send a token and no fallback.
 */
export function parseBearer(header: string | null): string | undefined {
  if (header === null || header.length > 200) return undefined;
  const value = /^bearer +(\S+)$/i.exec(header)?.[1];
  return value !== undefined && isTokenForm(value) ? value : undefined;
}

/** Body of `POST /api/v1/tokens`. */
export const CreateTokenSchema = z.strictObject({
  name: z.string().trim().min(1).max(100),
  servers: z.array(z.string().min(1).max(100)).min(1).max(500).optional(),
  scopes: z.array(ScopeSchema).min(1).optional(),
});
export type CreateToken = z.infer<typeof CreateTokenSchema>;

export const TokenViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  servers: z.array(z.string()).nullable(),
  scopes: z.array(ScopeSchema),
  created_at: z.iso.datetime(),
});

/** Project a token to its API form, without its value. */
export function toTokenView(token: Token): z.infer<typeof TokenViewSchema> {
  return {
    id: token.id,
    name: token.name,
    servers: token.servers,
    scopes: token.scopes,
    created_at: new Date(token.createdAt).toISOString(),
  };
}
