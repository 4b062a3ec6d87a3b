/** Who calls, and the pure decisions about what they may reach. */
import { PorticoError } from '../errors/portico-error.ts';
import type { Scope, Token } from './token.ts';

/** The caller of one request: always given as an argument, never looked up below the faces. */
export interface Caller {
  principalId: string;
  tokenId: string;
  scopes: ReadonlySet<Scope>;
  /** Ids of the servers the token is narrowed to; undefined means every server. */
  servers?: ReadonlySet<string>;
}

/** The caller whom a stored token stands for; nobody where there is none. */
export function toCaller(token: Token | undefined): Caller | undefined {
  if (!token) return undefined;
  return {
    principalId: token.principalId,
    tokenId: token.id,
    scopes: new Set(token.scopes),
    ...(token.servers ? { servers: new Set(token.servers) } : {}),
  };
}

/** The caller whom the set-up admin token stands for. */
export const SETUP_ADMIN: Caller = {
  principalId: 'setup-admin',
  tokenId: 'setup-admin',
  scopes: new Set(['admin']),
};

/** Whether a caller holds a scope; `admin` holds all. */
export function hasScope(caller: Caller, scope: Scope): boolean {
  return caller.scopes.has(scope) || caller.scopes.has('admin');
}

/** @throws PorticoError `forbidden` where the caller does not hold the scope */
export function requireScope(caller: Caller, scope: Scope): void {
  if (!hasScope(caller, scope)) {
    throw new PorticoError('forbidden', `This needs a token with the scope ${scope}`);
  }
}

/** The one decision on a server, for every door. */
export function decideServer(caller: Caller, serverId: string): boolean {
  return caller.servers === undefined || caller.servers.has(serverId);
}
