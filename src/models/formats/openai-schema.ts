/**
 * What OpenAI accepts as a tool, in both of its APIs.
 *
 * Sources: OpenAI API reference, "FunctionDefinition" (names: letters, digits, `_` and `-`, 64 characters); OpenAI guide, "Structured
 * outputs", supported schemas (platform.openai.com/docs/guides/structured-outputs): the keywords and formats below, all properties
 * required, `additionalProperties: false`, 10 levels, 5,000 properties, 1,000 enum values, 120,000 characters of names and values, 15,000
 * in an enum of more than 250 values; definitions under `$defs`, also recursive ones. Error messages of the API, from issues: descriptions
 * of more than 1,024 characters ("string_above_max_length"), a choice at the root ("must have type 'object' and not have
 * 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"), "object schema missing properties", "array schema missing items", a reference
 * with anything beside it ("$ref cannot have keywords").
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import type { ExportRules } from './export-tools.ts';
import { bringDown } from './schema-down.ts';
import { childrenOf } from './schema-refs.ts';
import { own, Unsayable, type SchemaRules } from './schema-rules.ts';

const MAX_LEVELS = 10;
const MAX_PROPERTIES = 5_000;
const MAX_VALUES = 1_000;
const MAX_CHARS = 120_000;
const MANY_VALUES = 250;
const MAX_VALUE_CHARS = 15_000;

const STRICT: SchemaRules = {
  isStrict: true,
  allRequired: true,
  references: 'all',
  keywords: new Set([
    'type',
    'title',
    'description',
    'enum',
    'const',
    'anyOf',
    'properties',
    'required',
    'additionalProperties',
    'items',
    'minItems',
    'maxItems',
    'pattern',
    'format',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'multipleOf',
  ]),
  formats: new Set([
    'date-time',
    'time',
    'date',
    'duration',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'uuid',
  ]),
  findExcess,
};

/** All export rules except the form of a definition, which differs between the APIs. */
const RULES: Omit<ExportRules, 'toDefinition'> = {
  names: { characters: 'A-Za-z0-9_\\-', maxChars: 64 },
  maxDescriptionChars: 1_024,
  schema: { needsProperties: true, needsItems: true },
  strictSchema: STRICT,
};

/** Rules of Chat Completions, which vLLM and many others also speak. */
export const OPENAI_CHAT_RULES: ExportRules = {
  ...RULES,
  toDefinition: (head, schema, isStrict) => ({
    type: 'function',
    function: { ...head, parameters: schema, ...(isStrict ? { strict: true } : {}) },
  }),
};

/** Rules of the Responses API. A tool always has `strict`, because without it the API tries to be strict. */
export const OPENAI_RESPONSES_RULES: ExportRules = {
  ...RULES,
  toDefinition: (head, schema, isStrict) => ({
    type: 'function',
    ...head,
    parameters: schema,
    strict: isStrict,
  }),
};

/** Returns a schema for the answer itself: strict where it needs no change for that. */
export function toStrictAnswer({ name, schema }: { name: string; schema: JsonObject }): JsonObject {
  let isAsItIs = true;
  try {
    bringDown(schema, STRICT, () => (isAsItIs = false));
  } catch (thrown) {
    if (!(thrown instanceof Unsayable)) throw thrown;
    isAsItIs = false;
  }
  return { name, schema, strict: isAsItIs };
}

interface Size {
  levels: number;
  properties: number;
  values: number;
  chars: number;
  hasLongEnum: boolean;
}

function findExcess(schema: JsonObject): string | undefined {
  const size = { levels: 0, properties: 0, values: 0, chars: 0, hasLongEnum: false };
  measure(schema, 1, size);
  if (size.levels > MAX_LEVELS) return `more than ${MAX_LEVELS} levels`;
  if (size.properties > MAX_PROPERTIES) return `more than ${MAX_PROPERTIES} properties`;
  if (size.values > MAX_VALUES) return `more than ${MAX_VALUES} values of enums`;
  if (size.chars > MAX_CHARS) return `more than ${MAX_CHARS} characters of names and values`;
  return size.hasLongEnum ? `an enum of more than ${MAX_VALUE_CHARS} characters` : undefined;
}

function measure(schema: unknown, level: number, size: Size): void {
  if (!isObject(schema)) return;
  const properties = own(schema, 'properties');
  const values = own(schema, 'enum');
  const names = isObject(properties) ? Object.keys(properties) : [];
  const listed = Array.isArray(values) ? values : [];
  const fixed = Object.hasOwn(schema, 'const') ? [schema['const']] : [];
  const sum = (all: readonly unknown[]) =>
    all.reduce<number>((chars, each) => chars + String(each).length, 0);
  size.levels = Math.max(size.levels, level);
  size.properties += names.length;
  size.values += listed.length;
  size.chars += sum(names) + sum(listed) + sum(fixed);
  size.hasLongEnum ||= listed.length > MANY_VALUES && sum(listed) > MAX_VALUE_CHARS;
  for (const child of childrenOf(schema)) measure(child, level + 1, size);
}
