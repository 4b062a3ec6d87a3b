/**
 * Schemas as found in practice: older drafts, patterns beside other keywords, and lists that the validator alone would check too slowly.
 */
import { describe, expect, it } from 'vitest';
import { COMMON_PATTERNS } from '../../fixtures/common-patterns.ts';
import { ZOD_PATTERNS } from '../../fixtures/zod-patterns.ts';
import { checkSchema } from '../../../src/agents/ask/schema-check.ts';

const STEPS = 20_000;
const fitOf = (schema: unknown, value: unknown) => checkSchema(schema, value, STEPS).fit;
const BODY = 'a long text\n'.repeat(400);
const draft = (name: string) => `http://json-schema.org/${name}/schema#`;

it('[LLM-4] has a table of common patterns', () => {
  expect(Object.keys(ZOD_PATTERNS).length).toBeGreaterThan(35);
  expect(COMMON_PATTERNS.length).toBeGreaterThan(80);
});

describe.each(COMMON_PATTERNS)('$name', ({ schema, good, bad }) => {
  const beside = {
    type: 'object',
    properties: { text: schema, body: { type: 'string' } },
    required: ['text'],
  };

  it('[LLM-4] accepts good values and refuses bad ones, also beside a long text', () => {
    const verdicts = (texts: readonly string[]) =>
      texts.map(text => fitOf(beside, { text, body: BODY }));
    expect(verdicts(good)).toEqual(good.map(() => 'fits'));
    expect(verdicts(bad)).toEqual(bad.map(() => 'differs'));
    expect(bad.length).toBeGreaterThan(0);
  });

  it('[LLM-4] does the same in a list', () => {
    expect(fitOf({ items: schema }, good)).toBe('fits');
    expect(fitOf({ items: schema }, [...good, ...bad])).toBe('differs');
  });
});

