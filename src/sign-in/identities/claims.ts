/** A provider's claims about a person, and their meaning here. Pure. Claims are untrusted: a value of an unexpected type is ignored. */
import { isObject } from '../../shared/protocol.ts';
import type { Provider } from '../providers/providers-schema.ts';
import { MAX_SUBJECT_CHARS, type Identity } from './identity-schema.ts';

/** A person at a provider, as the provider proved it. */
export interface Proven {
  issuer: string;
  subject: string;
  claims: Readonly<Record<string, unknown>>;
}

type Settings = Provider['settings'];

const MAX_VALUES = 2_000;
const MAX_NAME_CHARS = 100;

/** Whether a subject can be stored. */
export const isSubject = (subject: unknown): subject is string =>
  typeof subject === 'string' && subject !== '' && subject.length <= MAX_SUBJECT_CHARS;

/** Returns a claim, by its exact name or else by its dotted path. */
const claimOf = (claims: Proven['claims'], name: string): unknown =>
  Object.hasOwn(claims, name)
    ? claims[name]
    : name
        .split('.')
        .reduce<unknown>(
          (at, part) => (isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined),
          claims,
        );

function textsOf(claims: Proven['claims'], name: string): string[] {
  const found = claimOf(claims, name);
  const all: unknown[] = Array.isArray(found) ? found.slice(0, MAX_VALUES) : [found];
  return all.filter(value => typeof value === 'string');
}

/** Whether a person may come in: each required claim equals or contains one of its allowed values. */
export const mayCome = (claims: Proven['claims'], { required_claims: required }: Settings) =>
  Object.entries(required).every(([name, values]) =>
    textsOf(claims, name).some(text => values.includes(text)),
  );

/** Returns the groups that the group map assigns to the claim's values. */
export function groupsOf(
  claims: Proven['claims'],
  { groups_claim: claim, group_map: map }: Settings,
): string[] {
  const values = claim === null ? [] : textsOf(claims, claim);
  const groups = values.flatMap(value => (Object.hasOwn(map, value) ? (map[value] ?? []) : []));
  return [...new Set(groups)].toSorted();
}

/** Whether the claims say anything about groups; true if no groups claim is configured. */
export const saysGroups = (claims: Proven['claims'], { groups_claim: claim }: Settings): boolean =>
  claim === null || claimOf(claims, claim) !== undefined;

type Shown = Pick<Identity, 'name' | 'email'>;

/** Returns a display name and an email address; no decision uses either. @param before used for what the claims lack */
export function shownOf({ claims, subject }: Proven, before?: Shown): Shown {
  const [email = before?.email ?? null] = textsOf(claims, 'email');
  const names = ['name', 'preferred_username', 'login', 'email'];
  const name = names.flatMap(each => textsOf(claims, each)).find(text => text.trim() !== '');
  return {
    name: (name ?? before?.name ?? subject).trim().slice(0, MAX_NAME_CHARS),
    email: email && email.slice(0, 320),
  };
}
