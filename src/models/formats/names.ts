/**
 * Makes names of tools and of argument properties fit a dialect. A fitting name stays; in any other, `_` replaces each forbidden character,
 * and a hash of the original is appended to keep it unique. Pure; the result does not depend on the order of the names.
 */
import { SHORT_HASH_CHARS, shortHash } from '../../shared/crypto/short-hash.ts';

/** What a dialect accepts as a name. */
export interface NameRule {
  /** Characters allowed anywhere, as the inside of a character class. */
  characters: string;
  /** Characters allowed first; defaults to `characters`. */
  first?: string;
  maxChars: number;
}

const fits = (name: string, { characters, first = characters, maxChars }: NameRule): boolean =>
  name.length <= maxChars && new RegExp(`^[${first}][${characters}]*$`).test(name);

/**
 * Returns a fitting name; the name itself where it fits.
 * @param round number of the try; each gives another name
 */
export function toFittingName(name: string, rule: NameRule, round = 0): string {
  if (fits(name, rule)) return name;
  const { characters, first = characters, maxChars } = rule;
  const replaced = name.replaceAll(new RegExp(`[^${characters}]`, 'gu'), '_');
  const begun = new RegExp(`^[${first}]`).test(replaced) ? replaced : `_${replaced}`;
  const hash = shortHash(round === 0 ? name : `${round} ${name}`);
  return `${begun.slice(0, maxChars - SHORT_HASH_CHARS - 1)}_${hash}`;
}

/** Maps names to fitting names; no two are equal. */
export function toFittingNames(names: Iterable<string>, rule: NameRule): Map<string, string> {
  const fitting = new Map<string, string>();
  const taken = new Set<string>();
  const others: string[] = [];
  for (const name of names) {
    if (!fits(name, rule)) others.push(name);
    else {
      fitting.set(name, name);
      taken.add(name);
    }
  }
  for (const name of new Set(others.toSorted())) {
    let round = 0;
    while (taken.has(toFittingName(name, rule, round))) round += 1;
    const given = toFittingName(name, rule, round);
    fitting.set(name, given);
    taken.add(given);
  }
  return fitting;
}
