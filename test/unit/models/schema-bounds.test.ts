/** Hostile, malformed and unusual schemas: exports are bounded, terminate, and report what they cut. */
import { describe, expect, it } from 'vitest';
import { FORMATS } from '../../../src/models/formats/dialect.ts';
import { dialectOf } from '../../../src/models/formats/dialects.ts';
import { toFittingNames } from '../../../src/models/formats/names.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';
import { definitionsOf, schemaOf } from './losses.ts';

const MODES = FORMATS.flatMap(format => [
  { format, strict: false },
  { format, strict: true },
]);
const nested = (depth: number): JsonObject => {
  let schema: JsonObject = { type: 'string' };
  for (let at = 0; at < depth; at += 1) schema = { type: 'object', properties: { a: schema } };
  return schema;
};
const range = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const inside = (schema: JsonObject): JsonObject => ({ properties: { a: schema } });
/** Each definition contains the next one ten times: 10^12 schemas when expanded. */
const bomb = {
  type: 'object',
  properties: { a: { $ref: '#/$defs/D0' } },
  $defs: Object.fromEntries(
    Array.from({ length: 12 }, (_, level) => [
      `D${level}`,
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 10 }, (__, at) => [`p${at}`, { $ref: `#/$defs/D${level + 1}` }]),
        ),
      },
    ]),
  ),
};

describe.each(MODES)('$format, strict $strict', ({ format, strict }) => {
  const exportOne = (inputSchema: JsonObject) => {
    const exported = dialectOf(format).toTools([{ name: 'tool', inputSchema }], { strict });
    const [definition = {}] = definitionsOf(format, exported.tools);
    return { ...exported, schema: schemaOf(definition) };
  };

  it('[LLM-1] nesting of any depth is cut, and reported', () => {
    const { schema, warnings, toArguments } = exportOne(nested(20_000));
    expect(JSON.stringify(schema).length).toBeLessThan(10_000);
    expect(warnings.some(({ detail }) => detail.startsWith('cut:'))).toBe(true);
    let given: JsonObject = {};
    for (let at = 0; at < 5_000; at += 1) given = { a: given };
    expect(toArguments('tool', given)).toBeDefined();
  });

  it('[LLM-1] references that grow exponentially are cut', () => {
    const { schema, warnings } = exportOne(bomb);
    expect(JSON.stringify(schema).length).toBeLessThan(1_000_000);
    expect(warnings.length).toBeLessThan(20_000);
  });

  it.each<[string, JsonObject]>([
    [
      'parts with one property',
      { allOf: range(4_000, i => ({ properties: { a: { minLength: i } } })) },
    ],
    [
      'parts with a property each',
      { allOf: range(4_000, i => ({ properties: { [`a${i}`]: {} } })) },
    ],
    ['alternatives', { anyOf: range(4_000, i => ({ properties: { a: { const: i } } })) }],
    [
      'lists of values',
      inside({ allOf: [{ enum: range(10_000, i => i) }, { enum: range(10_000, i => i + 9_999) }] }),
    ],
    [
      'values beside alternatives',
      inside({ enum: range(3_000, i => `v${i}`), anyOf: range(2_000, i => ({ minItems: i })) }),
    ],
  ])(
    '[LLM-1] many %s take little time and room',
    (_, schema) => {
      const exported = exportOne({ type: 'object', ...schema });
      expect(JSON.stringify(exported.schema).length).toBeLessThan(1_000_000);
    },
    5_000,
  );

  it('[LLM-1] leave what comes after them as it is', () => {
    const many = {
      enum: range(3_000, i => `v${i}`),
      anyOf: range(2_000, i => ({ minItems: i })),
    };
    const plain = { type: 'string', description: 'As it was' };
    const { schema } = exportOne({ type: 'object', properties: { many, plain } });
    expect(schema['properties']).toMatchObject({ plain });
  });

  it.each<[string, JsonObject]>([
    ['a reference to itself', { $ref: '#' }],
    [
      'references in a ring',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    ],
    [
      'a reference out of the document',
      { type: 'object', properties: { a: { $ref: 'https://example.com/a' } } },
    ],
    [
      'keywords of other types',
      { type: 'object', properties: [], required: 'a', anyOf: {}, enum: 7 },
    ],
    [
      'schemas that are none',
      { type: 'object', properties: { a: null, b: 7, c: [] }, allOf: [null] },
    ],
    ['another type', { type: 'string' }],
    [
      'choices in choices',
      { anyOf: [{ oneOf: [{ properties: { a: true } }, { allOf: [{ anyOf: [{}] }] }] }] },
    ],
    ['nothing that may be given', { type: 'object', properties: { a: false }, required: ['a'] }],
  ])('[LLM-1] %s', (_, inputSchema) => {
    const { schema, warnings } = exportOne(inputSchema);
    expect(schema['type']).toBe('object');
    expect(warnings.length > 0 || JSON.stringify(schema) === JSON.stringify(inputSchema)).toBe(
      true,
    );
  });
});

describe('names', () => {
  it('[LLM-1] stay unique, also if one is what another would become, in any order', () => {
    const rule = { characters: 'a-z_0-9', first: 'a-z_', maxChars: 20 };
    const [[, made = ''] = []] = [...toFittingNames(['1 tool'], rule)];
    const names = ['1 tool', made, '1_tool', '1-tool', 'x'.repeat(30), `${'x'.repeat(29)}y`];
    const one = toFittingNames(names, rule);
    const other = toFittingNames(names.toReversed(), rule);
    expect(new Set(one.values()).size).toBe(names.length);
    for (const name of names) expect(other.get(name)).toBe(one.get(name));
    expect(one.get(made)).toBe(made);
    for (const name of one.values()) expect(name).toMatch(/^[a-z_][a-z_0-9]{0,19}$/);
  });
});
