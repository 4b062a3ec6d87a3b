/** Tools of 2026-07-28 in lists for older clients: one odd tool never costs the client the others. */
import { describe, expect, it } from 'vitest';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { toLegacyResult, toLegacyTool } from '../../../src/gateway/results/legacy-tool.ts';
import { fromRawMembers, rawMembers } from '../../../src/shared/json/json-spans.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';
import { generateSchema } from '../models/generated-schemas.ts';
import { createRandom, SEED } from '../seeded.ts';
import { LIST_CLIENTS } from './list-clients.ts';
import { oddTool } from './odd-tools.ts';

const itemOf = (tool: JsonObject) => ({
  key: String(tool['name']),
  raw: rawMembers(JSON.stringify(tool)),
});
const toLegacy = (tool: JsonObject) =>
  JSON.parse(fromRawMembers(toLegacyTool(itemOf(tool)).raw)) as JsonObject;
const resultOf = (tool: JsonObject, result: JsonObject) =>
  JSON.parse(toLegacyResult(itemOf(tool), JSON.stringify(result), result)) as JsonObject;

const input = { type: 'object' };
const PLAIN = { name: 'plain', inputSchema: input };

it('[MCP-5] a tool for older clients is converted once', () => {
  const item = itemOf({ ...PLAIN, outputSchema: { type: 'array' } });
  const made = toLegacyTool(item);
  expect(made).not.toBe(item);
  expect(toLegacyTool(item)).toBe(made);
  // A catalog holds it as it was accepted, with missing members.
  expect(toLegacyTool(itemOf({ name: 'bare' })).key).toBe('bare');
});

it('[MCP-5] a result that has text beside other blocks gets no other text', () => {
  const content = [
    { type: 'image', data: '', mimeType: 'image/png' },
    { type: 'text', text: 'x' },
  ];
  const tool = { ...PLAIN, outputSchema: { type: 'array' } };
  expect(resultOf(tool, { content, structuredContent: [1] })).toEqual({
    content,
    structuredContent: { result: [1] },
  });
});

const ODD: readonly JsonObject[] = [
  {
    name: 'array out',
    inputSchema: input,
    outputSchema: { type: 'array', items: { type: 'string' } },
  },
  { name: 'no type', inputSchema: input, outputSchema: {} },
  {
    name: 'reference',
    inputSchema: input,
    outputSchema: { $ref: '#/$defs/a', $defs: { a: { type: 'object' } } },
  },
  { name: 'any', inputSchema: { type: 'object', properties: { any: true, none: false } } },
  {
    name: 'any out',
    inputSchema: input,
    outputSchema: { type: 'object', properties: { any: true } },
  },
  { name: 'list', inputSchema: { type: 'object', properties: { odd: [] } } },
  {
    name: 'lost',
    inputSchema: input,
    outputSchema: { type: 'object', items: { $ref: '#/$defs/none' } },
  },
  { name: 'kind', inputSchema: input, outputSchema: { type: 'object', items: { type: 'date' } } },
  { name: 'deep', inputSchema: input, outputSchema: nested(400) },
];

