/** The form values of a principal, and the request bodies made from them. Pure. */
import type { CreatePrincipal, Principal, UpdatePrincipal } from '../../generated/types.gen.ts';
import { itemsOf, toDraft, type ListDraft } from '../../parts/list-draft.ts';
import { changed } from '../../parts/rebase.ts';
import { MEMBER_SCOPES, type Scope } from './scopes.ts';

export interface PrincipalValues {
  name: string;
  groups: ListDraft;
  /** Whether its tokens are limited to `scopes`. */
  isBound: boolean;
  scopes: readonly Scope[];
}

export const NEW: PrincipalValues = {
  name: '',
  groups: toDraft([]),
  isBound: false,
  scopes: MEMBER_SCOPES,
};

export const toValues = ({ name, groups, scopes }: Principal): PrincipalValues => ({
  name,
  groups: toDraft(groups),
  isBound: scopes !== null,
  scopes: scopes ?? MEMBER_SCOPES,
});

export const toCreate = ({ name, groups, isBound, scopes }: PrincipalValues): CreatePrincipal => ({
  name: name.trim(),
  groups: itemsOf(groups),
  scopes: isBound ? [...scopes] : null,
});

/** Only the changed fields. */
export function toUpdate(before: PrincipalValues, values: PrincipalValues): UpdatePrincipal {
  const [was, is] = [toCreate(before), toCreate(values)];
  return Object.fromEntries(changed(was, is).map(key => [key, is[key]]));
}
