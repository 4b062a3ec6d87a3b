/**
 * The fields of a form that a server asks a person to fill in (MCP 2026-07-28, "Elicitation": flat objects of strings, numbers, booleans
 * and choices): how each is described, and how a line of input is parsed. Pure, bounded; the form is outside data and may be anything.
 */
import { isObject, type JsonObject } from '../../../src/shared/protocol.ts';
import { tryJson } from '../../../src/shared/json/json-spans.ts';

export interface FormField {
  key: string;
  /** Its title, or else its key. */
  label: string;
  description: string;
  /** What input is allowed, in words. */
  hint: string;
  /** Shown numbered from 1, one per line; empty where any text is allowed. */
  choices: readonly string[];
  isRequired: boolean;
  /** The value for empty input. */
  fallback: unknown;
  /** Parses a line of input. @throws RangeError that says what is allowed */
  read(text: string): unknown;
}

interface Choice {
  value: string;
  title: string;
}
type Kind = Pick<FormField, 'hint' | 'choices' | 'read'>;

const MAX_FIELDS = 100;
const FORMATS: Readonly<Record<string, { hint: string; isRight(text: string): boolean }>> = {
  email: { hint: 'an email address', isRight: text => /^[^\s@]+@[^\s@]+$/.test(text) },
  uri: { hint: 'an address with its scheme', isRight: text => URL.canParse(text) },
  date: { hint: 'a date like 2026-11-23', isRight: text => /^\d{4}-\d\d-\d\d$/.test(text) },
  'date-time': {
    hint: 'a time like 2026-11-23T09:00:00Z',
    isRight: text => text.includes('T') && !Number.isNaN(Date.parse(text)),
  },
};

/** Returns the fields of a form, in its order. @param schema the `requestedSchema` */
export function toFields(schema: unknown): FormField[] {
  const { properties, required } = isObject(schema) ? schema : {};
  const wanted: unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {})
    .slice(0, MAX_FIELDS)
    .map(([key, property]) => {
      const field = isObject(property) ? property : {};
      return {
        key,
        label: textOf(field['title']) ?? key,
        description: textOf(field['description']) ?? '',
        isRequired: wanted.includes(key),
        fallback: field['default'],
        ...toKind(field),
      };
    });
}

function toKind(field: JsonObject): Kind {
  const { type } = field;
  if (type === 'boolean') return { hint: 'y or n', choices: [], read: readBoolean };
  if (type === 'number' || type === 'integer') return toNumber(field);
  const single = toChoices(field);
  if (single.length > 0) return toOneOf(single);
  const items = isObject(field['items']) ? toChoices(field['items']) : [];
  if (type === 'array' && items.length > 0) return toSomeOf(items, field);
  if (type === 'string') return toText(field);
  return { hint: 'JSON', choices: [], read: readJson };
}

/** `enum` with or without `enumNames`, or `oneOf` or `anyOf` with titles. */
function toChoices({ enum: values, enumNames, oneOf, anyOf }: JsonObject): Choice[] {
  const titled: unknown = oneOf ?? anyOf;
  if (Array.isArray(titled)) {
    return titled.filter(isObject).flatMap(({ const: value, title }) => {
      return typeof value === 'string' ? [{ value, title: textOf(title) ?? value }] : [];
    });
  }
  const names: unknown[] = Array.isArray(enumNames) ? enumNames : [];
  return (Array.isArray(values) ? (values as unknown[]) : []).flatMap((value, i) =>
    typeof value === 'string' ? [{ value, title: textOf(names[i]) ?? value }] : [],
  );
}

function toOneOf(choices: readonly Choice[]): Kind {
  return {
    hint: `1 to ${choices.length}`,
    choices: choices.map(({ title }) => title),
    read: text => pick(choices, text),
  };
}

function toSomeOf(choices: readonly Choice[], { minItems, maxItems }: JsonObject): Kind {
  const least = numberOf(minItems) ?? 0;
  const most = numberOf(maxItems) ?? choices.length;
  return {
    hint: `some of 1 to ${choices.length}, separated by commas`,
    choices: choices.map(({ title }) => title),
    read(text) {
      const words = text.split(',').map(word => word.trim());
      const picked = [
        ...new Set(words.filter(word => word !== '').map(word => pick(choices, word))),
      ];
      if (picked.length < least) throw new RangeError(`at least ${least} of them`);
      if (picked.length > most) throw new RangeError(`at most ${most} of them`);
      return picked;
    },
  };
}

/** Finds a choice by its number, its value or its title. */
function pick(choices: readonly Choice[], text: string): string {
  const byNumber = /^\d+$/.test(text) ? choices[Number(text) - 1] : undefined;
  const found = choices.find(({ value, title }) => value === text || title === text) ?? byNumber;
  if (!found) throw new RangeError(`one of 1 to ${choices.length}`);
  return found.value;
}

function toNumber({ type, minimum, maximum }: JsonObject): Kind {
  const least = numberOf(minimum) ?? -Infinity;
  const most = numberOf(maximum) ?? Infinity;
  const kind = type === 'integer' ? 'a whole number' : 'a number';
  const bounds = [
    Number.isFinite(least) ? ` from ${least}` : '',
    Number.isFinite(most) ? ` up to ${most}` : '',
  ].join('');
  return {
    hint: `${kind}${bounds}`,
    choices: [],
    read(text) {
      const value = text === '' ? NaN : Number(text);
      const isKind = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
      if (!isKind || value < least || value > most) throw new RangeError(`${kind}${bounds}`);
      return value;
    },
  };
}

function toText({ minLength, maxLength, format }: JsonObject): Kind {
  const known = typeof format === 'string' ? FORMATS[format] : undefined;
  const least = numberOf(minLength) ?? 0;
  const most = numberOf(maxLength) ?? Infinity;
  return {
    hint: known?.hint ?? 'text',
    choices: [],
    read(text) {
      const { length } = [...text];
      if (length < least) throw new RangeError(`at least ${least} characters`);
      if (length > most) throw new RangeError(`at most ${most} characters`);
      if (known && !known.isRight(text)) throw new RangeError(known.hint);
      return text;
    },
  };
}

function readBoolean(text: string): boolean {
  if (/^(y|yes|true)$/i.test(text)) return true;
  if (/^(n|no|false)$/i.test(text)) return false;
  throw new RangeError('y or n');
}

function readJson(text: string): unknown {
  const value = tryJson(text);
  if (value === undefined) throw new RangeError('JSON');
  return value;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;
