/**
 * Closes objects for strict dialects: they accept only the properties they list. Where all properties must be required, an optional one
 * accepts null instead; `schema-back.ts` drops that null again.
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import type { PropertyNames } from './schema-refs.ts';
import { own, put, step, typesOf, Unsayable, type Warn, type SchemaRules } from './schema-rules.ts';

export interface ClosedRules extends SchemaRules {
  /** Whether it is the schema of all arguments: if that lists no properties, there are none. */
  isRoot: boolean;
  names: PropertyNames;
}

/**
 * Closes one schema.
 * @param found the schema, converted except for this
 * @param schema the original
 * @throws Unsayable where an object accepts properties of any name
 */
export function toClosed(
  found: JsonObject,
  schema: JsonObject,
  path: string,
  { isRoot, names, allRequired }: ClosedRules,
  warn: Warn,
): JsonObject {
  const types = typesOf(schema);
  if (types.includes('array') && own(found, 'items') === undefined) {
    throw new Unsayable(path, 'items of any type');
  }
  if (!types.includes('object')) return found;
  const listed = own(found, 'properties');
  const properties = isObject(listed) ? listed : {};
  checkClosable(schema, path, isRoot);
  if (own(schema, 'additionalProperties') !== false) {
    warn(step(path, 'additionalProperties'), 'changed', 'only what is listed may be given');
  }
  if (listed === undefined) warn(step(path, 'properties'), 'changed', 'said to be none');
  const all = Object.keys(properties);
  const given = own(schema, 'required');
  const required = (Array.isArray(given) ? given : []).map(
    name => names.get(String(name)) ?? String(name),
  );
  if (required.some(name => !Object.hasOwn(properties, name))) {
    throw new Unsayable(step(path, 'required'), 'a required property of any type');
  }
  if (!allRequired) return { ...found, properties, additionalProperties: false };
  const widened: JsonObject = {};
  const back = new Map([...names].map(([name, fitting]) => [fitting, name]));
  for (const [name, value] of Object.entries(properties)) {
    const isOptional = !required.includes(name) && isObject(value) && !takesNull(value);
    put(widened, name, isOptional ? withNull(value) : value);
    if (!isOptional) continue;
    const at = step(step(path, 'properties'), back.get(name) ?? name);
    warn(at, 'changed', 'null where it would be left out');
  }
  if (required.length < all.length) {
    warn(step(path, 'required'), 'changed', 'lists each property');
  }
  const rest = all.length > 0 || given !== undefined ? { required: all } : {};
  return { ...found, properties: widened, ...rest, additionalProperties: false };
}

function checkClosable(schema: JsonObject, path: string, isRoot: boolean): void {
  const more = own(schema, 'additionalProperties');
  const listed = own(schema, 'properties');
  const patterns = own(schema, 'patternProperties');
  const isEmpty = !isObject(listed) || Object.keys(listed).length === 0;
  const isFree =
    isObject(more) ||
    (isObject(patterns) && Object.keys(patterns).length > 0) ||
    (isEmpty && (more === true || (more !== false && !isRoot)));
  if (isFree) throw new Unsayable(path, 'properties of any name');
}

function takesNull(schema: JsonObject): boolean {
  const choice = own(schema, 'anyOf');
  if (Array.isArray(choice)) return choice.some(each => isObject(each) && takesNull(each));
  const values = own(schema, 'enum');
  if (Array.isArray(values)) return values.includes(null);
  if (Object.hasOwn(schema, 'const')) return schema['const'] === null;
  return typesOf(schema).includes('null');
}

function withNull(schema: JsonObject): JsonObject {
  const none = { type: 'null' };
  const choice = own(schema, 'anyOf');
  if (Array.isArray(choice)) return { ...schema, anyOf: [...(choice as unknown[]), none] };
  if (own(schema, '$ref') !== undefined) return { anyOf: [schema, none] };
  if (own(schema, 'enum') === undefined && !Object.hasOwn(schema, 'const')) {
    return { ...schema, type: [...typesOf(schema), 'null'] };
  }
  const { description, ...rest } = schema;
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, none] };
}
