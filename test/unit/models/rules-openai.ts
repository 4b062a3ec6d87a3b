/**
 * OpenAI's published rules for functions, implemented independently.
 *
 * Sources: platform.openai.com/docs/api-reference/chat/create (tools: name of letters, digits, `_` and `-`, 64 characters);
 * platform.openai.com/docs/guides/structured-outputs, "Supported schemas"; and the refusals of the API that `openai-schema.ts` cites.
 */
import { isObject, type JsonObject } from '../../../src/shared/protocol.ts';
import { checkReferences, eachSchema, lengthOf } from './rules.ts';

const STRICT_KEYWORDS = new Set(
  (
    'type title description enum const anyOf properties required additionalProperties items minItems maxItems pattern format ' +
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf $ref $defs'
  ).split(' '),
);
const FORMATS = new Set('date-time time date duration email hostname ipv4 ipv6 uuid'.split(' '));

/** The rules that a function breaks, one line each. */
export function checkOpenaiFunction(fn: JsonObject): string[] {
  const { name, description, parameters, strict } = fn;
  const found: string[] = [];
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(name))) found.push('name');
  if (lengthOf(description) > 1_024) found.push('description');
  if (!isObject(parameters) || parameters['type'] !== 'object') return [...found, 'root type'];
  if (!isObject(parameters['properties'])) found.push('root without properties');
  for (const key of ['oneOf', 'anyOf', 'allOf', 'enum', 'not']) {
    if (key in parameters) found.push(`root ${key}`);
  }
  for (const { schema, path } of eachSchema(parameters)) {
    const types = [schema['type']].flat();
    if (types.includes('array') && !('items' in schema)) found.push(`${path} without items`);
  }
  return strict === true ? [...found, ...checkStrict(parameters)] : found;
}

function checkStrict(root: JsonObject): string[] {
  const found: string[] = [];
  found.push(...checkReferences(root, { circles: true }));
  const total = { properties: 0, values: 0, chars: 0, levels: 0 };
  for (const { schema, path, depth } of eachSchema(root)) {
    for (const key of Object.keys(schema)) {
      if (!STRICT_KEYWORDS.has(key)) found.push(`${path} ${key}`);
    }
    const isKnown = ['type', 'anyOf', '$ref', 'enum', 'const'].some(key => key in schema);
    if (!isKnown) found.push(`${path} of any type`);
    if ('format' in schema && !FORMATS.has(String(schema['format']))) found.push(`${path} format`);
    total.levels = Math.max(total.levels, depth + 1);
    const values = Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]) : [];
    total.values += values.length;
    total.chars += values.reduce<number>((sum, value) => sum + String(value).length, 0);
    if (![schema['type']].flat().includes('object')) continue;
    const properties = isObject(schema['properties']) ? schema['properties'] : undefined;
    const names = Object.keys(properties ?? {});
    total.properties += names.length;
    total.chars += names.reduce((sum, name) => sum + name.length, 0);
    if (schema['additionalProperties'] !== false) found.push(`${path} is open`);
    if (!properties) found.push(`${path} without properties`);
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    if (required.length !== names.length || !names.every(name => required.includes(name))) {
      found.push(`${path} does not require all`);
    }
  }
  if (total.levels > 10) found.push('levels');
  if (total.properties > 5_000) found.push('properties');
  if (total.values > 1_000) found.push('values of enums');
  if (total.chars > 120_000) found.push('characters');
  return found;
}
