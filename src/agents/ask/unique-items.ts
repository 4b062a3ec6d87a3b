/**
 * Decides whether the validator has to check `uniqueItems`: it compares each element with each other. Where no list of the value has equal
 * elements, it need not. Pure.
 */
import { canonicalJson } from '../../shared/json/canonical-json.ts';
import type { Steps } from '../../shared/util/steps.ts';
import { SchemaUnusable } from './schema-unusable.ts';

/** Most characters of a value times the elements of its longest list. */
const MAX_WORK = 8_000_000;

/** @returns whether `uniqueItems` has to be checked at all @throws SchemaUnusable, TooManySteps */
export function needsUniqueItems(value: unknown, steps: Steps): boolean {
  const lists = listsIn(value);
  if (!lists.some(list => hasTwins(list, steps))) return false;
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 0);
  if (longest * JSON.stringify(value).length > MAX_WORK) {
    throw new SchemaUnusable('uniqueItems over this many items may take too long');
  }
  return true;
}

function listsIn(value: unknown): unknown[][] {
  const lists: unknown[][] = [];
  const open = [value];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (typeof each !== 'object' || each === null) continue;
    if (Array.isArray(each)) lists.push(each);
    for (const inner of Object.values(each)) if (inner !== null) open.push(inner);
  }
  return lists;
}

function hasTwins(list: readonly unknown[], steps: Steps): boolean {
  const seen = new Set<string>();
  for (const each of list) {
    const json = JSON.stringify(each);
    steps.spend(json.length);
    const form = typeof each === 'object' ? canonicalJson(json) : json;
    if (seen.has(form)) return true;
    seen.add(form);
  }
  return false;
}
