/**
 * Whether a client's validator can compile a schema. SDK 1 compiles every output schema while it lists tools, and loses the whole list if
 * one throws. A Worker may not compile code, so this checks what Ajv 8 requires of the value of each keyword (draft-07 in SDK 1, 2020-12 in
 * SDK 2). A schema that is not certain to compile counts as one that does not. Pure; each part of a schema is read once.
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';

/** Deeper schemas would exhaust the stack of a client. */
const MAX_DEPTH = 64;
const TYPES = new Set<unknown>([
  'object',
  'array',
  'string',
  'number',
  'integer',
  'boolean',
  'null',
]);
/** Keywords that name a part of a schema; Ajv refuses two equal names, and `id` in any case. */
const NAMING = ['$id', 'id', '$anchor', '$dynamicAnchor', '$async'];
const DATA = new Set(['const', 'enum', 'default', 'examples']);
/** Formats whose values have an order. The keywords that limit it are of `ajv-formats`, which both SDKs add. */
const ORDERED = new Set<unknown>(['date', 'time', 'date-time', 'iso-time', 'iso-date-time']);
const LIMITS = [
  'formatMinimum',
  'formatMaximum',
  'formatExclusiveMinimum',
  'formatExclusiveMaximum',
];

type Check = (value: unknown, node: JsonObject) => boolean;
/** Schemas in the value of a keyword. */
type Inner = (value: unknown) => readonly unknown[];

const isNumber: Check = value => typeof value === 'number';
const isBoolean: Check = value => typeof value === 'boolean';
const isText = (value: unknown) => typeof value === 'string';
const limitsOrdered: Check = (value, node) => isText(value) && ORDERED.has(node['format']);
const isType = (value: unknown) => TYPES.has(value);
const areTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
const itself: Inner = value => [value];
const elements: Inner = value => (Array.isArray(value) ? value : [undefined]);
const values: Inner = value => (isObject(value) ? Object.values(value) : [undefined]);

/** Keywords that hold schemas. A value of the wrong form is given as `undefined`, which is no schema. */
const INNER: ReadonlyMap<string, Inner> = new Map([
  ...named(['not', 'if', 'then', 'else', 'contains', 'propertyNames'], itself),
  ...named(['additionalProperties', 'additionalItems'], itself),
  ...named(['unevaluatedProperties', 'unevaluatedItems'], itself),
  ...named(['anyOf', 'oneOf', 'allOf', 'prefixItems'], elements),
  ...named(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'], values),
  ['items', value => (Array.isArray(value) ? value : [value])],
  ['dependencies', value => values(value).filter(each => !areTexts(each))],
]);

const CHECKS: ReadonlyMap<string, Check> = new Map([
  ...named(['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum'], isNumber),
  ...named(['multipleOf', 'maxLength', 'minLength', 'maxItems', 'minItems'], isNumber),
  ...named(['minContains', 'maxContains', 'maxProperties', 'minProperties'], isNumber),
  ['uniqueItems', isBoolean],
  ['format', isText],
  ...named(LIMITS, limitsOrdered),
  ['pattern', isExpression],
  ['required', areTexts],
  ['type', value => isType(value) || (Array.isArray(value) && value.every(isType))],
  ['enum', value => Array.isArray(value) && value.length > 0],
  ['nullable', (value, node) => typeof value === 'boolean' && node['type'] !== undefined],
  ['patternProperties', value => isObject(value) && Object.keys(value).every(isExpression)],
  ['dependentRequired', value => values(value).every(areTexts)],
]);

/** Whether validators compile this schema without an error. An `$id` of the whole schema does no harm. */
export function compiles({ $id: _whole, ...schema }: JsonObject): boolean {
  return isFine(schema, { schema, seen: new Set() }, 0);
}

interface Document {
  schema: JsonObject;
  seen: Set<JsonObject>;
}

function isFine(node: unknown, document: Document, depth: number): boolean {
  if (typeof node === 'boolean') return true;
  if (!isObject(node) || depth > MAX_DEPTH) return false;
  if (document.seen.has(node)) return true;
  document.seen.add(node);
  if (NAMING.some(key => node[key] !== undefined)) return false;
  return Object.entries(node).every(([key, value]) => {
    if (CHECKS.get(key)?.(value, node) === false) return false;
    if (key === '$ref') {
      return ends(node, document) && isFine(target(value, document.schema), document, depth + 1);
    }
    const inner = INNER.get(key);
    if (inner) return inner(value).every(each => isFine(each, document, depth + 1));
    return DATA.has(key) || isNameless(value, depth + 1);
  });
}

/** Whether a chain of references ends in something that is no reference. */
function ends(node: JsonObject, { schema }: Document): boolean {
  let at: unknown = node;
  for (let i = 0; i < MAX_DEPTH; i += 1) {
    if (!isObject(at) || at['$ref'] === undefined) return true;
    at = target(at['$ref'], schema);
  }
  return false;
}

/** Whether no part below an unknown keyword names itself; Ajv looks for names there too. */
function isNameless(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  if (isObject(value) && NAMING.some(key => isText(value[key]))) return false;
  return Object.values(value).every(each => isNameless(each, depth + 1));
}

function isExpression(value: unknown): boolean {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** Returns the target of a reference in its own document; undefined if that is not certain. */
function target(reference: unknown, root: JsonObject): unknown {
  if (reference === '#') return root;
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const key = unescaped(part);
    if (key === undefined || typeof at !== 'object' || at === null) return undefined;
    if (!Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return isObject(at) ? at : undefined;
}

function unescaped(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

function named<T>(keys: readonly string[], value: T): [string, T][] {
  return keys.map(key => [key, value]);
}
