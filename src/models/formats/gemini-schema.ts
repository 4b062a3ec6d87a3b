/**
 * What Gemini takes as a function: `parametersJsonSchema`, which is JSON Schema with few keywords. The older `parameters` takes fewer still.
 *
 * Sources: Gemini API reference, "FunctionDeclaration" and "Schema" (ai.google.dev/api/caching), and the types of the official client
 * (googleapis/js-genai, src/types.ts): names and names of parameters begin with a letter or `_`, letters, digits, `_` (`-` in names of
 * functions as well), 64 characters; the keywords of `responseJsonSchema`, the only list of them that is published: `enum` "for strings
 * and numbers", `oneOf` "interpreted the same as anyOf", `$ref` to `$defs` with nothing beside it, cyclic ones "unrolled to a limited degree".
 */
import type { ExportRules } from './export-tools.ts';
import type { SchemaRules } from './schema-rules.ts';

export const GEMINI_SCHEMA: SchemaRules = {
  properties: { characters: 'A-Za-z0-9_', first: 'A-Za-z_', maxChars: 64 },
  plainEnums: true,
  // One in a circle may stand in optional properties only, and is unrolled there; here it is written out, within bounds.
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

/** But for the form of a definition. A function cannot be held to its schema, so `strict` is the same. */
export const GEMINI_RULES: Omit<ExportRules, 'toDefinitions'> = {
  names: { characters: 'A-Za-z0-9_\\-', first: 'A-Za-z_', maxChars: 64 },
  schema: GEMINI_SCHEMA,
};
