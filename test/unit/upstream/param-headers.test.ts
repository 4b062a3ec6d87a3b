/** Mirrored parameters: which annotations count, the headers of a call, and the required headers of a client. */
import { describe, expect, it } from 'vitest';
import { parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import {
  checkParamHeaders,
  paramHeadersOf,
  parseParamHeaders,
  toParamHeaders,
  type ParamHeader,
} from '../../../src/upstream/protocol/param-headers.ts';
import { createRandom, SEED } from '../seeded.ts';

const annotated = (type: unknown, name: unknown = 'Region') => ({ type, 'x-mcp-header': name });
const schema = (properties: object, more: object = {}) =>
  JSON.stringify({ type: 'object', properties, ...more });

function declaredIn(text: string): readonly ParamHeader[] {
  const parsed = parseParamHeaders(text);
  if ('invalid' in parsed) throw new Error(parsed.invalid);
  return parsed.valid;
}

describe('annotations of a schema', () => {
  it('[MCP-4] are found along properties, at any depth, in order', () => {
    const text = schema({
      a: annotated('string', 'A'),
      b: { type: 'object', properties: { c: annotated('integer', 'Deep-Er') } },
      d: annotated('boolean', 'D'),
      e: { type: 'string' },
    });
    expect(declaredIn(text)).toEqual([
      { header: 'mcp-param-a', path: ['a'], type: 'string' },
      { header: 'mcp-param-deep-er', path: ['b', 'c'], type: 'integer' },
      { header: 'mcp-param-d', path: ['d'], type: 'boolean' },
    ]);
  });

  it('[SEC-4] are found 64 properties down, and no deeper', () => {
    const at = (depth: number) => {
      const inner: object = annotated('string', 'A');
      const nested = Array.from({ length: depth - 1 }).reduce<object>(
        child => ({ properties: { a: child } }),
        inner,
      );
      return parseParamHeaders(schema({ a: nested }));
    };
    expect(at(64)).toMatchObject({ valid: [{ path: Array.from({ length: 64 }, () => 'a') }] });
    expect(at(65)).toHaveProperty('invalid');
  });

  it('[MCP-4] are found if the key is escaped', () => {
    const text = schema({ a: annotated('string', 'A') }).replace('x-mcp', '\\u0078-mcp');
    expect(declaredIn(text)).toHaveLength(1);
  });

  it.each([
    ['the name of a property', schema({ 'x-mcp-header': { type: 'string' } })],
    ['a default', schema({ a: { type: 'object', default: { 'x-mcp-header': 'A' } } })],
    ['a description', schema({ a: { type: 'string', description: 'x-mcp-header' } })],
    ['an example', schema({}, { examples: [{ 'x-mcp-header': 'A' }] })],
    ['what is no schema', '"x-mcp-header"'],
  ])('[MCP-4] are not found in %s', (_where, text) => {
    expect(parseParamHeaders(text)).toEqual({ valid: [] });
  });

  it.each([
    ['an empty name', schema({ a: annotated('string', '') })],
    ['a space', schema({ a: annotated('string', 'My Region') })],
    ['a colon', schema({ a: annotated('string', 'Region:Primary') })],
    ['a line break', schema({ a: annotated('string', 'Region\r\nX: y') })],
    ['a tab', schema({ a: annotated('string', 'Region\t1') })],
    ['letters beyond ASCII', schema({ a: annotated('string', 'Région') })],
    ['a name that is no text', schema({ a: annotated('string', 7) })],
    ['null for a name', schema({ a: annotated('string', null) })],
    ['an object', schema({ a: annotated('object') })],
    ['an array', schema({ a: annotated('array') })],
    ['null', schema({ a: annotated('null') })],
    ['a number', schema({ a: annotated('number') })],
    ['no type', schema({ a: { 'x-mcp-header': 'A' } })],
    ['several types', schema({ a: annotated(['string', 'null']) })],
    ['a name that stands twice', schema({ a: annotated('string'), b: annotated('string') })],
    ['a name in two cases', schema({ a: annotated('string', 'X'), b: annotated('string', 'x') })],
    ['the root', schema({}, { 'x-mcp-header': 'A' })],
    ['items', schema({ a: { type: 'array', items: annotated('string') } })],
    ['prefixItems', schema({ a: { type: 'array', prefixItems: [annotated('string')] } })],
    ['anyOf', schema({ a: { anyOf: [annotated('string')] } })],
    ['allOf of the root', schema({}, { allOf: [{ properties: { a: annotated('string') } }] })],
    ['else', schema({}, { if: {}, else: { properties: { a: annotated('string') } } })],
    ['additionalProperties', schema({}, { additionalProperties: annotated('string') })],
    ['patternProperties', schema({}, { patternProperties: { '^a': annotated('string') } })],
    ['$defs', schema({}, { $defs: { a: annotated('string') } })],
  ])('[MCP-4] make a tool invalid: %s', (_what, text) => {
    expect(parseParamHeaders(text)).toHaveProperty(
      'invalid',
      expect.stringContaining('x-mcp-header'),
    );
  });

  it('[SEC-4] of a very deep schema are judged safely', () => {
    const depth = 50_000;
    const deep = `${'{"properties":{"a":'.repeat(depth)}{"type":"string","x-mcp-header":"A"}${'}}'.repeat(depth)}`;
    expect(parseParamHeaders(deep)).toHaveProperty('invalid');
  });

  it('[MCP-4] are read once for each item of a catalog', () => {
    const inputSchema = JSON.parse(schema({ a: annotated('string') })) as object;
    const catalog = parseCatalog(
      'h',
      JSON.stringify({ tools: [{ name: 'a', inputSchema }, { name: 'b' }] }),
    );
    const [tool, plain] = catalog.tools.items;
    expect(tool && paramHeadersOf(tool)).toHaveLength(1);
    expect(tool && paramHeadersOf(tool)).toBe(tool && paramHeadersOf(tool));
    expect(plain && paramHeadersOf(plain)).toEqual([]);
  });
});

const declared = declaredIn(
  schema({
    s: annotated('string', 'S'),
    i: annotated('integer', 'I'),
    b: annotated('boolean', 'B'),
    o: { type: 'object', properties: { s: annotated('string', 'Os') } },
  }),
);

describe('headers of a call', () => {
  it.each([
    ['{"s":"us-west1"}', { s: 'us-west1' }],
    ['{"s":"us west 1"}', { s: 'us west 1' }],
    ['{"s":""}', { s: '=?base64??=' }],
    ['{"s":"Hello, \\u4e16\\u754c"}', { s: '=?base64?SGVsbG8sIOS4lueVjA==?=' }],
    ['{"s":" padded "}', { s: '=?base64?IHBhZGRlZCA=?=' }],
    ['{"s":"line1\\nline2"}', { s: '=?base64?bGluZTEKbGluZTI=?=' }],
    ['{"s":"=?base64?literal?="}', { s: '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=' }],
    ['{"s":null,"i":null}', {}],
    ['{}', {}],
    [undefined, {}],
    ['{"i":42}', { i: '42' }],
    ['{"i":-7}', { i: '-7' }],
    ['{"i":-0}', { i: '0' }],
    ['{"i":42.0}', { i: '42' }],
    ['{"i":1e3}', { i: '1000' }],
    ['{"i":9007199254740993}', { i: '9007199254740993' }],
    ['{"b":false}', { b: 'false' }],
    ['{"b":true}', { b: 'true' }],
    ['{"o":{"s":"deep"}}', { os: 'deep' }],
    ['{"o":["s"]}', {}],
    ['{"s":{"a":1}}', {}],
    ['[]', {}],
  ])('[MCP-4] [MCP-7] are made of %s', (args, expected) => {
    const headers = Object.entries(expected).map(([name, value]) => [`mcp-param-${name}`, value]);
    expect(toParamHeaders(declared, args)).toEqual(Object.fromEntries(headers));
  });
});

const check = (args: string | undefined, given: Record<string, string>) => () =>
  checkParamHeaders(declared, args, name => given[name.slice('mcp-param-'.length)] ?? null);

describe('headers of a client', () => {
  it.each([
    ['{"s":"a"}', { s: 'a' }],
    ['{"s":"Hello"}', { s: '=?base64?SGVsbG8=?=' }],
    ['{"s":"SGVsbG8="}', { s: 'SGVsbG8=' }],
    ['{"s":"=?base64?SGVsbG8="}', { s: '=?base64?SGVsbG8=' }],
    ['{"i":42}', { i: '42.0' }],
    ['{"i":42.0}', { i: '42' }],
    ['{"i":9007199254740993}', { i: '9007199254740993' }],
    ['{"i":"abc"}', { i: 'abc' }],
    ['{"b":true}', { b: 'true' }],
    ['{"s":null}', {}],
    ['{"s":["not","a","string"]}', {}],
    ['{}', { other: 'ignored' }],
  ])('[MCP-4] that match %s pass', (args, given) => {
    expect(check(args, given)).not.toThrow();
  });

  it.each([
    ['missing', '{"s":"a"}', {}],
    ['different', '{"s":"a"}', { s: 'b' }],
    ['different in case', '{"s":"a"}', { s: 'A' }],
    ['not padded', '{"s":"Hello"}', { s: '=?base64?SGVsbG8?=' }],
    ['no Base64', '{"s":"Hello"}', { s: '=?base64?SGVs!!!bG8=?=' }],
    ['beyond ASCII', '{"s":"\u00e9"}', { s: '\u00e9' }],
    ['another number', '{"i":42}', { i: '43' }],
    ['hexadecimal', '{"i":26}', { i: '0x1a' }],
    ['equal only as doubles', '{"i":9007199254740993}', { i: '9007199254740992' }],
    ['a claim without a value', '{}', { s: 'a' }],
    ['a claim against null', '{"s":null}', { s: 'a' }],
    ['a claim against an array', '{"s":["a"]}', { s: 'a' }],
    ['another boolean', '{"b":true}', { b: 'false' }],
  ])('[MCP-4] [SEC-4] that are %s are refused', (_what, args, given) => {
    expect(check(args, given)).toThrow(expect.objectContaining({ code: 'header_mismatch' }));
  });

  it('[MCP-4] [SEC-8] that cannot be decoded are refused, also if the body has no value', () => {
    const own: ParamHeader[] = [{ header: 'mcp-param-a', path: ['a'], type: 'string' }];
    for (const args of [undefined, '{}', '{"a":null}', '{"a":"x"}']) {
      const run = () => checkParamHeaders(own, args, () => '=?base64?*?=');
      expect(run).toThrow(
        expect.objectContaining({
          code: 'header_mismatch',
          message: 'Header mismatch: the mcp-param-a header is not valid',
        }),
      );
    }
  });

  it('[MCP-7] keep every digit, and are none for a tool without a valid schema', () => {
    const own: ParamHeader[] = [{ header: 'mcp-param-a', path: ['a'], type: 'integer' }];
    const written = (raw: string) => toParamHeaders(own, `{"a":${raw}}`)['mcp-param-a'];
    const kept = ['1.50', '1e400', '12345678901234567890', 'true', '-7'];
    expect(kept.map(written)).toEqual(kept);
    expect(['42.0', '1e2', '-0.0'].map(written)).toEqual(['42', '100', '0']);
    const tools = [{ name: 'a', inputSchema: JSON.parse(schema({ a: annotated('string', '') })) }];
    const [tool] = parseCatalog('h', JSON.stringify({ tools })).tools.items;
    expect(tool && paramHeadersOf(tool)).toEqual([]);
  });

  it(`[MCP-4] that Portico writes itself always pass (seed ${SEED})`, () => {
    const random = createRandom();
    const parts = [
      'a',
      ' ',
      '\t',
      '\n',
      '\u00e9',
      '\ud83d\ude00',
      '\ud800',
      '=?base64?',
      '?=',
      '"',
      '\0',
    ];
    for (let round = 0; round < 2_000; round += 1) {
      const s = Array.from({ length: random.below(6) }, () => random.pick(parts)).join('');
      const i = random.pick([
        '0',
        '-0',
        '1.0',
        '-7',
        '1e2',
        '12345678901234567890',
        '1.5',
        '1E400',
      ]);
      const args = `{"s":${JSON.stringify(s)},"i":${i},"b":${random.chance(0.5)}}`;
      const headers = new Headers(toParamHeaders(declared, args));
      expect(() => checkParamHeaders(declared, args, name => headers.get(name))).not.toThrow();
    }
  });
});
