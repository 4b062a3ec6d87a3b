/** Bearer tokens: their form, their scopes, what a stored one is. */
import { z } from 'zod';
import { randomBytes, toBase64Url } from '../crypto/base64url.ts';
import type { HeldAccount } from './account.ts';

export const ScopeSchema = z.enum([
  'tools:read',
  'tools:call',
  'servers:read',
  'servers:write',
  'secrets:write',
  'admin',
]);
export type Scope = z.infer<typeof ScopeSchema>;

export const MEMBER_SCOPES: Scope[] = ['tools:read', 'tools:call'];

/** A token as it is stored; times in milliseconds since the epoch. */
export interface StoredToken {
  id: string;
  principalId: string;
  name: string;
  /** Ids of the servers it is narrowed to; null: every server. */
  servers: string[] | null;
  /** Patterns over qualified names it is narrowed to; an exact server stands there by its id; null: every tool. */
  tools: string[] | null;
  /** Ids of the toolsets it is narrowed to; null: no such limit. */
  toolsets: string[] | null;
  /** What it was made with. */
  grantedScopes: Scope[];
  createdAt: number;
  /** From then on it is nobody's; null: never. */
  expiresAt: number | null;
}

/** A token with what its principal makes of it. */
export interface Token extends StoredToken {
  /** What it may do: of the granted scopes those its principal may have. */
  scopes: Scope[];
  /** Groups of its principal. */
  groups: string[];
  /** To the minute. */
  lastUsedAt: number | null;
  /** Accounts of its principal at servers. */
  accounts: readonly HeldAccount[];
  /** Of an access token: the URL it is for, with what is below it; its id is that of its grant. Null: a token for every URL. */
  audience: string | null;
}

/**
 * The scopes that are left of a token's.
 * @param bound the principal's, of which `admin` lets all through; null: no bound
 */
export function boundScopes(granted: readonly Scope[], bound: readonly Scope[] | null): Scope[] {
  if (bound === null || bound.includes('admin')) return [...granted];
  return granted.filter(scope => bound.includes(scope));
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
