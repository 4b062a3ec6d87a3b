/**
 * Generates the form of a tool from its schema: one field for each property with a simple value, JSON for the others. The schema is
 * untrusted. Pure.
 */
import { fromRawMembers, rawMembers } from '../../../../src/shared/json/json-spans.ts';

export interface Field {
  name: string;
  kind: 'text' | 'number' | 'flag' | 'choice' | 'json';
  isRequired: boolean;
  description: string;
  /** Options of a choice. */
  options: readonly string[];
  /** Initial text. */
  initial: string;
}

const MAX_FIELDS = 100;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** The fields of a schema; undefined where it is too large for a form, or not an object. */
export function toFields(schema: unknown): Field[] | undefined {
  if (!isObject(schema)) return undefined;
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const names = Object.keys(properties);
  if (names.length > MAX_FIELDS) return undefined;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return names.map(name => toField(name, properties[name], required.includes(name)));
}

function toField(name: string, given: unknown, isRequired: boolean): Field {
  const property = isObject(given) ? given : {};
  const { type, enum: choices, default: initial, description } = property;
  const options = Array.isArray(choices) ? choices.filter(one => typeof one === 'string') : [];
  const isChoice = options.length > 0 && options.length === (choices as unknown[]).length;
  const kind = isChoice ? 'choice' : kindOf(type);
  return {
    name,
    kind,
    isRequired,
    description: textOf(description),
    options,
    initial: toInitial(initial, kind),
  };
}

/** Writes a default as it would be typed. Only JSON can say that nothing is given. */
function toInitial(value: unknown, kind: Field['kind']): string {
  if (value === undefined || (value === null && kind !== 'json')) return '';
  return typeof value === 'string' && kind !== 'json' ? value : JSON.stringify(value);
}

function kindOf(type: unknown): Field['kind'] {
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'boolean' ? 'flag' : 'json';
}

/** A whole number, also written as `1.0` or `1e3`. */
const WHOLE_NUMBER = /^(?:0|-?[1-9]\d*)(?:\.0+)?(?:e\+?\d+)?$/i;

/**
 * Converts the typed texts to arguments as JSON text, so that no number is rounded; or returns the first invalid field and why. Empty
 * optional fields are left out.
 */
export function toArguments(
  fields: readonly Field[],
  typed: Readonly<Record<string, string>>,
): { args: string } | { field: string; problem: string } {
  const args = new Map<string, string>();
  for (const { name, kind, isRequired } of fields) {
    const text = typed[name] ?? '';
    if (text === '' && !isRequired) continue;
    if (kind === 'text' || kind === 'choice') args.set(name, JSON.stringify(text));
    else if (kind === 'flag') args.set(name, String(text === 'true'));
    else {
      const value = parse(text);
      if (value === undefined || (kind === 'number' && typeof value !== 'number')) {
        return { field: name, problem: kind === 'number' ? 'is not a number' : 'is not JSON' };
      }
      const written = text.trim();
      // Some servers read only digits as a whole number. Without this pattern a rounded number would pass for one.
      const isWhole = Number.isSafeInteger(value) && WHOLE_NUMBER.test(written);
      args.set(name, isWhole ? String(value) : written);
    }
  }
  return { args: fromRawMembers(args) };
}

/**
 * Converts arguments as JSON text to typed texts, the reverse of `toArguments`; or returns the first argument that the fields cannot
 * express, and why. A missing argument is an empty text.
 */
export function toTyped(
  fields: readonly Field[],
  args: string,
): { typed: Record<string, string> } | { field: string; problem: string } {
  if (!isObject(parse(args))) return { field: 'arguments', problem: 'is not a JSON object' };
  const typed = new Map(fields.map(({ name }) => [name, '']));
  for (const [name, raw] of rawMembers(args)) {
    const field = fields.find(each => each.name === name);
    const value = parse(raw);
    const text = field?.kind !== 'json' && typeof value === 'string' ? value : raw;
    if (!field || !canExpress(field, text, value)) {
      return { field: name, problem: 'cannot be written in the form' };
    }
    typed.set(name, text);
  }
  return { typed: Object.fromEntries(typed) };
}

/** Whether the field sends this value if this text is typed. */
function canExpress(field: Field, text: string, value: unknown): boolean {
  if (text === '' || (field.kind === 'choice' && !field.options.includes(text))) return false;
  const { name } = field;
  const made = toArguments([field], { [name]: text });
  return 'args' in made && JSON.stringify(parse(made.args)) === JSON.stringify({ [name]: value });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
