/**
 * Names that fit a dialect: of tools, and of the properties of their arguments. A name that fits stays; another has `_` where a character
 * may not stand and ends in a hash of the whole, so it is one of its own. Pure, and the same for the same names in any order.
 */
import { SHORT_HASH_CHARS, shortHash } from '../../shared/crypto/short-hash.ts';

/** What a dialect takes as a name. */
export interface NameRule {
  /** Characters that may stand anywhere, as the inside of a character class. */
  characters: string;
  /** Characters that may stand first; `characters` where it is absent. */
  first?: string;
  maxChars: number;
}

const fits = (name: string, { characters, first = characters, maxChars }: NameRule): boolean =>
  name.length <= maxChars && new RegExp(`^[${first}][${characters}]*$`).test(name);

/**
 * The name that stands for another where that one does not fit.
 * @param round which try it is: each gives another name
 */
export function toFittingName(name: string, rule: NameRule, round = 0): string {
  if (fits(name, rule)) return name;
  const { characters, first = characters, maxChars } = rule;
  const replaced = name.replaceAll(new RegExp(`[^${characters}]`, 'gu'), '_');
  const begun = new RegExp(`^[${first}]`).test(replaced) ? replaced : `_${replaced}`;
  const hash = shortHash(round === 0 ? name : `${round} ${name}`);
  return `${begun.slice(0, maxChars - SHORT_HASH_CHARS - 1)}_${hash}`;
}

/** Names in the dialect by the names they stand for; no two of them are the same. */
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
