/**
 * Anthropic's published rules for tools, implemented independently.
 *
 * Sources: platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools (names); docs/en/build-with-claude/structured-outputs, "JSON
 * Schema limitations" and "Schema complexity limits"; and the refusals of the API that `anthropic-schema.ts` cites.
 */
import { isObject, type JsonObject } from '../../../src/shared/protocol.ts';
import { checkReferences, eachSchema } from './rules.ts';

const STRICT_KEYWORDS = new Set(
  'type title description default enum const anyOf properties required additionalProperties items minItems format $ref $defs'.split(
    ' ',
  ),
);
const FORMATS = new Set(
  'date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '),
);

/** The rules that the tools of one request break, one line each. */
export function checkAnthropicTools(tools: readonly JsonObject[]): string[] {
  const strict = tools.filter(tool => tool['strict'] === true);
  const total = { optional: 0, choices: 0 };
  for (const { input_schema: root } of strict) {
    for (const { schema } of eachSchema(root)) {
      const properties = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
      const required = Array.isArray(schema['required']) ? schema['required'] : [];
      total.optional += properties.filter(name => !required.includes(name)).length;
      if ('anyOf' in schema || Array.isArray(schema['type'])) total.choices += 1;
    }
  }
  return [
    ...tools.flatMap(checkTool),
    ...(strict.length > 20 ? ['strict tools'] : []),
    ...(total.optional > 24 ? ['optional properties'] : []),
    ...(total.choices > 16 ? ['choices of types'] : []),
  ];
}

function checkTool({ name, input_schema: root, strict }: JsonObject): string[] {
  const found: string[] = [];
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(name))) found.push('name');
  if (!isObject(root) || root['type'] !== 'object') return [...found, 'root type'];
  for (const key of ['oneOf', 'anyOf', 'allOf']) if (key in root) found.push(`root ${key}`);
  found.push(...(strict === true ? checkReferences(root, { circles: false }) : []));
  for (const { schema, path } of eachSchema(root)) {
    const properties = Object.hasOwn(schema, 'properties') ? schema['properties'] : {};
    for (const property of Object.keys(isObject(properties) ? properties : {})) {
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(property)) found.push(`${path} ${property}`);
    }
    if (strict !== true) continue;
    for (const key of Object.keys(schema)) {
      if (!STRICT_KEYWORDS.has(key)) found.push(`${path} ${key}`);
    }
    if (Number(schema['minItems'] ?? 0) > 1) found.push(`${path} minItems`);
    if ('format' in schema && !FORMATS.has(String(schema['format']))) found.push(`${path} format`);
    const values = [schema['enum'] ?? []].flat();
    if (values.some(value => isObject(value) || Array.isArray(value))) found.push(`${path} enum`);
    const isObjects = [schema['type']].flat().includes('object');
    if (isObjects && schema['additionalProperties'] !== false) found.push(`${path} is open`);
  }
  return found;
}
