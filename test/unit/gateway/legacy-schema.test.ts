/** Schemas for older clients: what is wrapped one level down, what stays, and what is left out because no client could validate with it. */
import { describe, expect, it } from 'vitest';
import {
  legacyInputSchema,
  legacyOutputSchema,
} from '../../../src/gateway/results/legacy-schema.ts';

const output = (schema: unknown): unknown => {
  const made = legacyOutputSchema(JSON.stringify(schema));
  return made === undefined ? undefined : JSON.parse(made);
};
const wrapped = (schema: object, more: object = {}) => ({
  ...more,
  type: 'object',
  properties: { result: schema },
  required: ['result'],
});
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

describe('an input schema', () => {
  it.each([
    '{ "type" : "object" }',
    '{ "type" : "object", "properties" : { "a" : { } } }',
    '{ "type" : "object", "properties" : [ ] }',
    `{ "$schema" : "${DIALECT}", "type" : "object" }`,
  ])('[MCP-7] that older clients accept is unchanged, byte for byte: %s', text => {
    expect(legacyInputSchema(text)).toBe(text);
  });

  it('[MCP-5] loses an invalid dialect', () => {
    expect(legacyInputSchema('{"$schema":7,"type":"object"}')).toBe('{"type":"object"}');
  });

  it('[MCP-7] keeps its properties byte for byte if something else is changed', () => {
    const text = '{"$schema":7,"type":"object","properties":{ "a" : { } }}';
    expect(legacyInputSchema(text)).toBe('{"type":"object","properties":{ "a" : { } }}');
  });

  it('[MCP-5] has an object for each property', () => {
    const text = '{"type":"object","properties":{"a":true,"b":false,"c":[],"d":{"type":"null"}}}';
    const made = '{"a":{},"b":{"not":{}},"c":{},"d":{"type":"null"}}';
    expect(legacyInputSchema(text)).toBe(`{"type":"object","properties":${made}}`);
  });
});

describe('an output schema', () => {
  it('[MCP-7] for an object is unchanged, byte for byte, except for its own id', () => {
    const text = '{ "type" : "object", "properties" : { "a" : { } } }';
    expect(legacyOutputSchema(text)).toBe(text);
    expect(output({ $id: 'https://a.example.com/x', type: 'object' })).toEqual({ type: 'object' });
    expect(output({ type: 'object', properties: { a: true } })).toEqual({
      type: 'object',
      properties: { a: {} },
    });
  });

  it.each([true, false, null, 7, 'text', []])('[MCP-5] that is %j is left out', schema => {
    expect(output(schema)).toBeUndefined();
  });

  it('[MCP-5] keeps its dialect, but no id', () => {
    const list = { type: 'array' };
    const named = { $schema: DIALECT, ...list };
    expect(output(named)).toEqual(wrapped(named, { $schema: DIALECT }));
    expect(output({ $schema: 7, ...list })).toEqual(wrapped({ $schema: 7, ...list }));
    expect(output({ $id: 'x', ...list })).toEqual(wrapped(list));
  });

  it('[MCP-5] has its references adjusted', () => {
    const made = output({
      type: 'array',
      items: { $ref: '#/$defs/a' },
      $defs: { a: { $ref: '#' } },
    });
    expect(made).toEqual(
      wrapped({
        type: 'array',
        items: { $ref: '#/properties/result/$defs/a' },
        $defs: { a: { $ref: '#/properties/result' } },
      }),
    );
  });

  it('[MCP-7] keeps values that look like references, and names that look like keywords', () => {
    const value = { $ref: '#/$defs/a' };
    const named = { type: 'string' };
    const data = { const: value, enum: [value], default: value, examples: [value] };
    expect(output({ type: 'array', items: data })).toEqual(wrapped({ type: 'array', items: data }));
    const moved = { $ref: '#/properties/result/$defs/a' };
    const properties = (ref: object) => ({
      const: ref,
      enum: ref,
      default: ref,
      properties: ref,
      $defs: { properties: { const: ref } },
      $recursiveRef: named,
      $dynamicRef: named,
    });
    const schema = (ref: object) => ({
      type: 'array',
      items: { type: 'object', properties: properties(ref) },
      $defs: { a: named },
    });
    expect(output(schema(value))).toEqual(wrapped(schema(moved)));
  });

  it.each([
    { items: { $recursiveRef: '#' } },
    { anyOf: [{ type: 'string' }, { $recursiveRef: '#' }] },
    { items: { anyOf: [{ $dynamicRef: '#a' }] } },
    { $recursiveRef: '#' },
  ])('[MCP-5] is left out if its references cannot be adjusted: %j', schema => {
    expect(output({ type: 'array', ...schema })).toBeUndefined();
    // An object schema stays in place, with all references.
    expect(output({ type: 'object', ...schema })).toEqual({ type: 'object', ...schema });
  });
});
