/** Definitions that several places refer to: written once for dialects with references, else expanded within a bound. */
import { Validator, type Schema } from '@cfworker/json-schema';
import { describe, expect, it } from 'vitest';
import { FORMATS, type Format } from '../../../src/models/formats/dialect.ts';
import { dialectOf } from '../../../src/models/formats/dialects.ts';
import { isObject, type JsonObject } from '../../../src/shared/protocol.ts';
import { definitionsOf, schemaOf } from './losses.ts';
import { checkAnthropicTools } from './rules-anthropic.ts';
import { checkGeminiFunction } from './rules-gemini.ts';
import { checkOpenaiFunction } from './rules-openai.ts';

const MODES = FORMATS.flatMap(format => [
  { format, strict: false },
  { format, strict: true },
]);
const PROPERTIES = 12;

/** An object with several text properties. */
const leaf = (of: string): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: PROPERTIES }, (_, i) => [`${of}${i}`, { type: 'string' }]),
  ),
  required: Array.from({ length: PROPERTIES }, (_, i) => `${of}${i}`),
  additionalProperties: false,
});
const closed = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
/** This many properties that refer to one definition. */
const times = (count: number, $ref: string): JsonObject =>
  closed(Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { $ref }])));

/** As schema generators write them: definitions by name, or references to the place of the first one. */
const SHARED: Record<string, JsonObject> = {
  'by name': {
    ...times(12, '#/$defs/Middle'),
    $defs: { Middle: times(12, '#/$defs/Leaf'), Leaf: leaf('q') },
  },
  'under definitions': {
    ...times(12, '#/definitions/Middle'),
    definitions: { Middle: times(12, '#/definitions/Leaf'), Leaf: leaf('q') },
  },
  'by place': closed({
    first: closed({
      leaf: leaf('q'),
      ...(times(11, '#/properties/first/properties/leaf')['properties'] as JsonObject),
    }),
    ...(times(11, '#/properties/first')['properties'] as JsonObject),
  }),
};
/** A recursive tree with twelve branches. */
const TREE: JsonObject = {
  ...closed({ tree: { $ref: '#/$defs/Tree' } }),
  $defs: {
    Tree: {
      ...leaf('text'),
      properties: {
        ...(leaf('text')['properties'] as JsonObject),
        ...Object.fromEntries(
          Array.from({ length: 12 }, (_, i) => [`child${i}`, { $ref: '#/$defs/Tree' }]),
        ),
      },
    },
  },
};

function check(format: Format, definition: JsonObject): string[] {
  if (format === 'anthropic') return checkAnthropicTools([definition]);
  return format === 'gemini' ? checkGeminiFunction(definition) : checkOpenaiFunction(definition);
}

const sizeOf = (schema: JsonObject) => JSON.stringify(schema).length;

describe.each(MODES)('$format, strict $strict', ({ format, strict }) => {
  const exportOne = (inputSchema: JsonObject) => {
    const exported = dialectOf(format).toTools([{ name: 'tool', inputSchema }], { strict });
    const [definition = {}] = definitionsOf(format, exported.tools);
    return { ...exported, definition, schema: schemaOf(definition) };
  };

  it.each(Object.keys(SHARED))('[LLM-1] definitions %s are written once', how => {
    const own = SHARED[how] ?? {};
    const { schema, definition } = exportOne(own);
    expect(sizeOf(schema)).toBeLessThan(2 * sizeOf(own));
    expect(definition['strict'] === true).toBe(strict && format !== 'gemini');
    expect(check(format, definition)).toEqual([]);
  });

  it.each(Object.keys(SHARED))('[LLM-1] definitions %s accept the same values', how => {
    const own = new Validator((SHARED[how] ?? {}) as Schema, '2020-12');
    const brought = new Validator(exportOne(SHARED[how] ?? {}).schema as Schema, '2020-12');
    const inner = Object.fromEntries(Array.from({ length: PROPERTIES }, (_, i) => [`q${i}`, 'a']));
    const filled = (value: unknown, names: string[]) =>
      Object.fromEntries(names.map(name => [name, value]));
    const names = (first: string, from: string[]) =>
      how === 'by place' ? [first, ...from.slice(1)] : from;
    const all = Array.from({ length: 12 }, (_, i) => `p${how === 'by place' ? i - 1 : i}`);
    const value = filled(filled(inner, names('leaf', all)), names('first', all));
    expect(own.validate(value).valid).toBe(true);
    expect(brought.validate(value).valid).toBe(true);
    const wrong = { ...value, p1: 7 };
    expect(own.validate(wrong).valid).toBe(false);
    expect(brought.validate(wrong).valid).toBe(false);
  });

  it('[LLM-1] [SEC-4] a recursive definition is kept, or is cut within a bound and reported', () => {
    const { schema, warnings } = exportOne(TREE);
    const isKept = JSON.stringify(schema).includes('"$ref"');
    expect(isKept).toBe(format !== 'gemini');
    expect(sizeOf(schema)).toBeLessThan(isKept ? 2 * sizeOf(TREE) : 20 * sizeOf(TREE));
    expect(warnings.some(({ detail }) => detail.startsWith('cut:'))).toBe(!isKept);
  });

  it('[LLM-1] keywords beside a reference are kept, and moved where the dialect does not allow them there', () => {
    const described = { description: 'Where to', $ref: '#/$defs/Leaf' };
    const { schema } = exportOne({
      ...closed({ a: described, b: described }),
      $defs: { Leaf: leaf('q') },
    });
    const properties = schema['properties'] as Record<string, JsonObject>;
    const isPlain = !strict && format !== 'gemini';
    expect(properties['a']).toEqual(
      isPlain ? described : { description: 'Where to', anyOf: [{ $ref: '#/$defs/Leaf' }] },
    );
  });

  it('[LLM-1] an enum without values is removed and reported', () => {
    const { schema, warnings } = exportOne({
      ...closed({ a: { type: 'string', enum: [] } }),
    });
    const { a } = schema['properties'] as Record<string, JsonObject>;
    expect(isObject(a) && 'enum' in a).toBe(false);
    expect(warnings).toContainEqual(
      expect.objectContaining({ path: '/inputSchema/properties/a/enum', kind: 'removed' }),
    );
  });
});
