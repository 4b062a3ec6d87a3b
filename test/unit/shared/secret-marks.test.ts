/** Which places of arguments a schema marks as secret, and that everything else stays unchanged. */
import { describe, expect, it } from 'vitest';
import { redactArguments } from '../../../src/shared/redaction/redact-arguments.ts';
import { markedSchemaOf } from '../../../src/shared/redaction/secret-marks.ts';

const itemOf = (schema: unknown) => ({
  key: 'tool',
  raw: new Map([['inputSchema', JSON.stringify(schema)]]),
});
const keep = (schema: unknown, value: unknown) =>
  redactArguments(JSON.stringify(value), markedSchemaOf(itemOf(schema))).arguments;
const MARKED = { 'x-secret': true };
const HIDDEN = '[redacted]';

describe('a schema', () => {
  it.each<[string, unknown, unknown, unknown]>([
    ['a member', { properties: { a: MARKED, b: {} } }, { a: 'x', b: 'y' }, { a: HIDDEN, b: 'y' }],
    [
      'a mark that is not true',
      {
        properties: {
          a: { writeOnly: false },
          b: { format: 'email', title: 'password' },
          c: { 'x-sensitive': 'no' },
          d: { 'x-secret': 0 },
        },
      },
      { a: 'x', b: 'y', c: 'z', d: 'w' },
      { a: 'x', b: 'y', c: 'z', d: 'w' },
    ],
    [
      'each mark',
      { properties: { a: { 'x-sensitive': true }, b: { writeOnly: true } } },
      { a: 1, b: 2 },
      { a: HIDDEN, b: HIDDEN },
    ],
    ['names by a pattern', { patternProperties: { '^x': MARKED } }, { xa: 'x' }, { xa: HIDDEN }],
    [
      'other members',
      { properties: { a: {} }, additionalProperties: MARKED },
      { a: 'x', b: 'y' },
      { a: 'x', b: HIDDEN },
    ],
    ['all elements', { items: MARKED }, ['x', 'y'], [HIDDEN, HIDDEN]],
    ['one element', { prefixItems: [{}, MARKED] }, ['x', 'y', 'z'], ['x', HIDDEN, 'z']],
    ['one element, as it was written once', { items: [{}, MARKED] }, ['x', 'y'], ['x', HIDDEN]],
    [
      'a condition',
      JSON.parse('{"then":{"properties":{"a":{"x-secret":true}}}}'),
      { a: 'x', b: 'y' },
      { a: HIDDEN, b: 'y' },
    ],
    [
      'a reference with escapes',
      { properties: { a: { $ref: '#/$defs/a~1b~0c' } }, $defs: { 'a/b~c': MARKED } },
      { a: 'x' },
      { a: HIDDEN },
    ],
    [
      'a reference that is encoded as a URI',
      { properties: { a: { $ref: '#/$defs/Key%3Cstring%3E' } }, $defs: { 'Key<string>': MARKED } },
      { a: 'x' },
      { a: HIDDEN },
    ],
    [
      'a reference with a sign that encodes nothing',
      { properties: { a: { $ref: '#/$defs/100%' } }, $defs: { '100%': MARKED } },
      { a: 'x' },
      { a: HIDDEN },
    ],
    [
      'a reference into a list',
      { properties: { a: { $ref: '#/allOf/0/$defs/key' } }, allOf: [{ $defs: { key: MARKED } }] },
      { a: 'x' },
      { a: HIDDEN },
    ],
    [
      'a reference to nothing',
      { properties: { a: { $ref: '#/$defs/none' }, b: MARKED } },
      { a: 'x' },
      { a: 'x' },
    ],
    [
      'a reference through what is no object',
      { $comment: 'x-secret', properties: { a: { $ref: '#/$comment/length' } } },
      { a: 'x' },
      { a: 'x' },
    ],
    [
      'a reference to what every object has',
      { properties: { a: { $ref: '#/constructor' }, b: MARKED } },
      { a: 'x' },
      { a: 'x' },
    ],
    [
      'a reference elsewhere',
      { properties: { a: { $ref: 'https://x.example.com/x-secret' } } },
      { a: 'x' },
      { a: 'x' },
    ],
    [
      'a reference that goes round',
      { properties: { a: { $ref: '#/properties/a' }, b: MARKED } },
      { a: 'x', b: 'y' },
      { a: 'x', b: HIDDEN },
    ],
    ['the whole', MARKED, { a: 'x' }, HIDDEN],
  ])('[SEC-6] [SEC-2] marks %s and nothing else', (_, schema, value, kept) => {
    expect(keep(schema, value)).toEqual(kept);
  });

  it('[SEC-6] [SEC-2] marks secrets up to 64 branches down, and is read no further', () => {
    const refs = (count: number) => ({
      properties: {
        a: { anyOf: Array.from({ length: count }, (_, i) => ({ $ref: `#/$defs/d${i}` })) },
      },
      $defs: Object.fromEntries(Array.from({ length: count }, (_, i) => [`d${i}`, {}])),
    });
    const chain = (length: number) => ({
      properties: { a: { $ref: '#/$defs/d0' } },
      $defs: Object.fromEntries(
        Array.from({ length }, (_, i) => [
          `d${i}`,
          i === length - 1 ? MARKED : { $ref: `#/$defs/d${i + 1}` },
        ]),
      ),
    });
    // The member itself is the first branch.
    expect(keep(chain(63), { a: 'x' })).toEqual({ a: HIDDEN });
    expect(keep(chain(64), { a: 'x' })).toEqual({ a: 'x' });
    expect(keep({ ...refs(10_000), ...MARKED }, { a: 'x' })).toBe(HIDDEN);
    expect(
      keep({ allOf: Array.from({ length: 300_000 }, () => ({})), ...MARKED }, { a: 'x' }),
    ).toBe(HIDDEN);
  });

  it('[SEC-6] [SEC-2] with very many patterns still marks a member by its own schema', () => {
    const names = Array.from({ length: 100 }, (_, i) => [`^x${i}`, {}]);
    const schema = { properties: { a: MARKED }, patternProperties: Object.fromEntries(names) };
    expect(keep(schema, { a: 'x', b: 'y' })).toEqual({ a: HIDDEN, b: 'y' });
  });

  it('[SEC-6] with very many patterns is read once, however many members there are', () => {
    let reads = 0;
    const patternProperties = new Proxy<Record<string, object>>(
      { '^x': MARKED },
      { ownKeys: of => ((reads += 1), Reflect.ownKeys(of)) },
    );
    const members = Array.from({ length: 50 }, (_, i) => [`x${i}`, i]);
    const text = JSON.stringify(Object.fromEntries(members));
    const { arguments: kept } = redactArguments(text, { patternProperties });
    expect(Object.values(kept ?? {})).toEqual(members.map(() => HIDDEN));
    expect(reads).toBe(1);
  });

  it('[SEC-6] is read once for an item, and not at all without such a keyword', () => {
    const item = itemOf({ properties: { a: MARKED } });
    const first = markedSchemaOf(item);
    expect(first).toEqual({ properties: { a: MARKED } });
    expect(markedSchemaOf(item)).toBe(first);
    expect(markedSchemaOf(itemOf({ properties: { a: {} } }))).toBeUndefined();
    expect(markedSchemaOf(itemOf('password'))).toBeUndefined();
    expect(markedSchemaOf({ raw: new Map() })).toBeUndefined();
  });
});
