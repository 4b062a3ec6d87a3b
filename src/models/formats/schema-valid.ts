/**
 * Replaces or removes what JSON Schema 2020-12 does not allow as the value of a keyword: an API refuses a request with all its tools for one
 * such value. Servers write older drafts, and null where there is nothing. Pure.
 *
 * Sources: the meta-schemas of JSON Schema 2020-12 (json-schema.org/draft/2020-12/meta); draft 4 (`exclusiveMinimum: true` beside `minimum`,
 * `required: true` at a property); draft 7 (a list as `items`, with `additionalItems`).
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { LISTS, MAPS, own, put, step, type Warn } from './schema-rules.ts';

type Check = (value: unknown) => boolean;

const isText: Check = value => typeof value === 'string';
const isFlag: Check = value => typeof value === 'boolean';
const isNumber: Check = value => typeof value === 'number';
const isCount: Check = value => Number.isInteger(value) && Number(value) >= 0;
const isFilled: Check = value => Array.isArray(value) && value.length > 0;

const checksOf = (isValid: Check, keys: string) =>
  keys.split(' ').map((key): [string, Check] => [key, isValid]);

/** What the value of a keyword has to be; anything where the keyword is missing. */
const CHECKS: ReadonlyMap<string, Check> = new Map([
  ...checksOf(isText, 'title description format pattern $comment'),
  ...checksOf(isFlag, 'uniqueItems deprecated readOnly writeOnly'),
  ...checksOf(isNumber, 'minimum maximum exclusiveMinimum exclusiveMaximum'),
  ...checksOf(isCount, 'minLength maxLength minItems maxItems minProperties maxProperties'),
  ...checksOf(value => isNumber(value) && Number(value) > 0, 'multipleOf'),
  ...checksOf(Array.isArray, 'enum examples'),
  ...[...LISTS].map((key): [string, Check] => [key, isFilled]),
  ...[...MAPS].map((key): [string, Check] => [key, isObject]),
]);

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

/** Returns a schema whose keywords have valid values; the same object if they had. It does not look into the schemas that it contains. */
export function toValid(schema: JsonObject, path: string, warn: Warn): JsonObject {
  const today = toTuple(
    toBound(toBound(schema, 'minimum', path, warn), 'maximum', path, warn),
    path,
    warn,
  );
  const values = Object.entries(today).map(
    ([key, value]) => [key, value, validOf(key, value)] as const,
  );
  if (values.every(([, value, valid]) => value === valid)) return today;
  const found: JsonObject = {};
  for (const [key, value, valid] of values) {
    if (valid !== undefined) put(found, key, valid);
    if (valid === value) continue;
    warn(
      step(path, key),
      valid === undefined ? 'removed' : 'changed',
      'JSON Schema allows no such value',
    );
  }
  return found;
}

/** Returns what is valid of a keyword's value; undefined where nothing is. */
function validOf(key: string, value: unknown): unknown {
  if (key === 'type')
    return isFilled(value) || isText(value) ? toDistinct(value, isType) : undefined;
  if (key === 'required') return Array.isArray(value) ? toDistinct(value, isText) : undefined;
  return CHECKS.get(key)?.(value) === false ? undefined : value;
}

const isType: Check = value => TYPES.includes(String(value));

/** Returns what is valid of a list, once each: the same list if that is all of it, undefined if nothing. A single value stays if it is valid. */
function toDistinct(value: unknown, isValid: Check): unknown {
  if (!Array.isArray(value)) return isValid(value) ? value : undefined;
  const valid = [...new Set<unknown>(value)].filter(isValid);
  if (valid.length === value.length) return value;
  return valid.length === 0 ? undefined : valid;
}

/** Draft 4 says with a flag that a bound itself is excluded. */
function toBound(schema: JsonObject, bound: 'minimum' | 'maximum', path: string, warn: Warn) {
  const flag = bound === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum';
  const { [bound]: limit, ...rest } = schema;
  if (own(schema, flag) !== true || !isNumber(limit)) return schema;
  warn(step(path, bound), 'changed', `said by ${flag}`);
  warn(step(path, flag), 'changed', 'has the bound itself');
  return { ...rest, [flag]: limit };
}

/** Until 2019-09 a list of `items` was what `prefixItems` is today, and `additionalItems` what `items` is. */
function toTuple(schema: JsonObject, path: string, warn: Warn): JsonObject {
  const { items, additionalItems: more, ...rest } = schema;
  if (!Array.isArray(items)) return schema;
  warn(step(path, 'items'), 'changed', 'said by prefixItems');
  if (more !== undefined) warn(step(path, 'additionalItems'), 'changed', 'said by items');
  const others = isObject(more) || isFlag(more) ? { items: more } : {};
  return { prefixItems: items, ...rest, ...others };
}
