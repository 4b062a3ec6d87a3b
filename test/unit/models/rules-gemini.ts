/**
 * Google's published rules for functions, implemented independently.
 *
 * Sources: ai.google.dev/api/caching, "FunctionDeclaration" and "Schema"; ai.google.dev/api/generate-content, "GenerationConfig",
 * `responseJsonSchema`; googleapis/js-genai, src/types.ts.
 */
import { isObject, type JsonObject } from '../../../src/shared/protocol.ts';
import { checkReferences, eachSchema } from './rules.ts';

const KEYWORDS = new Set(
  (
    '$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf ' +
    'properties additionalProperties required propertyOrdering'
  ).split(' '),
);

/** The rules that a function breaks, one line each. */
export function checkGeminiFunction(fn: JsonObject): string[] {
  const { name, parametersJsonSchema: root } = fn;
  const found: string[] = [];
  if (!/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(String(name))) found.push('name');
  if ('parameters' in fn) found.push('both forms of parameters');
  if (!isObject(root) || root['type'] !== 'object') return [...found, 'root type'];
  found.push(...checkReferences(root, { circles: false }));
  for (const { schema, path } of eachSchema(root)) {
    for (const key of Object.keys(schema)) if (!KEYWORDS.has(key)) found.push(`${path} ${key}`);
    const properties = Object.hasOwn(schema, 'properties') ? schema['properties'] : {};
    for (const property of Object.keys(isObject(properties) ? properties : {})) {
      if (!/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/.test(property)) found.push(`${path} ${property}`);
    }
    const values = [schema['enum'] ?? []].flat();
    const isPlain = values.every(value => typeof value === 'string' || typeof value === 'number');
    if (!isPlain) found.push(`${path} enum`);
    const isReferring = '$ref' in schema;
    const others = Object.keys(schema).filter(key => !key.startsWith('$'));
    if (isReferring && others.length > 0) found.push(`${path} beside $ref`);
  }
  return found;
}
