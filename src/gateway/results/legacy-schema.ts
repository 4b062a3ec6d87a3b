/**
 * Rewrites schemas of tools for clients of the legacy era. From 2024-11-05 to 2025-11-25 both schemas of a tool are objects of
 * `type: "object"` whose `properties` are objects and whose `required` are strings (`Tool` in each revision's schema.json). 2026-07-28 asks
 * for `type: "object"` only in the input and otherwise takes any JSON Schema. A client that parses the whole list by the older schema
 * refuses all of it for one such tool. Pure.
 */
import { fromRawMembers, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { compiles } from './schema-compiles.ts';

/** Keywords whose value is data, not a schema. */
const DATA = new Set(['const', 'enum', 'default', 'examples']);
/** Keywords whose value maps names to schemas. */
const BY_NAME = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);
/** Keywords whose meaning depends on the root of the document in ways that are not followed here. */
const ROOTED = new Set(['$recursiveRef', '$dynamicRef']);

/** The member that holds a value that is no object, named as the SDK's servers name it for such clients. */
export const WRAPPED_AS = 'result';

/**
 * Returns the input schema with boolean properties (`true`, `false`) written as the equivalent objects.
 * @param text raw JSON of the schema, an object of `type: "object"`
 */
export function legacyInputSchema(text: string): string {
  const schema = rawMembers(text);
  const named = schema.get('$schema');
  const isUnnamed = named !== undefined && !named.startsWith('"') && schema.delete('$schema');
  return withObjectProperties(schema) || isUnnamed ? fromRawMembers(schema) : text;
}

/**
 * Returns the output schema for such a client: wrapped if it does not describe an object.
 * @returns undefined if the client could not make a validator of it, for which some refuse the whole list
 */
export function legacyOutputSchema(text: string): string | undefined {
  const own: unknown = JSON.parse(text);
  if (!isObject(own)) return undefined;
  if (!compiles(own)) return undefined;
  if (isWrapped(own)) {
    const wrapped = wrap(own);
    return wrapped && JSON.stringify(wrapped);
  }
  const schema = rawMembers(text);
  const named = withObjectProperties(schema);
  // Clients cache validators by `$id`, so one server's could replace another's.
  return schema.delete('$id') || named ? fromRawMembers(schema) : text;
}

/** Whether an output schema, and with it the results of its tool, is wrapped for such clients. */
export function isWrapped(schema: JsonObject): boolean {
  return schema['type'] !== 'object';
}

/** Replaces properties that are no objects by objects. @returns whether there were any */
function withObjectProperties(schema: RawObject): boolean {
  const text = schema.get('properties');
  if (!text?.startsWith('{')) return false;
  const properties = rawMembers(text);
  let changed = false;
  for (const [name, value] of properties) {
    if (value.startsWith('{')) continue;
    // A value that is neither a schema nor a boolean puts no restriction.
    properties.set(name, value === 'false' ? '{"not":{}}' : '{}');
    changed = true;
  }
  if (changed) schema.set('properties', fromRawMembers(properties));
  return changed;
}

/** Returns an object schema whose one member has the given schema; references are moved along. */
function wrap({ $id: _dropped, ...schema }: JsonObject): JsonObject | undefined {
  const moved = move(schema, false);
  if (moved === undefined) return undefined;
  const { $schema } = schema;
  return {
    ...(typeof $schema === 'string' ? { $schema } : {}),
    type: 'object',
    properties: { [WRAPPED_AS]: moved },
    required: [WRAPPED_AS],
  };
}

/** Moves a schema one level down. @returns undefined if its references cannot be moved */
function move(node: unknown, isByName: boolean): unknown {
  if (Array.isArray(node)) {
    const moved = node.map(each => move(each, false));
    return moved.includes(undefined) ? undefined : moved;
  }
  if (!isObject(node)) return node;
  const moved: [string, unknown][] = [];
  for (const [key, value] of Object.entries(node)) {
    if (!isByName && ROOTED.has(key)) return undefined;
    const isReference = !isByName && key === '$ref' && typeof value === 'string';
    const isData = !isByName && DATA.has(key);
    let made: unknown = value;
    if (isReference) made = `#/properties/${WRAPPED_AS}${value.slice(1)}`;
    else if (!isData) made = move(value, !isByName && BY_NAME.has(key));
    if (made === undefined) return undefined;
    moved.push([key, made]);
  }
  return Object.fromEntries(moved);
}
