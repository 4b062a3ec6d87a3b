/** The form values of a provider, and the request bodies made from them. Pure. */
import type {
  CreateSignInProvider,
  SignInProvider,
  UpdateSignInProvider,
} from '../../generated/types.gen.ts';
import { itemsOf, toDraft, type ListDraft } from '../../parts/list-draft.ts';
import { changed } from '../../parts/rebase.ts';

export interface ProviderValues {
  name: string;
  kind: SignInProvider['kind'];
  issuer: string;
  client_id: string;
  /** Name of a secret; empty: none. */
  client_secret: string;
  scopes: ListDraft;
  /** Empty: no groups are read. */
  groups_claim: string;
  /** Lines of `value = group`. */
  group_map: string;
  /** Lines of `claim = value`. */
  required_claims: string;
  creates_principals: boolean;
  takes_assertions: boolean;
  /** In seconds. */
  max_age: string;
}

export const NEW: ProviderValues = {
  name: '',
  kind: 'oidc',
  issuer: '',
  client_id: '',
  client_secret: '',
  scopes: toDraft(['profile', 'email']),
  groups_claim: '',
  group_map: '',
  required_claims: '',
  creates_principals: false,
  takes_assertions: false,
  max_age: '604800',
};

/** GitHub's issuer; the API accepts no other for that kind. */
export const GITHUB = 'https://github.com/login/oauth';

export function toValues(provider: SignInProvider): ProviderValues {
  const claims = Object.entries(provider.required_claims);
  return {
    name: provider.name,
    kind: provider.kind,
    issuer: provider.issuer,
    client_id: provider.client_id,
    client_secret: provider.client_secret ?? '',
    scopes: toDraft(provider.scopes),
    groups_claim: provider.groups_claim ?? '',
    group_map: toLines(Object.entries(provider.group_map)),
    required_claims: toLines(
      claims.flatMap(([claim, values]) => values.map(value => [claim, value] as const)),
    ),
    creates_principals: provider.creates_principals,
    takes_assertions: provider.takes_assertions,
    max_age: String(provider.max_age_seconds),
  };
}

const toLines = (pairs: readonly (readonly [string, string])[]) =>
  pairs.map(([left, right]) => `${left} = ${right}`).join('\n');

/** Splits each line into two sides. @param at which `=` splits a line: the first if the left side cannot contain `=`, else the last */
function toPairs(text: string, at: 'first' | 'last'): [left: string, right: string][] {
  const lines = text.split('\n').filter(line => line.trim() !== '');
  return lines.map(line => {
    const sign = at === 'first' ? line.indexOf('=') : line.lastIndexOf('=');
    return [line.slice(0, Math.max(sign, 0)).trim(), line.slice(sign + 1).trim()];
  });
}

/** The error for the first line with an empty side; undefined where all lines are complete. */
export function findBadLine(text: string, at: 'first' | 'last'): string | undefined {
  const bad = toPairs(text, at).find(([left, right]) => left === '' || right === '');
  return bad && `“${bad.join(' = ')}” needs something on both sides of the =`;
}

/** Sends only what the form shows for the kind. */
export function toCreate(values: ProviderValues): CreateSignInProvider {
  const isAccess = values.kind === 'access';
  const claims = Map.groupBy(toPairs(values.required_claims, 'first'), ([claim]) => claim);
  return {
    name: values.name.trim(),
    kind: values.kind,
    issuer: values.kind === 'github' ? GITHUB : values.issuer.trim(),
    client_id: values.client_id.trim(),
    client_secret: (!isAccess && values.client_secret.trim()) || null,
    scopes: isAccess ? [] : itemsOf(values.scopes),
    groups_claim: values.groups_claim.trim() || null,
    group_map: Object.fromEntries(toPairs(values.group_map, 'last')),
    required_claims: Object.fromEntries(
      [...claims].map(([claim, pairs]) => [claim, pairs.map(([, value]) => value)]),
    ),
    creates_principals: values.creates_principals,
    takes_assertions: values.kind === 'oidc' && values.takes_assertions,
    max_age_seconds: Number(values.max_age),
  };
}

/** Only the changed fields. Issuer and kind cannot change. */
export function toUpdate(before: ProviderValues, values: ProviderValues): UpdateSignInProvider {
  const { issuer: _issuer, kind: _kind, ...was } = toCreate(before);
  const { issuer: _newIssuer, kind: _newKind, ...is } = toCreate(values);
  return Object.fromEntries(changed(was, is).map(key => [key, is[key]]));
}
