/** Who calls, and the pure decisions about what they may reach. */
import { PorticoError } from '../errors/portico-error.ts';
import { createPolicy, type AccessState, type Holder, type Policy } from './policy.ts';
import type { Scope, Token } from './token.ts';

/** Who does something. */
export interface Actor {
  principalId: string;
  tokenId: string;
  scopes: ReadonlySet<Scope>;
}

/** The caller of one request: always given as an argument, never looked up below the faces. */
export interface Caller extends Actor {
  /** What it may see and use. */
  policy: Policy;
}

/** The caller whom a stored token stands for, under the rules there are. */
export function toCaller(token: Token, state: AccessState): Caller {
  const { principalId, id } = token;
  const policy = createPolicy(holderOf(token), state);
  return { principalId, tokenId: id, scopes: new Set(token.scopes), policy };
}

/** What of a token decisions depend on. */
export function holderOf({ principalId, groups, scopes, servers, tools, toolsets }: Token): Holder {
  return { principalId, groups, isAdmin: scopes.includes('admin'), servers, tools, toolsets };
}

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
};

/** Whether a caller holds a scope; `admin` holds all. */
export function hasScope(caller: Actor, scope: Scope): boolean {
  return caller.scopes.has(scope) || caller.scopes.has('admin');
}

/** @throws PorticoError `forbidden` where the caller does not hold the scope */
export function requireScope(caller: Actor, scope: Scope): void {
  if (!hasScope(caller, scope)) {
    throw new PorticoError('forbidden', `This needs a token with the scope ${scope}`);
  }
}
