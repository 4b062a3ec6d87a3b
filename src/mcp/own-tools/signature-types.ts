/**
 * The type of one parameter in a few characters, and whether that leaves out something of its schema. The schema is untrusted: whatever is
 * not plain is left out and marked, so that nothing in it can pass for something else. Pure.
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { toOneLine } from '../../shared/util/one-line.ts';

/** A type as it is shown; lossy where the schema says more. */
export interface Shown {
  text: string;
  isLossy: boolean;
}

const MAX_NAME_CHARS = 64;
const MAX_VALUE_CHARS = 40;
const MAX_VALUES = 12;
/** Most parameters of a tool that are shown, and most members of an object in a parameter. */
export const MAX_MEMBERS = 16;
const PLAIN_NAME = /^[\p{L}\p{N}_$.-]+$/u;
const WORDS: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean', 'null']);
/** Keywords that need no mark: the signature shows them, they only explain, or they hardly ever refuse a likely value. */
const SILENT: ReadonlySet<string> = new Set(
  (
    'type title description default examples $comment $schema $id deprecated readOnly writeOnly minLength maxLength ' +
    'minItems maxItems enum const items properties required minimum maximum'
  ).split(' '),
);
const LOSSY: Shown = { text: 'any', isLossy: true };

/** Whether a name or value is shown exactly as it is. */
const isPlain = (text: string, most: number) => toOneLine(text, most) === text;

/** Returns a name for display; undefined where it would not be shown exactly. */
export function toShownName(name: string): string | undefined {
  return PLAIN_NAME.test(name) && isPlain(name, MAX_NAME_CHARS) ? name : undefined;
}

/** Whether a schema says something that a signature cannot show. */
export function saysMore(schema: JsonObject): boolean {
  return Object.entries(schema).some(
    ([key, value]) =>
      !SILENT.has(key) &&
      !key.startsWith('x-') &&
      !(key === 'additionalProperties' && typeof value === 'boolean'),
  );
}

/** @param depth how many nested objects may still be written out */
export function toShownType(schema: unknown, depth: number): Shown {
  if (schema === true) return { text: 'any', isLossy: false };
  if (!isObject(schema)) return LOSSY;
  const union = toUnion(schema, depth);
  if (union) return union;
  const isLossy = saysMore(schema);
  const values = valuesOf(schema);
  if (values) return { text: values, isLossy };
  if (schema['enum'] !== undefined || schema['const'] !== undefined) {
    return { text: wordOf(schema['type']), isLossy: true };
  }
  if (schema['type'] === 'array') return toArray(schema['items'], depth, isLossy);
  if (schema['type'] === 'object') return toObject(schema, depth, isLossy);
  const text = wordOf(schema['type']);
  const range = rangeOf(schema);
  const isShown = range === '' || text === 'integer' || text === 'number';
  return {
    text: isShown ? `${text}${range}` : text,
    isLossy: isLossy || text === 'any' || !isShown,
  };
}

/** A type that may also be null, which is how many programs write optional values. */
function toUnion({ anyOf, ...rest }: JsonObject, depth: number): Shown | undefined {
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || saysMore(rest)) return undefined;
  const isNull = (one: unknown) => isObject(one) && one['type'] === 'null';
  const other = anyOf.find(one => !isNull(one));
  if (other === undefined || !anyOf.some(isNull)) return undefined;
  const { text, isLossy } = toShownType(other, depth);
  return { text: `${text}|null`, isLossy };
}

function wordOf(type: unknown): string {
  if (WORDS.has(type)) return String(type);
  const isUnion = Array.isArray(type) && type.length > 0 && type.length <= WORDS.size;
  if (isUnion && type.every(one => WORDS.has(one))) return type.join('|');
  return type === 'object' || type === 'array' ? type : 'any';
}

/** The few values that something may have; undefined where there are none, too many, or some that cannot be shown exactly. */
function valuesOf(schema: JsonObject): string | undefined {
  const { enum: several, const: one } = schema;
  const values = one === undefined ? several : [one];
  if (!Array.isArray(values) || values.length === 0 || values.length > MAX_VALUES) return undefined;
  const texts = values.map(toShownValue);
  return texts.every(text => text !== undefined) ? texts.join('|') : undefined;
}

function toShownValue(value: unknown): string | undefined {
  if (typeof value === 'string') {
    return isPlain(value, MAX_VALUE_CHARS) ? JSON.stringify(value) : undefined;
  }
  const isExact = typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return isObject(value) || Array.isArray(value) || !isExact ? undefined : JSON.stringify(value);
}

function rangeOf({ minimum, maximum }: JsonObject): string {
  const from = typeof minimum === 'number' ? String(minimum) : '';
  const to = typeof maximum === 'number' ? String(maximum) : '';
  return from === '' && to === '' ? '' : `(${from}..${to})`;
}

function toArray(items: unknown, depth: number, isLossy: boolean): Shown {
  if (items === undefined) return { text: 'array', isLossy: true };
  const { text, isLossy: isItemLossy } = toShownType(items, depth);
  const each = text.includes('|') ? `(${text})` : text;
  return { text: `${each}[]`, isLossy: isLossy || isItemLossy };
}

function toObject(schema: JsonObject, depth: number, isLossy: boolean): Shown {
  const members = depth > 0 ? toMembers(schema, depth - 1) : [];
  if (members.length === 0 || members.length > MAX_MEMBERS)
    return { text: 'object', isLossy: true };
  return {
    text: `{${members.map(({ text }) => text).join(', ')}}`,
    isLossy: isLossy || members.some(member => member.isLossy),
  };
}

/** The members of an object, required ones first. */
export function toMembers(schema: JsonObject, depth: number): Shown[] {
  const { required } = schema;
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  const known = Object.entries(properties);
  const undescribed = [...needed].flatMap((name): [string, undefined][] =>
    typeof name === 'string' && !Object.hasOwn(properties, name) ? [[name, undefined]] : [],
  );
  const ordered: [name: string, own: unknown][] = [
    ...known.filter(([name]) => needed.has(name)),
    ...undescribed,
    ...known.filter(([name]) => !needed.has(name)),
  ].slice(0, MAX_MEMBERS + 1);
  return ordered.map(([name, own]) => {
    const shown = toShownName(name);
    const mark = needed.has(name) ? '*' : '';
    // A name that cannot be shown exactly must not be used in a call.
    if (shown === undefined) return { text: `?${mark}~`, isLossy: true };
    const { text, isLossy } = toShownType(own, depth);
    return { text: `${shown}${mark}: ${text}${isLossy ? '~' : ''}`, isLossy };
  });
}
