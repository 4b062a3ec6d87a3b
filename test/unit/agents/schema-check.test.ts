/** Foreign schemas: what fits, and what never counts as fitting because it cannot be checked. */
import { describe, expect, it } from 'vitest';
import { checkSchema } from '../../../src/agents/ask/schema-check.ts';

const STEPS = 20_000;
const fitOf = (schema: unknown, value: unknown) => checkSchema(schema, value, STEPS).fit;

const doubled = (levels: number) => ({
  $ref: '#/$defs/a0',
  $defs: Object.fromEntries(
    Array.from({ length: levels + 1 }, (_, level) => {
      const next = { $ref: `#/$defs/a${level + 1}` };
      return [`a${level}`, level === levels ? {} : { allOf: [next, next] }];
    }),
  ),
});

describe('a value against a foreign schema', () => {
  it.each<[string, unknown, unknown, unknown]>([
    [
      'properties',
      { properties: { a: { type: 'integer' } }, required: ['a'] },
      { a: 1 },
      { a: 'x' },
    ],
    ['no others', { properties: { a: {} }, additionalProperties: false }, { a: 1 }, { b: 1 }],
    ['a reference', { $defs: { n: { type: 'number' } }, items: { $ref: '#/$defs/n' } }, [1], ['1']],
    ['tuples', { prefixItems: [{ type: 'string' }], items: false }, ['a'], ['a', 1]],
    ['one of', { oneOf: [{ type: 'string' }, { minimum: 3 }] }, 4, 2],
    ['not', { not: { type: 'null' } }, 1, null],
    [
      'if and then',
      JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]}}'),
      { a: 1, b: 1 },
      { a: 1 },
    ],
    [
      'unevaluated',
      { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
      { a: 1 },
      { b: 1 },
    ],
    ['a pattern', { pattern: '^doc-[0-9]+$' }, 'doc-12', 'doc-'],
    ['dependent', { dependentRequired: { a: ['b'] } }, { a: 1, b: 1 }, { a: 1 }],
    [
      'a prototype by name',
      { properties: JSON.parse('{"__proto__":{"type":"string"}}') as object },
      {},
      JSON.parse('{"__proto__":1}'),
    ],
    [
      'draft 7',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        items: [{ type: 'string' }],
        additionalItems: false,
      },
      ['a'],
      ['a', 1],
    ],
    ['a schema that is a boolean', { properties: { a: true, b: false } }, { a: 1 }, { b: 1 }],
    [
      'words that only describe',
      { title: 't', examples: [1], 'x-note': { id: 5 }, type: 'null' },
      null,
      1,
    ],
  ])('[LLM-4] is checked by %s', (_what, schema, good, bad) => {
    expect([fitOf(schema, good), fitOf(schema, bad)]).toEqual(['fits', 'differs']);
  });

  it.each<[string, unknown]>([
    ['is no schema', 'object'],
    ['is null', null],
    ['names a type that is none', { type: 'strnig' }],
    ['has a bound in words', { minimum: '3' }],
    ['has properties in a list', { properties: [] }],
    ['has a part that is no schema', { properties: { a: 3 } }],
    ['refers to what is not there', { $ref: '#/$defs/none' }],
    ['refers to another document', { $ref: 'https://example.com/schema.json' }],
    ['refers to itself for ever', { $ref: '#' }],
    ['refers by what is not followed', { $dynamicRef: '#a' }],
    ['pretends to be resolved', { $ref: '#/a', __absolute_ref__: '#' }],
    ['is of a draft nobody knows', { $schema: 'https://example.com/draft' }],
    ['multiplies its references', doubled(40)],
    ['has a pattern that looks back at itself', { pattern: String.raw`^(a+)\1+$` }],
    ['has a pattern that is none', { pattern: '[' }],
    ['has a pattern with too many ways', { pattern: '((a{0,90}){0,90}){0,90}b' }],
  ])('[LLM-4] is never taken to fit a schema that %s', (_what, schema) => {
    expect(fitOf(schema, 'a'.repeat(40))).toBe('unusable');
  });

  it('[LLM-4] stops a schema that branches with the depth of the value', () => {
    const node = { properties: { a: { $ref: '#' } } };
    let value: object = {};
    for (let i = 0; i < 30; i += 1) value = { a: value };
    expect(fitOf({ anyOf: [node, node, { required: ['z'] }] }, value)).toBe('unusable');
  });

  it('[LLM-4] reports the place and the reason on one bounded line', () => {
    const schema = { properties: { id: { type: 'string', pattern: '^[a-z]+$' } } };
    const checked = checkSchema(schema, { id: `X\n${'y'.repeat(400)}` }, STEPS);
    expect(checked).toEqual({ fit: 'differs', detail: '/id: String does not match pattern.' });
  });
});
