/**
 * Derives server names from the names of a file's entries; the same file always yields the same names. Letters lose their accents,
 * characters that are not allowed become "-", and if two names would be equal, the later one gets a number. Pure.
 */
import { MAX_SERVER_NAME } from '../../shared/util/name-limits.ts';
import { withoutEnd } from '../../shared/util/without-end.ts';
import { SERVER_NAME } from '../registry/server-schema.ts';

/** Returns the closest allowed name; undefined if nothing of the given one remains. */
export function toServerName(given: string): string | undefined {
  if (SERVER_NAME.test(given)) return given;
  const name = given
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, MAX_SERVER_NAME);
  return withoutEnd(name, '-_') || undefined;
}

/**
 * Assigns a name to each entry, in their order. Entries with allowed names keep them; the others get a free name.
 * @returns names that differ, ignoring case
 */
export function assignNames(given: readonly string[]): string[] {
  const taken = new Set<string>();
  const names: string[] = [];
  const take = (index: number, wanted: string) => {
    let name = wanted;
    for (let number = 2; taken.has(name.toLowerCase()); number += 1) {
      const suffix = `-${number}`;
      name = wanted.slice(0, MAX_SERVER_NAME - suffix.length) + suffix;
    }
    taken.add(name.toLowerCase());
    names[index] = name;
  };
  const isKept = (name: string) => SERVER_NAME.test(name);
  given.forEach((name, index) => isKept(name) && take(index, name));
  given.forEach((name, index) => !isKept(name) && take(index, toServerName(name) ?? 'server'));
  return names;
}
