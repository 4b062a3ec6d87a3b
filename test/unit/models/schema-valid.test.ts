/** Schemas of older drafts, and values that no draft allows: what is exported is JSON Schema 2020-12, whose meta-schema the APIs check. */
import { expect, it } from 'vitest';
import { FORMATS, type Format } from '../../../src/models/formats/dialect.ts';
import { dialectOf } from '../../../src/models/formats/dialects.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';
import { definitionsOf, schemaOf } from './losses.ts';

const inside = (schema: unknown): JsonObject => ({ type: 'object', properties: { a: schema } });
const exportOne = (format: Format, inputSchema: JsonObject) => {
  const { tools, warnings } = dialectOf(format).toTools([{ name: 't', inputSchema }], {
    strict: false,
  });
  const [definition = {}] = definitionsOf(format, tools);
  return { schema: schemaOf(definition), warnings };
};

it.each<[string, JsonObject, JsonObject]>([
  [
    'a flag for a bound',
    { type: 'integer', minimum: 0, exclusiveMinimum: true },
    { type: 'integer', exclusiveMinimum: 0 },
  ],
  [
    'a flag without its bound',
    { type: 'integer', maximum: 9, exclusiveMaximum: false },
    { type: 'integer', maximum: 9 },
  ],
  [
    'a list of items',
    { type: 'array', items: [{ type: 'string' }], additionalItems: false },
    { type: 'array', prefixItems: [{ type: 'string' }], items: false },
  ],
  ['a flag for a required property', { type: 'string', required: true }, { type: 'string' }],
  ['a type that there is not', { type: 'any' }, {}],
  ['types that there are not', { type: ['string', 'date', 'string'] }, { type: ['string'] }],
  ['no type', { type: [] }, {}],
  [
    'names twice',
    { type: 'object', properties: { b: {} }, required: ['b', 'b', 7] },
    { type: 'object', properties: { b: {} }, required: ['b'] },
  ],
  [
    'null for nothing',
    { type: 'string', description: null, enum: null, minLength: null },
    { type: 'string' },
  ],
  ['no choice', { type: 'string', anyOf: [], oneOf: null, allOf: [] }, { type: 'string' }],
  ['no properties', { type: 'object', properties: null }, { type: 'object' }],
])('[LLM-1] %s is not exported, and reported', (_, given, valid) => {
  expect(exportOne('anthropic', inside(given)).schema).toEqual(inside(valid));
  const byReference = (A: JsonObject) => ({ ...inside({ $ref: '#/$defs/A' }), $defs: { A } });
  expect(exportOne('anthropic', byReference(given)).schema).toEqual(byReference(valid));
  for (const format of FORMATS) {
    expect(exportOne(format, inside(given)).warnings.length).toBeGreaterThan(0);
  }
});

it('[LLM-1] keeps the meaning of a flag for a bound and of a list of items', () => {
  const inputSchema = {
    type: 'object',
    properties: {
      above: { type: 'integer', minimum: 0, exclusiveMinimum: true },
      pair: { type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'number' } },
    },
  };
  const exported = dialectOf('anthropic').toTools([{ name: 't', inputSchema }], { strict: false });
  expect(exported.tools).toMatchObject([
    {
      input_schema: {
        properties: {
          above: { type: 'integer', exclusiveMinimum: 0 },
          pair: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } },
        },
      },
    },
  ]);
  expect(exported.warnings.map(({ path }) => path.replace('/inputSchema/properties/', ''))).toEqual(
    ['above/minimum', 'above/exclusiveMinimum', 'pair/items', 'pair/additionalItems'],
  );
});

it('[LLM-1] renames what an API refuses in a list of items too', () => {
  const one = { type: 'object', properties: { 'from/to': { type: 'string' } } };
  const { schema } = exportOne('anthropic', inside({ type: 'array', items: [one] }));
  expect(JSON.stringify(schema)).not.toContain('from/to');
  expect(JSON.stringify(schema)).toContain('prefixItems');
});
