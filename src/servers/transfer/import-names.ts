/**
 * Names of servers for what a file calls its entries: the same file gives the same names, whenever it is read. Letters lose
 * their accents, what is not allowed becomes "-", and of names that would be the same the later one gets a number. Pure.
 */
import { MAX_SERVER_NAME } from '../../shared/util/name-limits.ts';
import { withoutEnd } from '../../shared/util/without-end.ts';
import { SERVER_NAME } from '../registry/server-schema.ts';

/** A name that is allowed, as near to the given one as can be; undefined where nothing of it is left. */
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
 * A name for each entry, in their order. Who has a name that is allowed keeps it; the others make way.
 * @returns names that differ, whatever their case
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
