/**
 * What a tool's input schema marks as secret: `writeOnly`, `format: password`, `x-secret` or `x-sensitive`. Pure. A
 * schema without any of these words costs one scan of its text, once for each catalog item.
 */
import type { RawObject } from '../json/json-spans.ts';
import { isObject, type JsonObject } from '../protocol.ts';

const MARKS = /writeOnly|password|x-secret|x-sensitive|\\u/;
/** Most schemas that are combined for one place; further references are not followed. */
const MAX_BRANCHES = 64;
/** Longer references are not followed. */
const MAX_REF_CHARS = 1_024;

/** The part of a catalog item that is read. */
interface Item {
  readonly raw: RawObject;
}

const known = new WeakMap<Item, JsonObject | undefined>();

/** Returns the schema of an item if it may mark something, else undefined. */
export function markedSchemaOf(item: Item): JsonObject | undefined {
  if (known.has(item)) return known.get(item);
  const text = item.raw.get('inputSchema') ?? '';
  const schema: unknown = MARKS.test(text) ? JSON.parse(text) : undefined;
  const marked = isObject(schema) ? schema : undefined;
  known.set(item, marked);
  return marked;
}

/** All schemas that apply to one place; none if nothing is known about it. */
export type Place = readonly JsonObject[];

/** Returns the schemas of the whole value. */
export const rootPlace = (root: JsonObject | undefined): Place =>
  root === undefined ? [] : branchesOf([root], root);

/** Whether the value at this place is a secret. */
export function isMarked(place: Place): boolean {
  return place.some(
    schema =>
      schema['writeOnly'] === true ||
      schema['format'] === 'password' ||
      schema['x-secret'] === true ||
      schema['x-sensitive'] === true,
  );
}

/** Returns the place of a member, or of an element if `key` is a number. */
export function placeOf(place: Place, key: string | number, root: JsonObject | undefined): Place {
  if (place.length === 0) return place;
  const inner =
    typeof key === 'number'
      ? place.flatMap(schema => elementSchemas(schema, key))
      : // The last ones are combined first: many patterns must not displace what is said of the member itself.
        [...place.flatMap(patternSchemas), ...place.map(schema => memberSchema(schema, key))];
  return branchesOf(inner.filter(isObject), root);
}

function memberSchema({ properties, additionalProperties }: JsonObject, key: string): unknown {
  const isOwn = isObject(properties) && Object.hasOwn(properties, key);
  return isOwn ? properties[key] : additionalProperties;
}

/** The schemas that each schema has by pattern: read once, since there may be very many. */
const byPattern = new WeakMap<JsonObject, readonly unknown[]>();

function patternSchemas(schema: JsonObject): readonly unknown[] {
  const { patternProperties } = schema;
  if (!isObject(patternProperties)) return [];
  const read = byPattern.get(schema) ?? Object.values(patternProperties).slice(-MAX_BRANCHES);
  byPattern.set(schema, read);
  return read;
}

function elementSchemas({ items, prefixItems }: JsonObject, index: number): unknown[] {
  const listed: unknown = Array.isArray(prefixItems) ? prefixItems[index] : undefined;
  return Array.isArray(items) ? [items[index], listed] : [items, listed];
}

/** Returns schemas with all that they combine, by `allOf` and the like and by references within the schema. */
function branchesOf(schemas: readonly JsonObject[], root: JsonObject | undefined): Place {
  const found = new Set<JsonObject>();
  const waiting = [...schemas];
  for (let schema = waiting.pop(); schema; schema = waiting.pop()) {
    if (found.has(schema) || found.size >= MAX_BRANCHES) continue;
    found.add(schema);
    const combined = ['allOf', 'anyOf', 'oneOf'].flatMap(keyword => lastOf(schema?.[keyword]));
    const parts = [...combined, schema['if'], schema['then'], schema['else']];
    const next = [...parts, refOf(schema['$ref'], root)].filter(isObject);
    // No more of them are looked at: the last ones come first.
    waiting.push(...next.slice(-MAX_BRANCHES));
  }
  return [...found];
}

const lastOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value.slice(-MAX_BRANCHES) : [value];

/** Returns what a reference stands for: a JSON pointer in a URI's fragment (RFC 6901, §6). */
function refOf(ref: unknown, root: JsonObject | undefined): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#') || ref.length > MAX_REF_CHARS)
    return undefined;
  let at: unknown = root;
  for (const part of decoded(ref.slice(1)).split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const isThere = typeof at === 'object' && at !== null && Object.hasOwn(at, key);
    at = isThere ? (at as JsonObject)[key] : undefined;
  }
  return at;
}

/** A text that is not well encoded stays as it is. */
function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
