/**
 * Every regular expression of the source against texts that make bad ones slow: the time of none grows faster than the text. All are
 * measured, whether they meet outside text today or not.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { leastCostOf, naughtyTexts, PIECES, repeated } from '../hostile-texts.ts';
import { expressionsIn, pumpsOf, readExpressions, type Expression } from './expressions.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** In UTF-16 units. */
const SHORT = 16_384;
const LONG = 1_048_576;
/** Maximum CPU time in milliseconds; a linear expression takes a hundredth of it, a quadratic one a hundred times as much. */
const MOST_MS = { short: 8, long: 100 };
/** Pieces repeated to the full length; the other texts are shorter. */
const LONG_PIECES = ['-eyJ', 'a.', '-a', '"', '\\', 'Bearer ', '://', '-----BEGIN ', ' ', '[[[['];

/**
 * Expressions that are built at run time, and why they are linear or meet no outside text. The functions around those that take outside
 * text are measured in `hostile-texts.test.ts`.
 */
const MADE: Readonly<Record<string, string>> = {
  'src/gateway/results/schema-compiles.ts': 'a pattern of a server is compiled, and never run',
  'src/models/formats/names.ts':
    'one class of characters, from a list of ours; measured with its function',
  'src/shared/expressions/expression-match.ts': 'one set of characters, against one character',
  'src/shared/expressions/expression-parts.ts': 'made to see whether it is one, and never run',
  'cli/src/connect/tool-filter.ts': 'the pattern is of the machine own file; names are measured',
  'cli/src/stdio/message.ts': 'both are given 1,024 bytes at most; measured with their function',
};

const used =
  ({ regex }: Expression, text: string) =>
  () => {
    regex.lastIndex = 0;
    if (regex.global) text.replaceAll(regex, '');
    else regex.exec(text);
  };

/** The first text that makes an expression slow, if there is one. */
function slowWith(expression: Expression, texts: readonly string[], mostMs: number) {
  return texts.find(text => !(leastCostOf(used(expression, text), mostMs) <= mostMs));
}

function breachesOf(expressions: readonly Expression[]): string[] {
  const naughty = naughtyTexts(SHORT).texts;
  const short = [...PIECES.map(piece => repeated(piece, SHORT)), ...naughty];
  const long = LONG_PIECES.map(piece => repeated(piece, LONG));
  return expressions.flatMap(expression => {
    const slow =
      slowWith(expression, [...pumpsOf(expression.regex, SHORT), ...short], MOST_MS.short) ??
      slowWith(expression, long, MOST_MS.long);
    if (slow === undefined) return [];
    const excerpt = JSON.stringify(slow.slice(0, 24));
    return [`${expression.path}: ${expression.text} takes too long with ${excerpt}…`];
  });
}

describe('expressions', () => {
  it.each(['src', 'cli/src'])(`[SEC-4] of %s: ${naughtyTexts(1).origin}`, folder => {
    const { literals } = readExpressions(ROOT, folder);
    expect(literals.length).toBeGreaterThan(40);
    expect(breachesOf(literals)).toEqual([]);
  });

  it('[SEC-4] built at run time are known', () => {
    const made = ['src', 'cli/src'].flatMap(folder => readExpressions(ROOT, folder).made);
    expect([...new Set(made.map(({ path }) => path))].toSorted()).toEqual(
      Object.keys(MADE).toSorted(),
    );
  });

  it.each([
    ['two loops', String.raw`const a = /\s+$/;`],
    ['a loop behind a start that is everywhere', String.raw`const a = /\beyJ[\w-]{4,}\.[\w-]+/g;`],
    ['a loop that looks back', String.raw`const a = /([a-z][\w.-]{0,60})(?<=-[\w.-]{1,60})\s/g;`],
    ['strings without an end', String.raw`text.match(/"(?:[^"\\]|\\.)*"/g);`],
  ])('[SEC-4] that are slow are found: %s', (_what, text) => {
    const { literals } = expressionsIn('src/sample.ts', text);
    expect(breachesOf(literals)).toHaveLength(1);
  });

  it('[SEC-4] are found anywhere in the code', () => {
    const text =
      'f(x.split(/a/u)); const b = z.string().regex(/^b$/); new RegExp(`${x}`); RegExp("y");';
    const { literals, made } = expressionsIn('src/sample.ts', text);
    expect([literals.map(found => found.text), made.map(found => found.text)]).toEqual([
      ['/a/u', '/^b$/'],
      ['new RegExp(`${x}`)', 'RegExp("y")'],
    ]);
  });
});
