/** What a provider says of a person, and what that means here. Pure. Claims are text of others: what is not as expected counts for nothing. */
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

/** Whether a subject can be kept. */
export const isSubject = (subject: unknown): subject is string =>
  typeof subject === 'string' && subject !== '' && subject.length <= MAX_SUBJECT_CHARS;

/** A claim: of its very name, else at its path with dots. */
const claimOf = (claims: Proven['claims'], name: string): unknown =>
  Object.hasOwn(claims, name)
    ? claims[name]
    : name
        .split('.')
        .reduce<unknown>(
          (at, part) => (isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined),
          claims,
        );

/** The texts of a claim. */
function textsOf(claims: Proven['claims'], name: string): string[] {
  const found = claimOf(claims, name);
  const all: unknown[] = Array.isArray(found) ? found.slice(0, MAX_VALUES) : [found];
  return all.filter(value => typeof value === 'string');
}

/** Whether somebody may come: each required claim is, or holds, one of its values. */
export const mayCome = (claims: Proven['claims'], { required_claims: required }: Settings) =>
  Object.entries(required).every(([name, values]) =>
    textsOf(claims, name).some(text => values.includes(text)),
  );

/** The groups that the map gives for the claim's values. */
export function groupsOf(
  claims: Proven['claims'],
  { groups_claim: claim, group_map: map }: Settings,
): string[] {
  const values = claim === null ? [] : textsOf(claims, claim);
  const groups = values.flatMap(value => (Object.hasOwn(map, value) ? (map[value] ?? []) : []));
  return [...new Set(groups)].toSorted();
}

/** Whether anything is said of groups: where none are read, there is nothing to say. */
export const saysGroups = (claims: Proven['claims'], { groups_claim: claim }: Settings): boolean =>
  claim === null || claimOf(claims, claim) !== undefined;

type Shown = Pick<Identity, 'name' | 'email'>;

/** What to call somebody, and the address to show beside it; neither decides anything. @param before where nothing is said */
export function shownOf({ claims, subject }: Proven, before?: Shown): Shown {
  const [email = before?.email ?? null] = textsOf(claims, 'email');
  const names = ['name', 'preferred_username', 'login', 'email'];
  const name = names.flatMap(each => textsOf(claims, each)).find(text => text.trim() !== '');
  return {
    name: (name ?? before?.name ?? subject).trim().slice(0, MAX_NAME_CHARS),
    email: email && email.slice(0, 320),
  };
}
