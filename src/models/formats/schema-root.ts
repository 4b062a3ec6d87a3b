/** Makes the schema of all arguments one plain object: no dialect accepts a choice, a reference or another type at the root. Pure. */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { mergeAll, mergeAny } from './schema-merge.ts';
import { own, step, typesOf, type Warn, type SchemaRules } from './schema-rules.ts';

/** Keywords that may not be at the root and have no replacement. */
const REMOVED = ['not', 'enum', 'const'];
/** How often schemas at the root are expanded. */
const MAX_ROUNDS = 16;

/** Resolves references and `allOf` of the schema itself. */
export type Flatten = (schema: JsonObject, path: string) => JsonObject;

export function toRootObject(
  schema: JsonObject,
  path: string,
  { needsProperties }: SchemaRules,
  flatten: Flatten,
  warn: Warn,
): JsonObject {
  const root = { ...toOneObject(schema, path, flatten, warn, 0) };
  for (const key of REMOVED) {
    if (own(root, key) === undefined) continue;
    delete root[key];
    warn(step(path, key), 'removed', 'it may not stand here');
  }
  if (root['type'] !== 'object') {
    root['type'] = 'object';
    warn(step(path, 'type'), 'changed', 'arguments are an object');
  }
  if (needsProperties && !isObject(own(root, 'properties'))) {
    root['properties'] = {};
    warn(step(path, 'properties'), 'changed', 'said to be none');
  }
  return root;
}

function toOneObject(
  schema: JsonObject,
  path: string,
  flatten: Flatten,
  warn: Warn,
  round: number,
): JsonObject {
  const flat = flatten(schema, path);
  const key = ['anyOf', 'oneOf'].find(each => Array.isArray(own(flat, each)));
  if (key === undefined) return flat;
  const { [key]: choice, ...rest } = flat;
  const at = step(path, key);
  const objects: JsonObject[] = [];
  if (round < MAX_ROUNDS) {
    for (const [index, each] of (choice as unknown[]).entries()) {
      if (!isObject(each)) continue;
      const one = toOneObject(each, step(at, index), flatten, warn, round + 1);
      const types = typesOf(one);
      if (types.length === 0 || types.includes('object')) objects.push(one);
    }
  }
  warn(at, 'changed', 'one object takes what each of them takes');
  const merged = mergeAll([rest, mergeAny(objects)], keyword =>
    warn(step(path, keyword), 'changed', 'only the first of several counts'),
  );
  return toOneObject(merged, path, flatten, warn, round + 1);
}
