/**
 * What Gemini accepts as a function: `parametersJsonSchema`, which is JSON Schema with few keywords. The older `parameters` accepts even
 * fewer.
 *
 * Sources: Gemini API reference, "FunctionDeclaration" and "Schema" (ai.google.dev/api/caching), and the types of the official client
 * (googleapis/js-genai, src/types.ts): names of functions and parameters begin with a letter or `_` and contain letters, digits and `_`
 * (names of functions also `-`), 64 characters; the keywords of `responseJsonSchema`, the only published list: `enum` "for strings and
 * numbers", `oneOf` "interpreted the same as anyOf", `$ref` to `$defs` with nothing beside it, cyclic ones "unrolled to a limited degree".
 */
import type { ExportRules } from './export-tools.ts';
import type { SchemaRules } from './schema-rules.ts';

export const GEMINI_SCHEMA: SchemaRules = {
  properties: { characters: 'A-Za-z0-9_', first: 'A-Za-z_', maxChars: 64 },
  plainEnums: true,
  // Gemini allows a cyclic reference only in optional properties, and unrolls it; here it is written out, within bounds.
  references: 'acyclic',
  keywords: new Set([
    'type',
    'format',
    'title',
    'description',
    'enum',
    'items',
    'prefixItems',
    'minItems',
    'maxItems',
    'minimum',
    'maximum',
    'anyOf',
    'properties',
    'additionalProperties',
    'required',
  ]),
};

/** A function's schema cannot be enforced, so `strict` changes nothing. All functions are in a single entry of `tools`. */
export const GEMINI_RULES: ExportRules = {
  names: { characters: 'A-Za-z0-9_\\-', first: 'A-Za-z_', maxChars: 64 },
  schema: GEMINI_SCHEMA,
  toDefinition: (head, schema) => ({ ...head, parametersJsonSchema: schema }),
  toTools: functionDeclarations =>
    functionDeclarations.length === 0 ? [] : [{ functionDeclarations }],
};
