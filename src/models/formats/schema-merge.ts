/**
 * Merges schemas that apply together, or as alternatives, into one: for dialects without `allOf`, or without a choice at the root. Pure.
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { own, put, typesOf } from './schema-rules.ts';

const LARGER = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']);
const SMALLER = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']);
/** Returns the values that differ, in their order. */
const distinct = (values: readonly unknown[]): unknown[] =>
  values.length === 1
    ? [...values]
    : [...new Map(values.map(value => [JSON.stringify(value), value])).values()];

/** Collects the members of objects by their names, each with the values that differ. */
function gather(objects: readonly JsonObject[]): Map<string, unknown[]> {
  const byName = new Map<string, unknown[]>();
  for (const each of objects) {
    for (const [name, value] of Object.entries(each)) {
      const known = byName.get(name);
      if (known) known.push(value);
      else byName.set(name, [value]);
    }
  }
  for (const [name, values] of byName) byName.set(name, distinct(values));
  return byName;
}

/** Makes one object of members with several values. */
function toMembers(
  byName: ReadonlyMap<string, readonly unknown[]>,
  join: (values: readonly unknown[], name: string) => unknown,
): JsonObject {
  const found: JsonObject = {};
  for (const [name, values] of byName) {
    put(found, name, values.length === 1 ? values[0] : join(values, name));
  }
  return found;
}

/**
 * Merges schemas into one that accepts what all of them accept, or a little more.
 * @param warn called with each keyword of which only the first part's value counts
 */
export function mergeAll(
  parts: readonly JsonObject[],
  warn: (keyword: string) => void,
): JsonObject {
  return toMembers(gather(parts), (values, key) => combine(key, values, warn));
}

function combine(
  key: string,
  values: readonly unknown[],
  warn: (keyword: string) => void,
): unknown {
  const [first] = values;
  const isLarger = LARGER.has(key);
  if ((isLarger || SMALLER.has(key)) && values.every(isNumber)) {
    return values.reduce((one, other) => (isLarger ? Math.max : Math.min)(one, other));
  }
  if (values.every(Array.isArray)) {
    const lists = values as readonly (readonly unknown[])[];
    if (key === 'required') return [...new Set(lists.flat())];
    if (key === 'allOf') return lists.flat();
    const both = key === 'enum' ? inAll(lists) : [];
    if (both.length > 0) return both;
  }
  if (key === 'type') {
    const both = values.map(type => typesOf({ type })).reduce(intersect);
    if (both.length > 0) return both.length === 1 ? both[0] : both;
  }
  if (key === 'additionalProperties' && values.includes(false)) return false;
  if (key === 'additionalProperties' || key === 'items') {
    const limiting = values.filter(value => value !== true);
    return limiting.length === 1 ? limiting[0] : { allOf: limiting };
  }
  if (values.every(isObject)) {
    if (key === 'properties') return toMembers(gather(values), schemas => ({ allOf: schemas }));
    if (key === '$defs' || key === 'definitions') return toMembers(gather(values), ([one]) => one);
  }
  if (key !== '$schema') warn(key);
  return first;
}

const isNumber = (value: unknown): value is number => typeof value === 'number';

/** Returns the values of the first list that all lists have. */
function inAll([first = [], ...others]: readonly (readonly unknown[])[]): unknown[] {
  const sets = others.map(list => new Set(list.map(value => JSON.stringify(value))));
  return first.filter(value => sets.every(set => set.has(JSON.stringify(value))));
}

/** Intersects lists of types; an integer is a number. */
function intersect(one: readonly string[], other: readonly string[]): string[] {
  const has = (types: readonly string[], type: string) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  const both = [...one.filter(type => has(other, type)), ...other.filter(type => has(one, type))];
  return [...new Set(both)].filter(type => type !== 'number' || !both.includes('integer'));
}

/**
 * Merges alternatives into one object that accepts what each accepts: it has all their properties and requires those that all of them
 * require.
 * @param alternatives schemas of objects, without choices of their own
 */
export function mergeAny(alternatives: readonly JsonObject[]): JsonObject {
  const listed = alternatives.map(each => own(each, 'properties')).filter(isObject);
  const properties = toMembers(gather(listed), schemas => ({ anyOf: schemas }));
  const lists = alternatives.map(each => {
    const required = own(each, 'required');
    return Array.isArray(required) ? (required as unknown[]) : [];
  });
  const required = inAll(lists);
  const isClosed = alternatives.every(each => own(each, 'additionalProperties') === false);
  return {
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(isClosed ? { additionalProperties: false } : {}),
  };
}
