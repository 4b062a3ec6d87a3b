/**
 * What Anthropic accepts as a tool. Without `strict` it accepts any JSON Schema 2020-12, except for limits on the root and on property
 * names.
 *
 * Sources: Anthropic docs, "Define tools" (names: `^[a-zA-Z0-9_-]{1,64}$`) and "Structured outputs", JSON Schema limitations and schema
 * complexity limits (platform.claude.com/docs/en/build-with-claude/structured-outputs): with `strict` closed objects, no recursion, no
 * bounds on numbers, strings and arrays except `minItems` 0 and 1, only the formats below; per request 20 strict tools, 24 optional
 * parameters and 16 with a choice of types. Error messages of the API, from issues: "Property keys should match pattern
 * '^[a-zA-Z0-9_.-]{1,64}$'", "input_schema does not support oneOf, allOf, or anyOf at the top level".
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import type { ExportRules } from './export-tools.ts';
import { bringDown } from './schema-down.ts';
import { childrenOf } from './schema-refs.ts';
import { own, Unsayable, type SchemaRules } from './schema-rules.ts';

const MAX_STRICT_TOOLS = 20;
const MAX_OPTIONAL = 24;
const MAX_CHOICES = 16;

const PROPERTIES = { characters: 'A-Za-z0-9_.\\-', maxChars: 64 };

const STRICT: SchemaRules = {
  isStrict: true,
  references: 'acyclic',
  properties: PROPERTIES,
  keywords: new Set([
    'type',
    'title',
    'description',
    'default',
    'enum',
    'const',
    'anyOf',
    'properties',
    'required',
    'additionalProperties',
    'items',
    'minItems',
    'format',
  ]),
  formats: new Set([
    'date-time',
    'time',
    'date',
    'duration',
    'email',
    'hostname',
    'uri',
    'ipv4',
    'ipv6',
    'uuid',
  ]),
  maxMinItems: 1,
};

export const ANTHROPIC_RULES: ExportRules = {
  names: { characters: 'A-Za-z0-9_\\-', maxChars: 64 },
  schema: { properties: PROPERTIES },
  strictSchema: STRICT,
  createCount,
  toDefinition: (head, schema, isStrict) => ({
    ...head,
    input_schema: schema,
    ...(isStrict ? { strict: true } : {}),
  }),
};

/** Returns a strict schema for the answer itself; undefined where the schema cannot be made strict. */
export function toAnthropicAnswer(schema: JsonObject): JsonObject | undefined {
  try {
    const found = bringDown(schema, STRICT, () => {});
    return createCount()(found) === undefined ? found : undefined;
  } catch (thrown) {
    if (!(thrown instanceof Unsayable)) throw thrown;
    return undefined;
  }
}

/** Returns a counter for the strict schemas of one request. The counter returns why another schema exceeds the limits, or undefined. */
function createCount(): (schema: JsonObject) => string | undefined {
  const total = { tools: 0, optional: 0, choices: 0 };
  return schema => {
    const { optional, choices } = measure(schema);
    if (total.tools >= MAX_STRICT_TOOLS) return `more than ${MAX_STRICT_TOOLS} strict tools`;
    if (total.optional + optional > MAX_OPTIONAL) {
      return `more than ${MAX_OPTIONAL} optional properties in all strict tools`;
    }
    if (total.choices + choices > MAX_CHOICES) {
      return `more than ${MAX_CHOICES} choices of types in all strict tools`;
    }
    total.tools += 1;
    total.optional += optional;
    total.choices += choices;
    return undefined;
  };
}

function measure(schema: unknown): { optional: number; choices: number } {
  if (!isObject(schema)) return { optional: 0, choices: 0 };
  const properties = own(schema, 'properties');
  const required = own(schema, 'required');
  const names = isObject(properties) ? Object.keys(properties) : [];
  const hasChoice = Array.isArray(own(schema, 'anyOf')) || Array.isArray(own(schema, 'type'));
  const total = {
    optional: names.length - (Array.isArray(required) ? required.length : 0),
    choices: hasChoice ? 1 : 0,
  };
  for (const child of childrenOf(schema)) {
    const { optional, choices } = measure(child);
    total.optional += optional;
    total.choices += choices;
  }
  return total;
}
