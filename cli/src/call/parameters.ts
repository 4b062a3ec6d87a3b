/**
 * Turns the input schema of a tool into flags; nested parameters are named with dots. A parameter that no flag type fits is given as JSON.
 * Pure, bounded; a schema is outside data and may be anything.
 */
import { isObject, type JsonObject } from '../../../src/shared/protocol.ts';

export type ParameterType =
  | 'string'
  | 'number'
  | 'integer'
  | 'boolean'
  /** The flag is repeated, one element each time, or given once with a JSON list. */
  | 'array'
  /** Given as JSON. */
  | 'json';

export interface Parameter {
  /** Keys from the arguments object down to it. */
  path: readonly string[];
  /** The path joined with dots: the name of the flag. */
  name: string;
  type: ParameterType;
  /** Type of an array's elements. */
  element: ParameterType;
  /** The allowed values; undefined where any is allowed. */
  values: readonly unknown[] | undefined;
  /** Null is allowed; the word `null` on the command line means it. */
  isNullable: boolean;
  /** A nested parameter is required only if every object above it is too. */
  isRequired: boolean;
  description: string;
  /** The default; undefined where there is none. */
  fallback: unknown;
}

const MAX_DEPTH = 6;
const MAX_PARAMETERS = 500;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array']);

/** Returns the parameters of an input schema, in its order. */
export function readParameters(schema: JsonObject): Parameter[] {
  const found: Parameter[] = [];
  const walk = (node: JsonObject, path: readonly string[], isRequired: boolean): void => {
    const properties = isObject(node['properties']) ? node['properties'] : {};
    const required: unknown[] = Array.isArray(node['required']) ? node['required'] : [];
    for (const [key, value] of Object.entries(properties)) {
      if (found.length >= MAX_PARAMETERS) return;
      const child = orNull(resolve(value, schema), schema);
      const here = [...path, key];
      const isNeeded = isRequired && required.includes(key);
      const isNested = isObject(child['properties']) && typeOf(child) === 'json';
      if (isNested && here.length < MAX_DEPTH) walk(child, here, isNeeded);
      else found.push(toParameter(here, child, isNeeded, schema));
    }
  };
  walk(resolve(schema, schema), [], true);
  return found;
}

/** Whether the tool accepts arguments that its schema does not list. */
export function takesOthers(schema: JsonObject): boolean {
  return schema['additionalProperties'] !== false && !isObject(schema['properties']);
}

function toParameter(
  path: readonly string[],
  schema: JsonObject,
  isRequired: boolean,
  root: JsonObject,
): Parameter {
  const { enum: values, const: constant, description, default: fallback } = schema;
  const items = resolve(schema['items'], root);
  const type = typeOf(schema);
  const ofValues = type === 'array' ? items : schema;
  return {
    path,
    name: path.join('.'),
    type,
    element: typeOf(items) === 'array' ? 'json' : typeOf(items),
    values:
      valuesOf(ofValues) ?? (constant === undefined ? valuesOf({ enum: values }) : [constant]),
    isNullable: Array.isArray(schema['type']) && schema['type'].includes('null'),
    isRequired,
    description: typeof description === 'string' ? description : '',
    fallback,
  };
}

const valuesOf = ({ enum: values }: JsonObject): unknown[] | undefined =>
  Array.isArray(values) && values.length > 0 ? (values as unknown[]) : undefined;

/** The one type of a schema; JSON where it names several types or none. */
function typeOf({ type, enum: values, const: constant }: JsonObject): ParameterType {
  const named = Array.isArray(type) ? type.filter(each => each !== 'null') : [type];
  const [only, other] = named as unknown[];
  if (other === undefined && TYPES.has(only)) return only as ParameterType;
  // An enum of strings needs no `type`.
  const all = Array.isArray(values) ? (values as unknown[]) : [constant];
  if (only === undefined && all.every(value => typeof value === 'string')) return 'string';
  return 'json';
}

/** A choice between one simple type and null, as many servers write an optional parameter: that type, which may be null. */
function orNull(schema: JsonObject, root: JsonObject): JsonObject {
  const { anyOf, oneOf, ...rest } = schema;
  const branches = (anyOf ?? oneOf) as unknown;
  if (!Array.isArray(branches) || branches.length !== 2) return schema;
  const [only, other] = branches
    .map(branch => resolve(branch, root))
    .filter(({ type }) => type !== 'null');
  if (!only || other || !TYPES.has(only['type'])) return schema;
  return { ...only, ...rest, type: [only['type'], 'null'] };
}

/** Follows `$ref` within the same document. */
function resolve(schema: unknown, root: JsonObject): JsonObject {
  let node = schema;
  for (
    let hop = 0;
    hop < MAX_DEPTH && isObject(node) && typeof node['$ref'] === 'string';
    hop += 1
  ) {
    const [start, ...keys] = node['$ref'].split('/');
    if (start !== '#') break;
    let found: unknown = root;
    for (const key of keys) {
      const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
      found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
    }
    node = found;
  }
  return isObject(node) ? node : {};
}
