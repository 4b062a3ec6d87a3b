/** The caller: the form and the scopes of bearer tokens, and the pure decisions about what their holders may reach. */
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
  /** Ids of the servers that the token is limited to; null: every server. */
  servers: string[] | null;
  /** Patterns over qualified names that the token is limited to; a server named exactly is written as its id; null: every tool. */
  tools: string[] | null;
  /** Ids of the toolsets that the token is limited to; null: no such limit. */
  toolsets: string[] | null;
  /** The scopes it was created with. */
  grantedScopes: Scope[];
  createdAt: number;
  /** From then on the token is invalid; null: never. */
  expiresAt: number | null;
}

/** A token together with what follows from its principal. */
export interface Token extends StoredToken {
  /** Effective scopes: the granted scopes that the principal may have. */
  scopes: Scope[];
  /** Groups of its principal. */
  groups: string[];
  /** Written at most every five minutes. */
  lastUsedAt: number | null;
  /** Accounts of its principal at servers. */
  accounts: readonly HeldAccount[];
  /** For an access token (whose id is its grant's): the URL it is valid for, with every path below it. Null: valid for every URL. */
  audience: string | null;
  /** For a sign-in by a passkey: the passkey, with which it ends. */
  passkeyId?: string | undefined;
}

/**
 * Returns the effective scopes of a token.
 * @param bound the principal's scopes, of which `admin` keeps all; null: no bound
 */
export function boundScopes(granted: readonly Scope[], bound: readonly Scope[] | null): Scope[] {
  if (bound === null || bound.includes('admin')) return [...granted];
  return granted.filter(scope => bound.includes(scope));
}

const TOKEN_FORM = /^portico_[A-Za-z0-9_-]{43}$/;

/** Creates a token value: 256 random bits after a prefix that secret scanners can find. */
export function createTokenValue(): string {
  return `portico_${toBase64Url(randomBytes(32))}`;
}

/** Whether a text has the form of a token; any other text never reaches the database. */
export function isTokenForm(value: string): boolean {
  return TOKEN_FORM.test(value);
}

/**
 * Returns the token of an `Authorization` header, or undefined. The scheme is case-insensitive (RFC 9110 §11.1). There is one way to send a
 * token and no fallback.
 */
export function parseBearer(header: string | null): string | undefined {
  if (header === null || header.length > 200) return undefined;
  const value = /^bearer +(\S+)$/i.exec(header)?.[1];
  return value !== undefined && isTokenForm(value) ? value : undefined;
}

/** Whether a token with an audience is valid for a URL. @param audience null: a token for every URL */
export function coversUrl(
  audience: string | null,
  { origin, pathname }: { origin: string; pathname: string },
): boolean {
  if (audience === null) return true;
  const url = origin + (pathname === '/messages' ? '/sse' : pathname);
  return url === audience || url.startsWith(`${audience}/`);
}

/** The part of a caller's policy that limits administration. */
interface AdminLimits {
  /** Empty if the caller's token is not limited to servers, tools or toolsets. */
  readonly limits: string;
  administers(server: NamedServer): boolean;
}

/** Who acts. */
export interface Actor {
  principalId: string;
  tokenId: string;
  /** The passkey by which it signed in, if it did. */
  passkeyId?: string | undefined;
  scopes: ReadonlySet<Scope>;
  /** What the actor may see and use; absent for parts of the gateway itself, which have no limits. */
  policy?: AdminLimits;
  /** The owner of the records that it writes; absent if they belong to people. */
  owner?: RecordOwner;
}

/** Returns the actor for what people, or programs they authorised, do for themselves: this needs no scope, but the audit wants one. */
export const toOwnActor = (principalId: string, tokenId: string): Actor => ({
  principalId,
  tokenId,
  scopes: new Set(['admin'] as const),
});

/** The token that stands for the set-up admin token. */
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

/** Whether a caller holds a scope; `admin` includes all. */
export function hasScope(caller: Actor, scope: Scope): boolean {
  return caller.scopes.has(scope) || caller.scopes.has('admin');
}

/** Scopes over tools, which the policy narrows. */
const OF_TOOLS: readonly Scope[] = ['tools:read', 'tools:call'];

/**
 * Requires a scope for an action that may concern the whole deployment. A token with limits administers only servers within them, so it is
 * refused here. For actions on single servers, use `requireServerScope` and `administers` instead.
 * @throws PorticoError `forbidden` if the caller lacks the scope, or administers by a token with limits
 */
export function requireScope(caller: Actor, scope: Scope): void {
  requireServerScope(caller, scope);
  if (hasLimits(caller) && !OF_TOOLS.includes(scope)) {
    throw new PorticoError('forbidden', 'This needs a token without limits');
  }
}

/**
 * Requires a scope for an action on single servers. The calling code must show and change only servers that the caller administers.
 * @throws PorticoError `forbidden` if the caller lacks the scope
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

/** Whether a server lies wholly within the limits of the caller's token. For administration every other server is unknown. */
export function administers({ policy }: Actor, server: NamedServer): boolean {
  return policy?.administers(server) ?? true;
}
