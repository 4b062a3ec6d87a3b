/** Who calls, and the pure decisions about what they may reach. */
import { PorticoError } from '../errors/portico-error.ts';
import type { NamedServer } from '../util/name-pattern.ts';
import type { RecordOwner } from './record-owner.ts';
import type { Scope, Token } from './token.ts';

/** What of a caller's policy binds administration. */
export interface AdminLimits {
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
