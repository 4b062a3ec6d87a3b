/** What a client's validator compiles, keyword by keyword: values that it accepts, and values at which it throws. */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { describe, expect, it } from 'vitest';
import { compiles } from '../../../src/gateway/results/schema-compiles.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';

const NUMBERS =
  'maximum minimum exclusiveMaximum exclusiveMinimum multipleOf maxLength minLength maxItems minItems minContains maxContains maxProperties minProperties';
const SCHEMAS =
  'not if then else contains propertyNames additionalProperties additionalItems unevaluatedProperties unevaluatedItems';
const MAPS = 'properties $defs definitions dependentSchemas';
const BROKEN = { type: 'no type' };
const words = (text: string) => text.split(' ');
/** A schema with this many levels. */
const nested = (depth: number, keyword: string, inner: unknown = {}): JsonObject =>
  Array.from({ length: depth }).reduce<unknown>(at => ({ [keyword]: at }), inner) as JsonObject;
/** References that point to each other, the last to something else. */
function chain(length: number): JsonObject {
  const defs = Array.from({ length }, (_, i) => [`d${i}`, { $ref: `#/$defs/d${i + 1}` }]);
  const $defs = { ...Object.fromEntries(defs), [`d${length}`]: { type: 'string' } } as JsonObject;
  // The reference that is checked first has the whole chain before it.
  return { $ref: '#/$defs/d0', $defs };
}

describe('a keyword', () => {
  it.each(words(NUMBERS))('[MCP-5] %s must be a number', keyword => {
    expect(compiles({ [keyword]: 1 })).toBe(true);
    for (const value of ['1', null, true]) expect(compiles({ [keyword]: value })).toBe(false);
  });

  it.each<[string, unknown[], unknown[]]>([
    ['uniqueItems', [true], [1, 'true']],
    ['format', ['uri', 'any'], [1]],
    ['pattern', ['^a$', '\\p{L}'], ['(', '(?i)a', '\\-', 7]],
    ['required', [[], ['a']], [['a', 1], [1, 'a'], 'a']],
    ['type', ['null', [], ['string', 'null']], ['any', ['string', 'any'], ['any', 'string'], 7]],
    ['enum', [[null]], [[], 'text', {}]],
    ['patternProperties', [{}, { a: {} }], [[], 'a', 7, { a: {}, '(': {} }, { '(': {}, a: {} }]],
    ['dependentRequired', [{}, { a: ['b'] }], [[], { a: 'b' }, { a: ['b'], c: [1] }]],
  ])('[MCP-5] %s must have a valid value', (keyword, good, bad) => {
    for (const value of good)
      expect([value, compiles({ [keyword]: value })]).toEqual([value, true]);
    for (const value of bad)
      expect([value, compiles({ [keyword]: value })]).toEqual([value, false]);
  });

  it('[MCP-5] nullable requires a type beside it', () => {
    expect(compiles({ type: 'string', nullable: true })).toBe(true);
    expect(compiles({ nullable: true })).toBe(false);
    expect(compiles({ type: 'string', nullable: 1 })).toBe(false);
  });

  it.each(words('formatMinimum formatMaximum formatExclusiveMinimum formatExclusiveMaximum'))(
    '[MCP-5] %s must limit a format that has an order, as the validator of SDK 1 wants it',
    keyword => {
      const validator = new AjvJsonSchemaValidator();
      const throwsAt = (schema: JsonObject) => {
        try {
          validator.getValidator(schema as never);
          return false;
        } catch {
          return true;
        }
      };
      const day = { format: 'date', [keyword]: '2026-11-27' };
      expect([compiles(day), throwsAt(day)]).toEqual([true, false]);
      for (const bad of [{ ...day, [keyword]: 7 }, { [keyword]: 'a' }, { ...day, format: 'email' }])
        expect([bad, compiles(bad), throwsAt(bad)]).toEqual([bad, false, true]);
    },
  );

  it.each(words(SCHEMAS))('[MCP-5] %s must be a schema', keyword => {
    for (const value of [{}, false, { type: 'string' }]) {
      expect(compiles({ [keyword]: value })).toBe(true);
    }
    for (const value of [BROKEN, [], null, 'x']) expect(compiles({ [keyword]: value })).toBe(false);
  });

  it.each(words('anyOf oneOf allOf prefixItems'))('[MCP-5] %s must list schemas', keyword => {
    expect(compiles({ [keyword]: [{}, true] })).toBe(true);
    for (const value of [[{}, BROKEN], [BROKEN, {}], {}, true, [7]]) {
      expect(compiles({ [keyword]: value })).toBe(false);
    }
  });

  it.each(words(MAPS))('[MCP-5] %s must map names to schemas', keyword => {
    expect(compiles({ [keyword]: { a: {}, type: true } })).toBe(true);
    for (const value of [{ a: {}, b: BROKEN }, { a: BROKEN, b: {} }, [], true, { a: 7 }]) {
      expect(compiles({ [keyword]: value })).toBe(false);
    }
  });

  it('[MCP-5] patternProperties must map expressions to schemas', () => {
    expect(compiles({ patternProperties: { '^a': BROKEN } })).toBe(false);
  });

  it('[MCP-5] items must be one schema or several', () => {
    for (const items of [{}, true, [], [{}, true]]) expect(compiles({ items })).toBe(true);
    for (const items of [BROKEN, [{}, BROKEN], [BROKEN, {}], 7]) {
      expect(compiles({ items })).toBe(false);
    }
  });

  it('[MCP-5] dependencies must be schemas or names', () => {
    expect(compiles({ dependencies: { a: ['b'], c: {}, d: [] } })).toBe(true);
    for (const value of [{ a: ['b'], c: BROKEN }, { a: [1] }, [], 'a']) {
      expect(compiles({ dependencies: value })).toBe(false);
    }
  });
});

