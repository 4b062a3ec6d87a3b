/** References within a schema: resolves them, and tells whether they are of the simple kind that every reader follows. Pure. */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { toFittingNames } from './names.ts';
import { LISTS, MAPS, MAX_DEPTH, own, SINGLE, type SchemaRules } from './schema-rules.ts';

const SIMPLE = /^#\/(?:\$defs|definitions)\/[^/]+$/;

/** Resolves a reference within the document; undefined where it leads nowhere or outside. */
export function resolveRef(root: JsonObject, ref: unknown): JsonObject | boolean | undefined {
  if (ref === '#') return root;
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) at = /^\d+$/.test(key) ? (at as unknown[])[Number(key)] : undefined;
    else at = isObject(at) ? own(at, key) : undefined;
  }
  return isObject(at) || typeof at === 'boolean' ? at : undefined;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Yields the direct subschemas of a schema. */
export function* childrenOf(schema: JsonObject): Generator<unknown, void, undefined> {
  for (const [key, value] of Object.entries(schema)) {
    // Until 2019-09 `items` could be a list.
    if (SINGLE.has(key)) yield* Array.isArray(value) ? (value as unknown[]) : [value];
    else if (LISTS.has(key) && Array.isArray(value)) yield* value as unknown[];
    else if (MAPS.has(key) && isObject(value)) yield* Object.values(value);
  }
}

/** Facts about a whole schema that must be known before it is walked. */
export interface Survey {
  /** The names of all properties, at any depth. */
  properties: Set<string>;
  /** Whether every reference leads to a definition at the root, so that it may stay. */
  hasSimpleRefs: boolean;
  hasRefs: boolean;
}

export function survey(root: JsonObject): Survey {
  const found: Survey = { properties: new Set(), hasSimpleRefs: true, hasRefs: false };
  const visit = (schema: unknown, depth: number): void => {
    if (!isObject(schema) || depth > MAX_DEPTH) return;
    const ref = own(schema, '$ref');
    if (ref !== undefined) {
      found.hasRefs = true;
      if (!SIMPLE.test(String(ref)) || resolveRef(root, ref) === undefined) {
        found.hasSimpleRefs = false;
      }
    }
    if (depth > 0 && own(schema, '$id') !== undefined) found.hasSimpleRefs = false;
    const properties = own(schema, 'properties');
    if (isObject(properties)) {
      for (const name of Object.keys(properties)) found.properties.add(name);
    }
    for (const child of childrenOf(schema)) visit(child, depth + 1);
  };
  visit(root, 0);
  return found;
}

/** Property names in the dialect, by their own. */
export type PropertyNames = ReadonlyMap<string, string>;

export function toPropertyNames(schema: JsonObject, { properties }: SchemaRules): PropertyNames {
  return properties ? toFittingNames(survey(schema).properties, properties) : new Map();
}
