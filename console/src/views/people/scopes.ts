/** What tokens may do, in words, and who may give it. Pure. */
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

/** What a new token may do where nobody says it. */
export const MEMBER_SCOPES: readonly Scope[] = ['tools:read', 'tools:call'];

/** Those that somebody may give to others: an administrator without limits all of them, any other none. */
export const scopesToGive = ({ scopes, limited }: Pick<OwnToken, 'scopes' | 'limited'>): Scope[] =>
  scopes.includes('admin') && !limited ? SCOPES : [];

/** Those of them that do something for a principal. @param bound the most its tokens may do; null: no bound */
export const within = (scopes: readonly Scope[], bound: readonly Scope[] | null): Scope[] =>
  scopes.filter(scope => bound === null || bound.includes('admin') || bound.includes(scope));
