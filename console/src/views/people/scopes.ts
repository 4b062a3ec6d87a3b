/** Scopes in words, and who may give which. Pure. */
import type { OwnToken, Token } from '../../generated/types.gen.ts';

export type Scope = Token['scopes'][number];

export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  'tools:read': 'see tools',
  'tools:call': 'call tools',
  'servers:read': 'see servers',
  'servers:write': 'add and edit servers',
  'secrets:write': 'set secrets',
  admin: 'administer everything',
};
export const SCOPES = Object.keys(SCOPE_WORDS) as Scope[];

/** Default scopes of a new token. */
export const MEMBER_SCOPES: readonly Scope[] = ['tools:read', 'tools:call'];

/** The scopes that the user may give to others: all for an administrator without limits, else none. */
export const scopesToGive = ({ scopes, limited }: Pick<OwnToken, 'scopes' | 'limited'>): Scope[] =>
  scopes.includes('admin') && !limited ? SCOPES : [];

/** The scopes that have an effect for a principal. @param bound the principal's scopes; null: no bound */
export const within = (scopes: readonly Scope[], bound: readonly Scope[] | null): Scope[] =>
  scopes.filter(scope => bound === null || bound.includes('admin') || bound.includes(scope));
