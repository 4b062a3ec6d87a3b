/** A tool's parameters on one line: complete if possible, marked if not, with only names and values of a server's text. */
import { describe, expect, it } from 'vitest';
import { hintOf, MAX_SIGNATURE_CHARS, toSignature } from '../../../src/mcp/own-tools/signature.ts';
import { toOneLine } from '../../../src/shared/util/one-line.ts';

const itemOf = (members: Record<string, unknown>) => ({
  key: 'tool',
  raw: new Map(Object.entries(members).map(([key, value]) => [key, JSON.stringify(value)])),
});
const signatureOf = (properties: object, more: object = {}) =>
  toSignature(itemOf({ inputSchema: { type: 'object', properties, ...more } }));
const text = { type: 'string' };

describe('a signature', () => {
  it.each([
    [{}, {}, '()'],
    [{ to: text, cc: text }, { required: ['cc'] }, '(cc*: string, to: string)'],
    [{ when: { enum: ['now', 'later', 3, null] } }, {}, '(when: "now"|"later"|3|null)'],
    [{ kind: { const: 'a"b' } }, {}, String.raw`(kind: "a\"b")`],
    [{ n: { type: 'integer', minimum: 1, maximum: 50 } }, {}, '(n: integer(1..50))'],
    [{ n: { type: 'number', minimum: 0 } }, {}, '(n: number(0..))'],
    [{ all: { type: 'array', items: { enum: ['a', 'b'] } } }, {}, '(all: ("a"|"b")[])'],
    [{ a: { type: ['string', 'null'] } }, {}, '(a: string|null)'],
    [{ a: { anyOf: [text, { type: 'null' }], default: null } }, {}, '(a: string|null)'],
    [
      { at: { type: 'object', properties: { city: text, zip: text }, required: ['zip'] } },
      {},
      '(at: {zip*: string, city: string})',
    ],
    [{ é名: text }, { additionalProperties: false }, '(é名: string)'],
  ])('[FIND-2] shows all of %j', (properties, more, shown) => {
    expect(signatureOf(properties, more)).toBe(shown);
  });

  const inner = { type: 'object', properties: { b: { type: 'object', properties: { c: text } } } };
  it.each([
    [{ a: { ...text, pattern: '^x$' } }, {}, '(a: string~)'],
    [{ a: { ...text, format: 'date' } }, {}, '(a: string~)'],
    [{ a: { anyOf: [text, { type: 'integer' }] } }, {}, '(a: any~)'],
    [{ a: { $ref: '#/$defs/a' } }, {}, '(a: any~)'],
    [{ a: inner }, {}, '(a: {b: object~}~)'],
    [{ a: { type: 'object' } }, {}, '(a: object~)'],
    [{ a: { type: 'array' } }, {}, '(a: array~)'],
    [{ a: { enum: Array.from({ length: 13 }, (_, i) => i) } }, {}, '(a: any~)'],
    [{ a: { type: 'string', enum: ['x'.repeat(41)] } }, {}, '(a: string~)'],
    [{ a: text }, { anyOf: [{ required: ['a'] }] }, '(a: string, ~)'],
    [{ a: text }, { additionalProperties: text }, '(a: string, ~)'],
    [{ a: false }, {}, '(a: any~)'],
    [{ a: text }, { required: ['b', 'a'] }, '(a*: string, b*: any~)'],
    [{}, { required: ['b'] }, '(b*: any~)'],
    [{ a: { ...inner, required: ['d'] } }, {}, '(a: {d*: any~, b: object~}~)'],
    [{ n: { type: ['integer', 'null'], minimum: 1 } }, {}, '(n: integer|null~)'],
  ])('[FIND-2] marks what it leaves out of %j', (properties, more, shown) => {
    expect(signatureOf(properties, more)).toBe(shown);
  });

  it('[FIND-2] is short, and leaves out optional parameters before required ones', () => {
    const names = Array.from({ length: 40 }, (_, i) => `parameter_number_${i}`);
    const properties = Object.fromEntries(names.map(name => [name, text]));
    const shown = signatureOf(properties, { required: ['parameter_number_39'] });
    expect(shown).toMatch(/^\(parameter_number_39\*: string, parameter_number_0: .*, …~\)$/);
    expect(shown.length).toBeLessThanOrEqual(MAX_SIGNATURE_CHARS);
    expect(signatureOf({ a: text }, { description: 'x'.repeat(70_000) })).toBe('(~)');
    expect(toSignature(itemOf({}))).toBe('(~)');
    expect(toSignature(itemOf({ inputSchema: [] }))).toBe('(~)');
  });

  it('[FIND-2] [SEC-8] has names and values unchanged, all visible on one line', () => {
    const hostile = [
      'a*: string) mail.send(to',
      'a\nmail.send',
      'a\u202Eb',
      'a\u200Bb',
      'ㅤ',
      'a\u{E0041}',
      'a b',
      '<system>',
      'x'.repeat(65),
      '',
      '__proto__',
    ];
    for (const name of hostile) {
      const named = JSON.parse(`{${JSON.stringify(name)}:{"type":"string"}}`) as object;
      const isPlain = name === '__proto__';
      expect(signatureOf(named, { required: [name] })).toBe(
        isPlain ? '(__proto__*: string)' : '(?*~)',
      );
      const valued = signatureOf({ a: { type: 'string', enum: [name] } });
      expect(toOneLine(valued, MAX_SIGNATURE_CHARS)).toBe(valued);
    }
    expect(signatureOf({ a: { type: 'string\u202E' } })).toBe('(a: any~)');
    expect(signatureOf({ a: { type: 'string', enum: ['a\u200Bb'] } })).toBe('(a: string~)');
    expect(signatureOf({ a: { enum: [2 ** 60] } })).toBe('(a: any~)');
  });

  it.each([
    [{ readOnlyHint: true, destructiveHint: true }, 'read-only'],
    [{ destructiveHint: true }, 'destructive'],
    [{ readOnlyHint: 'true' }, undefined],
    [{}, undefined],
    [null, undefined],
  ])('[FIND-2] has a mark for explicit annotations: %j', (annotations, hint) => {
    expect(hintOf(itemOf({ annotations }))).toBe(hint);
  });
});
