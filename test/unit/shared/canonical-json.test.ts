/** Canonical JSON: equal exactly if two texts have the same value. */
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/shared/json/canonical-json.ts';

describe('two texts have one form', () => {
  it.each<[what: string, one: string, other: string]>([
    ['order and space', '{"a":1,"b":[true, null]}', ' {\n"b":[true,null] ,"a":1}\t'],
    ['escapes', '{"\\u0061":"\\/\\u00e9"}', '{"a":"/é"}'],
    ['surrogates', '"\\ud83d\\ude00"', '"😀"'],
    ['numbers', '[1,100,0.5,-2]', '[1.0,1E2,50e-2,-0.2e1]'],
    ['zero', '[0,0.0,0e9]', '[0.00,0,0]'],
    ['empty', '[{},[]]', '[ { } , [ ] ]'],
    ['traps', '{"__proto__":1,"constructor":2}', '{"constructor":2,"__proto__":1}'],
  ])('[SEC-7] of %s', (_what, one, other) => {
    expect(canonicalJson(one)).toBe(canonicalJson(other));
  });
});

describe('two texts have two forms', () => {
  it.each<[what: string, one: string, other: string]>([
    ['numbers that one double stands for', '12345678901234567890', '12345678901234567891'],
    ['numbers beyond every double', '1e400', '1e401'],
    ['huge exponents', '1e99999999999999999999', '1e99999999999999999998'],
    ['small numbers', '1e-400', '0'],
    ['zeros', '-0', '0'],
    ['number and text', '1', '"1"'],
    ['null and nothing', '{"a":null}', '{}'],
    ['lists in another order', '[1,2]', '[2,1]'],
    ['nesting', '[[1],2]', '[[1,2]]'],
    ['equal keys', '{"a":1,"a":2}', '{"a":2}'],
    ['equal keys in another order', '{"a":1,"a":2}', '{"a":2,"a":1}'],
    ['lone surrogates', '"\\ud800"', '"\\ud801"'],
    ['a lone surrogate and what replaces it', '"\\ud800"', '"\ufffd"'],
    ['normal forms', '"é"', '"e\u0301"'],
    ['what cannot be seen', '"a"', '"a\u200b"'],
    ['keys with quotes', '{"a\\":1":2}', '{"a":1}'],
  ])('[SEC-7] where %s differ', (_what, one, other) => {
    expect(canonicalJson(one)).not.toBe(canonicalJson(other));
  });
});

it('[SEC-7] [SEC-4] is computed for a text of any depth, and shows a change at any', () => {
  const nest = (inner: string) => `${'{"a":['.repeat(50_000)}${inner}${']}'.repeat(50_000)}`;
  expect(canonicalJson(nest('1'))).toBe(canonicalJson(nest('1')));
  expect(canonicalJson(nest('1'))).not.toBe(canonicalJson(nest('2')));
});