describe('a schema as found in practice', () => {
  it.each<[string, object, unknown, unknown]>([
    [
      'a bound that is exclusive by a flag',
      { $schema: draft('draft-04'), minimum: 1, exclusiveMinimum: true, maximum: 5 },
      5,
      1,
    ],
    [
      'such a flag that is not set',
      { $schema: draft('draft-04'), maximum: 5, exclusiveMaximum: false },
      5,
      6,
    ],
    ['such a flag where no draft is said', { maximum: 5, exclusiveMaximum: true }, 4, 5],
    [
      'ids of draft 4',
      {
        $schema: draft('draft-04'),
        id: 'https://example.com/root.json',
        properties: { a: { $ref: 'part.json' } },
        definitions: { part: { id: 'part.json', type: 'string' } },
      },
      { a: 'x' },
      { a: 1 },
    ],
    [
      'ids that name a place in draft 4',
      {
        $schema: draft('draft-04'),
        items: { $ref: '#part' },
        definitions: { part: { id: '#part', type: 'string' } },
      },
      ['x'],
      [1],
    ],
    [
      'a property that is called id',
      { $schema: draft('draft-04'), properties: { id: { type: 'string' } } },
      { id: 'a' },
      { id: 1 },
    ],
    [
      'references of draft 4, beside which nothing counts',
      {
        $schema: draft('draft-04'),
        items: { $ref: '#/definitions/a', type: 'string' },
        definitions: { a: { type: 'number' } },
      },
      [1],
      ['1'],
    ],
    [
      'draft 6',
      {
        $schema: draft('draft-06'),
        exclusiveMinimum: 1,
        contains: { const: 3 },
        propertyNames: { minLength: 2 },
      },
      { ab: 1 },
      { a: 1 },
    ],
    [
      'ids of draft 6',
      {
        $schema: draft('draft-06'),
        $id: 'https://e.com/a',
        $ref: '#/definitions/b',
        definitions: { b: { type: 'null' } },
      },
      null,
      1,
    ],
    [
      'properties by pattern, and no others',
      {
        properties: { ab: { type: 'number' } },
        patternProperties: { '^a': { minimum: 3 }, b$: { maximum: 5 } },
        additionalProperties: false,
      },
      { ab: 4, ac: 3, b: 1 },
      { ab: 6 },
    ],
    [
      'no others than those by pattern',
      { patternProperties: { '^a': {} }, additionalProperties: false },
      { a: 1, ab: 2 },
      { a: 1, c: 2 },
    ],
    [
      'properties by pattern, none evaluated otherwise',
      {
        allOf: [{ patternProperties: { '^x-': { type: 'string' } } }],
        unevaluatedProperties: false,
      },
      { 'x-a': '1' },
      { y: 1 },
    ],
    [
      'properties by pattern beside a rule for names',
      { patternProperties: { '^a': { type: 'number' } }, propertyNames: { maxLength: 2 } },
      { ab: 1 },
      { abc: 1 },
    ],
    [
      'properties by pattern in objects of objects',
      {
        $defs: {
          tree: {
            patternProperties: { '^[a-z]$': { $ref: '#/$defs/tree' } },
            additionalProperties: { type: 'number' },
          },
        },
        $ref: '#/$defs/tree',
      },
      { a: { b: { long: 1 } }, other: 2 },
      { a: { b: { long: 'x' } } },
    ],
    [
      'a name by pattern that objects give a meaning to',
      { patternProperties: { proto: { type: 'string' } } },
      JSON.parse('{"__proto__":"a"}'),
      JSON.parse('{"__proto__":1}'),
    ],
    ['a pattern that is below not', { not: { pattern: '^a' } }, 'b', 'a'],
    ['one of two patterns', { oneOf: [{ pattern: '^a' }, { pattern: 'b$' }] }, 'a', 'ab'],
    ['two patterns at once', { pattern: '^a', allOf: [{ pattern: 'b$' }] }, 'ab', 'a'],
    ['a format alone', { format: 'email' }, 'a@example.com', 'a'],
    ['a format that nobody knows', { format: 'int32', type: 'integer' }, 1, 'a'],
    [
      'a pattern that goes beyond its format',
      { format: 'date-time', pattern: '^\\d{4}$' },
      '2026',
      '26',
    ],
    [
      'elements that differ',
      { uniqueItems: true },
      [1, '1', { a: 1, b: 2 }],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ])('[LLM-4] is read as it is meant: %s', (_what, schema, good, bad) => {
    expect([fitOf(schema, good), fitOf(schema, bad)]).toEqual(['fits', 'differs']);
  });

  it('[LLM-4] ignores patterns for absent values and for values that are no text', () => {
    const none = { pattern: '[' };
    const schema = { properties: { a: none, b: { type: 'number', ...none }, c: {} } };
    expect(fitOf(schema, { b: 1, c: 'x' })).toBe('fits');
    expect(fitOf(schema, { a: 'x' })).toBe('unusable');
    expect(fitOf({ properties: { a: { patternProperties: { '(': none } } } }, { a: {} })).toBe(
      'fits',
    );
  });

  it('[LLM-4] checks lists of many different elements, also beside long texts', () => {
    const schema = { properties: { list: { uniqueItems: true } } };
    const list = Array.from({ length: 3_000 }, (_, at) => ({ at }));
    expect(fitOf(schema, { list, body: BODY })).toBe('fits');
    expect(fitOf(schema, { list: [...list, { at: 1 }] })).toBe('unusable');
    expect(fitOf(schema, { list: ['a', 'b', 'a'], body: BODY })).toBe('differs');
    expect(fitOf(schema, { list: ['a', 'b'], points: [1, 1], body: BODY })).toBe('fits');
  });

  it('[LLM-4] reports why a pattern cannot be matched', () => {
    const detailOf = (pattern: string) => {
      const checked = checkSchema({ pattern }, 'a'.repeat(2_000), STEPS);
      return checked.fit === 'unusable' ? checked.detail : checked.fit;
    };
    expect(detailOf(String.raw`^(a)\1$`)).toBe(
      String.raw`a pattern refers back to what it matched: ^(a)\1$`,
    );
    expect(detailOf('[')).toBe('a pattern is not a regular expression: [');
    expect(detailOf('(?i:a)')).toBe('a pattern changes its flags: (?i:a)');
    expect(detailOf('[a-z]{1,900}@')).toBe('a pattern takes too long: [a-z]{1,900}@');
    expect(detailOf('a'.repeat(5_000))).toMatch(/^a pattern is too long: a+…$/);
    expect(detailOf('('.repeat(200) + ')'.repeat(200))).toMatch(/^a pattern is nested too deep: /);
  });

  it('[LLM-4] cannot select a pattern by the name of a format', () => {
    fitOf({ pattern: '^b' }, 'b');
    expect(fitOf({ format: 'pattern of a schema' }, 'a')).toBe('fits');
    expect(fitOf({ format: 'toString' }, 'a')).toBe('fits');
  });

  it('[LLM-4] is unusable if a flag has no bound to apply to', () => {
    expect(fitOf({ exclusiveMinimum: true }, 1)).toBe('unusable');
  });
});