function nested(levels: number): JsonObject {
  let schema: JsonObject = { type: 'string' };
  for (let i = 0; i < levels; i += 1) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

describe.each(LIST_CLIENTS)('$name', ({ list }) => {
  it.each(ODD)('[MCP-4] [MCP-5] lists all tools beside the tool "$name"', async tool => {
    const listed = await list([PLAIN, tool, PLAIN].map(toLegacy));
    expect(listed.tools).toEqual(['plain', tool['name'], 'plain']);
  });

  it(`[MCP-4] [MCP-5] lists all of 400 odd tools (seed ${SEED})`, async () => {
    const random = createRandom();
    const tools = Array.from({ length: 400 }, (_, i) => oddTool(random, `t${i}`));
    const listed = await list(tools.map(toLegacy));
    expect(listed.tools).toEqual(tools.map(({ name }) => name));
  });
});

/** Results of a tool, with the output schema that it declares. */
const ANSWERS: readonly { schema?: JsonObject; value: unknown }[] = [
  { schema: { type: 'array', items: { type: 'number' } }, value: [1, 2.5] },
  { schema: { $ref: '#/$defs/a', $defs: { a: { type: 'object' } } }, value: { a: 1 } },
  { schema: {}, value: null },
  { schema: { type: 'string' }, value: 'text' },
  { value: [[]] },
  { schema: { type: 'object', properties: { a: true } }, value: { a: 1 } },
  { schema: { anyOf: [{ type: 'object' }] }, value: { result: 1 } },
];

describe.each(LIST_CLIENTS)('results for $name', ({ list }) => {
  it.each(ANSWERS)('[MCP-5] [MCP-7] accepts $value for $schema', async ({ schema, value }) => {
    const tool = { name: 'a', inputSchema: input, outputSchema: schema };
    const result = { resultType: 'complete', content: [], structuredContent: value };
    const listed = await list([toLegacy(tool)], resultOf(tool, result));
    const isWrapped = schema?.['type'] !== 'object' && (schema || Array.isArray(value));
    expect(await listed.call('a')).toMatchObject({
      structuredContent: isWrapped ? { result: value } : value,
    });
  });
});

describe('toLegacyResult', () => {
  const array = itemOf({ name: 'a', inputSchema: input, outputSchema: { type: 'array' } });
  const change = (text: string) => toLegacyResult(array, text, JSON.parse(text) as JsonObject);

  it('[MCP-7] keeps every byte except the wrapping', () => {
    const text =
      '{ "content" : [ {"type":"text","text":"\\u00e9"} ],\n"x":1e400, "structuredContent" : [ 1.0, 2e2 ] }';
    const wrapped = text.replace('[ 1.0, 2e2 ]', '{"result":[ 1.0, 2e2 ]}');
    expect(change(text)).toBe(wrapped);
  });

  it('[MCP-7] adds a text for structured content without one', () => {
    const image = '{"type":"image","data":"","mimeType":"image/png"}';
    expect(change(`{"content":[${image}],"structuredContent":[1.0]}`)).toBe(
      `{"content":[${image},{"type":"text","text":"[1.0]"}],"structuredContent":{"result":[1.0]}}`,
    );
    expect(change('{"structuredContent":7}')).toBe(
      '{"structuredContent":{"result":7},"content":[{"type":"text","text":"7"}]}',
    );
  });

  it('[MCP-7] leaves what a server of both eras has wrapped itself, and nothing else', () => {
    const wrapped = '{"content":[],"structuredContent":{"result":[1]}}';
    expect(change(wrapped)).toBe(wrapped);
    expect(change('{"content":[],"structuredContent":{"a":1}}')).toContain('{"result":{"a":1}}');
    expect(change(wrapped.replace('{', '{"resultType":"complete",'))).toContain(
      '{"result":{"result":[1]}}',
    );
  });

  it('[MCP-7] leaves a result without structured content unchanged', () => {
    expect(change('{ "content":[] }')).toBe('{ "content":[] }');
  });
});

describe('toLegacyTool', () => {
  it('[MCP-4] leaves what older clients accept unchanged', () => {
    const item = itemOf({
      name: 'a',
      inputSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
      outputSchema: { type: 'object', properties: { a: { $ref: '#' } }, $defs: { a: true } },
      icons: [{ src: 'data:,' }],
    });
    expect(toLegacyTool(item)).toBe(item);
  });

  it('[MCP-4] replaces the schemas true and false', () => {
    const properties = { any: true, none: false, a: { type: 'string' } };
    expect(toLegacy({ name: 'a', inputSchema: { type: 'object', properties } })).toEqual({
      name: 'a',
      inputSchema: {
        type: 'object',
        properties: { any: {}, none: { not: {} }, a: { type: 'string' } },
      },
    });
  });

  it(`[MCP-5] wraps so that a value fits as before (seed ${SEED})`, () => {
    const random = createRandom();
    const validator = new AjvJsonSchemaValidator();
    let fitting = 0;
    for (let i = 0; i < 300; i += 1) {
      const { schema, sample } = generateSchema(random);
      const natural = { ...schema, type: ['object', 'null'] };
      const { outputSchema } = toLegacy({ name: 'a', inputSchema: input, outputSchema: natural });
      const before = validator.getValidator(natural as never);
      const after = validator.getValidator(outputSchema as never);
      for (const value of [sample().own, null, {}, []]) {
        expect(after({ result: value }).valid).toBe(before(value).valid);
      }
      expect(after(null).valid).toBe(false);
      if (before(sample().own).valid) fitting += 1;
    }
    expect(fitting).toBeGreaterThan(100);
  });
});