describe('ids in a schema', () => {
  it('[MCP-5] are allowed only at the root', () => {
    expect(compiles({ $id: 'https://a.example.com/s', type: 'object' })).toBe(true);
    for (const name of ['id', '$anchor', '$dynamicAnchor', '$async']) {
      expect(compiles({ [name]: 'x' })).toBe(false);
      expect(compiles({ not: { [name]: 'x' } })).toBe(false);
    }
    expect(compiles({ not: { $id: 'x' } })).toBe(false);
  });

  it('[MCP-5] are harmless in values, and as names of properties', () => {
    const value = { $id: 'x', id: 'y' };
    for (const keyword of ['const', 'default']) expect(compiles({ [keyword]: value })).toBe(true);
    for (const keyword of ['enum', 'examples']) expect(compiles({ [keyword]: [value] })).toBe(true);
    expect(compiles({ properties: { id: {}, $id: {} } })).toBe(true);
  });

  it('[MCP-5] are found below unknown keywords', () => {
    for (const odd of [7, null, 'text', [], {}, { a: 1 }, { id: 7 }, [{ a: null }]]) {
      expect([odd, compiles({ 'x-odd': odd })]).toEqual([odd, true]);
    }
    const named = [
      { id: 'x' },
      { a: 1, $anchor: 'x' },
      { a: {}, b: { id: 'x' } },
      [1, { $id: 'x' }],
    ];
    for (const odd of named) expect([odd, compiles({ 'x-odd': odd })]).toEqual([odd, false]);
  });
});

describe('a reference', () => {
  const $defs = {
    'a/b': { type: 'string' },
    'c~d': {},
    'e f': {},
    list: { anyOf: [{}, {}] },
    yes: true,
    undefined: {},
  };

  it.each([
    '#',
    '#/$defs/a~1b',
    '#/$defs/c~0d',
    '#/$defs/e%20f',
    '#/$defs/list/anyOf/1',
    '#/properties/a',
  ])('[MCP-5] resolves within its own document: %s', $ref => {
    expect(compiles({ $defs, properties: { a: {}, b: { $ref } } })).toBe(true);
  });

  it.each([
    7,
    null,
    '',
    'a',
    '/$defs/list',
    '/#',
    'https://a.example.com/s',
    '#a',
    '#/$defs/none',
    '#/$defs/toString',
    '#/$defs/__proto__',
    '#/$defs/%E0',
    '#/$defs/list/anyOf/2',
    '#/$defs/list/anyOf',
    '#/title',
    '#/title/length',
    '#/default/a',
    '#/$defs/yes',
    '#/$defs/list/anyOf/',
    '#/$defs/list/anyOf/1/',
  ])('[MCP-5] that certainly resolves to nothing does not compile: %j', $ref => {
    const schema = { title: 'a', default: null, $defs, properties: { b: { $ref } } };
    expect(compiles(schema)).toBe(false);
  });

  it('[MCP-5] must resolve to a schema that compiles', () => {
    expect(compiles({ 'x-odd': BROKEN, not: { $ref: '#/x-odd' } })).toBe(false);
    expect(compiles({ 'x-odd': { type: 'string' }, not: { $ref: '#/x-odd' } })).toBe(true);
  });

  it('[MCP-5] must not end in itself', () => {
    expect(compiles({ $ref: '#' })).toBe(false);
    expect(compiles({ not: { $ref: '#/not' } })).toBe(false);
    const round = { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } };
    expect(compiles({ $defs: round })).toBe(false);
    expect(compiles({ properties: { a: { items: { $ref: '#' } } } })).toBe(true);
  });

  it('[SEC-9] is followed 63 times', () => {
    // The first is in the schema itself.
    expect(compiles(chain(62))).toBe(true);
    expect(compiles(chain(63))).toBe(false);
  });
});

describe('a deep schema', () => {
  it.each(['not', 'x-odd'])('[SEC-9] may have 64 levels: %s', keyword => {
    expect(compiles(nested(64, keyword))).toBe(true);
    expect(compiles(nested(65, keyword))).toBe(false);
  });
});
