/** Converts parts of a schema that dialects express differently: fixed values, choices, tuples and implied types. Pure. */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { own, step, typesOf, type Warn, type SchemaRules } from './schema-rules.ts';

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
};
const isPrimitive = (value: unknown) => typeof value !== 'object' || value === null;
const isPlain = (value: unknown) => typeof value === 'string' || typeof value === 'number';

/** Converts `const`, `enum` and tuples to what the rules allow. */
export function toPlainValues(
  schema: JsonObject,
  path: string,
  { keywords, plainEnums }: SchemaRules,
  warn: Warn,
): JsonObject {
  let node = schema;
  if (Array.isArray(node['enum']) && node['enum'].length === 0) {
    const { enum: _, ...rest } = node;
    node = rest;
    warn(step(path, 'enum'), 'removed', 'no value would fit');
  }
  const fixed = own(node, 'const');
  if (fixed !== undefined && !keywords?.has('const')) {
    const { const: _, ...rest } = node;
    node = { ...rest, enum: [fixed] };
    warn(step(path, 'const'), 'changed', 'said by enum');
  }
  const values = own(node, 'enum') ?? (fixed === undefined ? undefined : [fixed]);
  if (Array.isArray(values)) node = toPlainEnum(node, values, path, plainEnums === true, warn);
  const { prefixItems: tuple, items, ...rest } = node;
  if (!Array.isArray(tuple) || keywords?.has('prefixItems')) return node;
  warn(step(path, 'prefixItems'), 'changed', 'each item may be any of them');
  const others = isObject(items) ? [items] : [];
  if (others.length > 0) warn(step(path, 'items'), 'changed', 'each item may be any of them');
  return { ...rest, items: { anyOf: [...(tuple as unknown[]), ...others] } };
}

/** Removes an enum with values that cannot be listed; where only strings and numbers may be listed, moves null out of the list. */
function toPlainEnum(
  node: JsonObject,
  values: readonly unknown[],
  path: string,
  isPlainOnly: boolean,
  warn: Warn,
): JsonObject {
  const others = values.filter(value => value !== null);
  const { enum: _, const: __, type, ...rest } = node;
  const key = own(node, 'enum') === undefined ? 'const' : 'enum';
  if (!values.every(isPrimitive) || (isPlainOnly && !others.every(isPlain))) {
    const types = [...new Set(values.map(typeOf))];
    warn(step(path, key), 'removed', 'values of this kind cannot be listed');
    if (type === undefined) warn(step(path, 'type'), 'changed', 'that of the values');
    return { type: type ?? (types.length === 1 ? types[0] : types), ...rest };
  }
  if (!isPlainOnly || others.length === values.length) return node;
  warn(step(path, key), 'changed', 'null stands beside it');
  if (type !== undefined) warn(step(path, 'type'), 'changed', 'null stands beside it');
  if (others.length === 0) return { ...rest, type: 'null' };
  const types = typesOf(node).filter(each => each !== 'null');
  const only = types.length === 1 ? types[0] : types;
  const listed = { ...(types.length === 0 ? {} : { type: only }), enum: others };
  return { ...rest, anyOf: [listed, { type: 'null' }] };
}

/** Keywords that do not affect validation. */
export const NOTES: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
  '$schema',
  '$id',
  '$defs',
  'definitions',
]);

export interface Choice {
  alternatives: unknown[];
  /** Members beside the choice that do not affect validation. */
  rest: JsonObject;
  path: string;
  /** Length of what all alternatives together repeat of the schema, as JSON. */
  sharedChars: number;
}

/** Returns a choice whose alternatives each include the rest of the schema; undefined where there is no choice. */
export function toChoice(
  schema: JsonObject,
  path: string,
  keywords: ReadonlySet<string>,
  warn: Warn,
): Choice | undefined {
  const { anyOf, oneOf, ...others } = schema;
  const key = Array.isArray(anyOf) ? 'anyOf' : 'oneOf';
  const given: unknown = schema[key];
  if (!Array.isArray(given) || given.length === 0) return undefined;
  const at = step(path, key);
  if (key === 'oneOf') warn(at, 'changed', 'any of them may hold, not exactly one');
  else if (oneOf !== undefined) warn(step(path, 'oneOf'), 'removed', 'there is another choice');
  const rest: JsonObject = {};
  const shared: JsonObject = {};
  for (const [name, value] of Object.entries(others)) {
    if (NOTES.has(name) || !keywords.has(name)) rest[name] = value;
    else {
      shared[name] = value;
      warn(step(path, name), 'changed', 'said in each of the alternatives');
    }
  }
  if (Object.keys(shared).length === 0) {
    return { alternatives: given, rest, path: at, sharedChars: 0 };
  }
  warn(at, 'changed', 'each alternative says all of it');
  const alternatives = given.map((each: unknown) =>
    isObject(each) ? { allOf: [each, shared] } : each === true ? shared : each,
  );
  const sharedChars = JSON.stringify(shared).length * given.length;
  return { alternatives, rest, path: at, sharedChars };
}

/** Types implied by keywords that apply only to them. */
const IMPLIED: readonly (readonly [string, readonly string[]])[] = [
  [
    'object',
    [
      'properties',
      'required',
      'additionalProperties',
      'patternProperties',
      'minProperties',
      'maxProperties',
    ],
  ],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'contains']],
  ['string', ['pattern', 'format', 'minLength', 'maxLength']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

/** Adds the type that the other keywords or values imply, if the schema names none. */
export function withType(schema: JsonObject, path: string, warn: Warn): JsonObject {
  if (typesOf(schema).length > 0) return schema;
  const fixed = own(schema, 'const');
  const values = fixed === undefined ? own(schema, 'enum') : [fixed];
  const types = Array.isArray(values) ? [...new Set(values.map(typeOf))] : [];
  const [implied] =
    IMPLIED.find(([, keys]) => keys.some(key => own(schema, key) !== undefined)) ?? [];
  const type = types.length > 1 ? types : (types[0] ?? implied);
  if (type === undefined) return schema;
  warn(step(path, 'type'), 'changed', 'said, as its other keywords have it');
  return { type, ...schema };
}
