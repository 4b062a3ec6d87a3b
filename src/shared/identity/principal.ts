/** Who calls: bearer tokens, their form and their scopes, and the pure decisions about what their holders may reach. */
import { PorticoError } from '../errors/portico-error.ts';
import type { NamedServer } from '../util/name-pattern.ts';
import type { RecordOwner } from './record-owner.ts';
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

/** Whether a token for an audience is one for a URL. @param audience null: a token for every URL */
export function coversUrl(
  audience: string | null,
  { origin, pathname }: { origin: string; pathname: string },
): boolean {
  if (audience === null) return true;
  const url = origin + (pathname === '/messages' ? '/sse' : pathname);
  return url === audience || url.startsWith(`${audience}/`);
}

/** What of a caller's policy binds administration. */
interface AdminLimits {
  /** Empty where the caller's token is not limited to servers, tools or toolsets. */
  readonly limits: string;
  administers(server: NamedServer): boolean;
}

/** Who does something. */
export interface Actor {
  principalId: string;
  tokenId: string;
  scopes: ReadonlySet<Scope>;
  /** What it may see and use; absent for parts of the gateway itself, which have no limits. */
  policy?: AdminLimits;
  /** Whose the records are that it writes; absent where they belong to people. */
  owner?: RecordOwner;
}

/** A person, or a program a person let in, in an act of its own: that needs no scope, but the audit asks for one. */
export const toOwnActor = (principalId: string, tokenId: string): Actor => ({
  principalId,
  tokenId,
  scopes: new Set(['admin'] as const),
});

/** The token that the set-up admin token is taken for. */
export const SETUP_TOKEN: Token = {
  id: 'setup-admin',
  principalId: 'setup-admin',
  name: 'setup-admin',
  groups: [],
  servers: null,
  tools: null,
  toolsets: null,
  scopes: ['admin'],
  grantedScopes: ['admin'],
  createdAt: 0,
  expiresAt: null,
  lastUsedAt: null,
  audience: null,
  accounts: [],
};

/** Whether a caller holds a scope; `admin` holds all. */
export function hasScope(caller: Actor, scope: Scope): boolean {
  return caller.scopes.has(scope) || caller.scopes.has('admin');
}

/** Scopes over tools, which the gateway narrows by the policy. */
const OF_TOOLS: readonly Scope[] = ['tools:read', 'tools:call'];

/**
 * Requires a scope for what may concern the whole deployment. A token with limits administers servers within them only, so it is
 * refused here; where what is done concerns single servers, `requireServerScope` and `administers` take this one's place.
 * @throws PorticoError `forbidden` where the caller does not hold the scope, or administers by a token with limits
 */
export function requireScope(caller: Actor, scope: Scope): void {
  requireServerScope(caller, scope);
  if (hasLimits(caller) && !OF_TOOLS.includes(scope)) {
    throw new PorticoError('forbidden', 'This needs a token without limits');
  }
}

/**
 * Requires a scope for what concerns single servers. Whoever asks for it shows and changes only servers that the caller administers.
 * @throws PorticoError `forbidden` where the caller does not hold the scope
 */
export function requireServerScope(caller: Actor, scope: Scope): void {
  if (hasScope(caller, scope)) return;
  const scopes = OF_TOOLS.includes(scope) ? OF_TOOLS : [scope];
  throw new PorticoError('forbidden', `This needs a token with the scope ${scope}`, { scopes });
}

/** Whether the caller's token is limited to servers, tools or toolsets. */
export function hasLimits({ policy }: Actor): boolean {
  return policy !== undefined && policy.limits !== '';
}

/** Whether the caller administers the whole deployment, and sees what belongs to everybody. */
export function administersAll(caller: Actor): boolean {
  return hasScope(caller, 'admin') && !hasLimits(caller);
}

/** Whether a server lies whole within the limits of the caller's token. To administration every other is unknown. */
export function administers({ policy }: Actor, server: NamedServer): boolean {
  return policy?.administers(server) ?? true;
}
