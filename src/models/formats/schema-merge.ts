/**
 * Merges schemas that apply together, or as alternatives, into one: for dialects without `allOf`, or without a choice at the root. Pure.
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { own, put, typesOf } from './schema-rules.ts';

const LARGER = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']);
const SMALLER = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']);
/** If both parts have one of these, both apply, which one schema cannot express. */
const CHOICES = new Set(['anyOf', 'oneOf']);

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/**
 * Merges schemas into one that accepts what all of them accept, or a little more.
 * @param warn called with each keyword of which only the first part's value counts
 */
export function mergeAll(
  parts: readonly JsonObject[],
  warn: (keyword: string) => void,
): JsonObject {
  const merged: JsonObject = {};
  for (const part of parts) {
    for (const [key, value] of Object.entries(part)) {
      const first = own(merged, key);
      if (first === undefined) put(merged, key, value);
      else if (!isSame(first, value)) put(merged, key, combine(key, first, value, warn));
    }
  }
  return merged;
}

function combine(
  key: string,
  one: unknown,
  other: unknown,
  warn: (keyword: string) => void,
): unknown {
  const areNumbers = typeof one === 'number' && typeof other === 'number';
  if (LARGER.has(key) && areNumbers) return Math.max(one, other);
  if (SMALLER.has(key) && areNumbers) return Math.min(one, other);
  if (Array.isArray(one) && Array.isArray(other)) {
    if (key === 'required') return [...new Set<unknown>([...one, ...other])];
    if (key === 'allOf') return [...(one as unknown[]), ...(other as unknown[])];
    if (key === 'enum') {
      const both = one.filter(value => other.some(each => isSame(each, value)));
      if (both.length > 0) return both;
    }
  }
  if (key === 'type') {
    const both = intersect(typesOf({ type: one }), typesOf({ type: other }));
    if (both.length > 0) return both.length === 1 ? both[0] : both;
  }
  if (key === 'additionalProperties' && (one === false || other === false)) return false;
  if (key === 'additionalProperties' || key === 'items') {
    if (one === true) return other;
    return other === true ? one : { allOf: [one, other] };
  }
  if (isObject(one) && isObject(other)) {
    if (key === 'properties') return mergeProperties(one, other);
    if (key === '$defs' || key === 'definitions') return { ...other, ...one };
  }
  if (!CHOICES.has(key) && key === '$schema') return one;
  warn(key);
  return one;
}

/** Intersects lists of types; an integer is a number. */
function intersect(one: readonly string[], other: readonly string[]): string[] {
  const has = (types: readonly string[], type: string) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  const both = [...one.filter(type => has(other, type)), ...other.filter(type => has(one, type))];
  return [...new Set(both)].filter(type => type !== 'number' || !both.includes('integer'));
}

function mergeProperties(one: JsonObject, other: JsonObject): JsonObject {
  const merged: JsonObject = { ...one };
  for (const [name, schema] of Object.entries(other)) {
    const first = own(one, name);
    const isAlone = first === undefined || isSame(first, schema);
    put(merged, name, isAlone ? schema : { allOf: [first, schema] });
  }
  return merged;
}

/**
 * Merges alternatives into one object that accepts what each accepts: it has all their properties and requires those that all of them
 * require.
 * @param alternatives schemas of objects, without choices of their own
 */
export function mergeAny(alternatives: readonly JsonObject[]): JsonObject {
  const byName = new Map<string, unknown[]>();
  for (const each of alternatives) {
    const properties = own(each, 'properties');
    for (const [name, schema] of Object.entries(isObject(properties) ? properties : {})) {
      const known = byName.get(name) ?? [];
      if (!known.some(one => isSame(one, schema))) known.push(schema);
      byName.set(name, known);
    }
  }
  const properties: JsonObject = {};
  for (const [name, schemas] of byName) {
    put(properties, name, schemas.length === 1 ? schemas[0] : { anyOf: schemas });
  }
  const lists = alternatives.map(each => {
    const required = own(each, 'required');
    return Array.isArray(required) ? (required as unknown[]) : [];
  });
  const required = (lists[0] ?? []).filter(name => lists.every(list => list.includes(name)));
  const isClosed = alternatives.every(each => own(each, 'additionalProperties') === false);
  return {
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(isClosed ? { additionalProperties: false } : {}),
  };
}
