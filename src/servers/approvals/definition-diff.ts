/**
 * Compares two definitions field by field, for administrators. Beside each value as the server wrote it stands its content with every
 * invisible character made visible. Pure.
 */
import { canonicalJson } from '../../shared/json/canonical-json.ts';
import { rawElements, rawMembers } from '../../shared/json/json-spans.ts';
import { toVisible } from '../../shared/util/visible-text.ts';
import { looksLikeAscii } from './skeleton.ts';

/** A value of a definition. */
export interface Shown {
  /** Raw JSON as the server wrote it. */
  json: string;
  /** The same in readable form: of a string its text. */
  shown: string;
}

export interface FieldChange {
  /** JSON pointer of the field (RFC 6901); its keys are made visible too. */
  path: string;
  before: Shown | null;
  after: Shown | null;
}

export interface DefinitionDiff {
  changes: FieldChange[];
  /** Number of changes that are not in the list. */
  more: number;
}

const MAX_CHANGES = 500;
const MAX_DEPTH = 30;

/** @param before raw JSON; null if there was nothing */
export function diffDefinitions(before: string | null, after: string | null): DefinitionDiff {
  const changes: FieldChange[] = [];
  // If the definition is new or gone, each of its fields is shown.
  const nothing = isObject(before ?? after ?? undefined) ? '{}' : undefined;
  compare('', before ?? nothing, after ?? nothing, 0, changes);
  return {
    changes: changes.slice(0, MAX_CHANGES),
    more: Math.max(0, changes.length - MAX_CHANGES),
  };
}

function compare(
  path: string,
  before: string | undefined,
  after: string | undefined,
  depth: number,
  changes: FieldChange[],
): void {
  if (canonicalOf(before) === canonicalOf(after)) return;
  const known = changes.length;
  const pairs = depth < MAX_DEPTH ? pairParts(before, after) : [];
  for (const [key, one, other] of pairs) {
    compare(`${path}/${toPointer(key)}`, one, other, depth + 1, changes);
  }
  // If no part differs, the difference is the order of equal keys.
  if (changes.length > known) return;
  changes.push({ path, before: toShown(before), after: toShown(after) });
}

const canonicalOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : canonicalJson(text);

type Pair = [key: string, before: string | undefined, after: string | undefined];

/** Pairs the parts of two objects or of two lists; none if the values are of different kinds. */
function pairParts(before: string | undefined, after: string | undefined): Pair[] {
  const one = partsOf(before);
  const other = partsOf(after);
  if (!one || !other || isObject(before) !== isObject(after)) return [];
  const keys = [...new Set([...one.keys(), ...other.keys()])];
  return keys.map((key): Pair => [key, one.get(key), other.get(key)]);
}

const isObject = (text: string | undefined): boolean => text?.trimStart().startsWith('{') === true;

function partsOf(text: string | undefined): ReadonlyMap<string, string> | undefined {
  if (text !== undefined && isObject(text)) return rawMembers(text);
  if (!text?.trimStart().startsWith('[')) return undefined;
  return new Map(rawElements(text).map((element, index) => [String(index), element]));
}

const toPointer = (key: string): string =>
  toVisible(key.replaceAll('~', '~0').replaceAll('/', '~1'), looksLikeAscii, true);

function toShown(json: string | undefined): Shown | null {
  if (json === undefined) return null;
  const value: unknown = JSON.parse(json);
  return { json, shown: toVisible(typeof value === 'string' ? value : json, looksLikeAscii) };
}
