/** Values of mirrored headers: the examples of MCP 2026-07-28 and the rules behind them. */
import { describe, expect, it } from 'vitest';
import {
  decodeHeaderValue,
  encodeHeaderValue,
} from '../../../src/upstream/protocol/param-headers.ts';
import { createRandom, SEED } from '../seeded.ts';

const EXAMPLES = [
  ['us-west1', 'us-west1'],
  ['Hello, \u4e16\u754c', '=?base64?SGVsbG8sIOS4lueVjA==?='],
  [' padded ', '=?base64?IHBhZGRlZCA=?='],
  ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
  ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
] as const;

describe('the examples of the specification', () => {
  it.each(EXAMPLES)('[MCP-1] encodes %j', (plain, header) => {
    expect(encodeHeaderValue(plain)).toBe(header);
  });

  it.each(EXAMPLES)('[MCP-1] decodes to %j', (plain, header) => {
    expect(decodeHeaderValue(header)).toBe(plain);
  });
});

describe('decodeHeaderValue', () => {
  it.each([
    ['=?BASE64?YQ==?=', 'the markers are case-sensitive'],
    ['=?base64?YQ==', 'the end marker is missing'],
    ['YQ==?=', 'the start marker is missing'],
    ['=?utf-8?YQ==?=', 'another charset'],
    ['', 'empty'],
  ])('[MCP-1] leaves %j unchanged: %s', value => {
    expect(decodeHeaderValue(value)).toBe(value);
  });

  it.each([
    '=?base64?***?=',
    '=?base64?YQ=?=',
    '=?base64?/w==?=',
    '=?base64?gIA=?=',
    '=?base64?7aCA?=',
  ])('[MCP-1] refuses %j, which holds no UTF-8 in Base64', value => {
    expect(decodeHeaderValue(value)).toBeUndefined();
  });

  it('[MCP-1] reads an empty sentinel as the empty text', () => {
    expect(decodeHeaderValue('=?base64??=')).toBe('');
  });

  it('keeps a byte order mark', () => {
    expect(decodeHeaderValue(encodeHeaderValue('\ufeffname'))).toBe('\ufeffname');
  });
});

it(`[MCP-7] every name survives a header, and every header is valid (seed ${SEED})`, () => {
  const random = createRandom();
  const parts = [
    'a',
    'Z',
    '9',
    '.',
    '-',
    ' ',
    '\t',
    '\n',
    '\0',
    '\u00e9',
    '\u4e16',
    '\ud83d\ude00',
    '=?base64?',
    '?=',
    '=',
    '/',
  ];
  for (let round = 0; round < 3_000; round += 1) {
    const name = Array.from({ length: random.below(7) }, () => random.pick(parts)).join('');
    const header = encodeHeaderValue(name);
    expect([JSON.stringify(name), decodeHeaderValue(header)]).toEqual([JSON.stringify(name), name]);
    expect([JSON.stringify(name), new Headers({ 'mcp-name': header }).get('mcp-name')]).toEqual([
      JSON.stringify(name),
      header,
    ]);
  }
});
