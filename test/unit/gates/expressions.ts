/**
 * The regular expressions of the source, read from the syntax tree, and texts that make a bad one slow: fixed ones, and ones made from the
 * expression's own parts. Makes no judgement.
 */
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { listFiles } from './source-file.ts';

/** One expression in a file. */
export interface Expression {
  path: string;
  /** With slashes and flags. */
  text: string;
  regex: RegExp;
}

/** One `new RegExp(…)`, built at run time. */
export interface MadeExpression {
  path: string;
  /** As written. */
  text: string;
}

/** Reads every expression in the files below a folder. */
export function readExpressions(
  root: string,
  folder: string,
): { literals: Expression[]; made: MadeExpression[] } {
  const literals: Expression[] = [];
  const made: MadeExpression[] = [];
  for (const path of listFiles(root, folder, ['.ts', '.mjs'])) {
    const text = readFileSync(`${root}${path}`, 'utf8');
    const found = expressionsIn(path, text);
    literals.push(...found.literals);
    made.push(...found.made);
  }
  return { literals, made };
}

/** The expressions of one file. */
export function expressionsIn(path: string, text: string) {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const literals: Expression[] = [];
  const made: MadeExpression[] = [];
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.RegularExpressionLiteral) {
      const written = node.getText(tree);
      const end = written.lastIndexOf('/');
      const regex = new RegExp(written.slice(1, end), written.slice(end + 1));
      literals.push({ path, text: written, regex });
    }
    const isMade =
      (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
      node.expression.getText(tree) === 'RegExp';
    if (isMade) made.push({ path, text: node.getText(tree).replaceAll(/\s+/g, ' ') });
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return { literals, made };
}

/** A member of each character class, by its letter. */
const CLASSES: Readonly<Record<string, string>> = {
  d: '0',
  s: ' ',
  w: 'a',
  n: '\n',
  t: '\t',
  r: '\r',
};
const ATOM =
  /\\u\{[0-9a-f]+\}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\[pP]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<\w+>))?|[*+?]\??|\{\d+(?:,\d*)?\}\??|[\s\S]/giy;

/** Texts that repeat one or more parts of the expression and end in a way that does not match. */
export function pumpsOf({ source }: RegExp, chars: number): string[] {
  const samples = samplesOf(source).slice(0, 40);
  const pumps = new Set<string>();
  for (let from = 0; from < samples.length; from += 1) {
    for (const length of [1, 2, 3, 4, samples.length]) {
      const part = samples.slice(from, from + length).join('');
      if (part === '') continue;
      const before = samples.slice(0, from).join('');
      pumps.add(`${before}${part.repeat(Math.ceil(chars / part.length))}\u0001`);
    }
  }
  return [...pumps];
}

/** A matching character for each part of an expression that consumes one, in order. */
function samplesOf(source: string): string[] {
  const samples: string[] = [];
  for (const [atom] of source.matchAll(new RegExp(ATOM.source, 'gi'))) {
    const sample = sampleOf(atom);
    if (sample !== '') samples.push(sample);
  }
  return samples;
}

function sampleOf(atom: string): string {
  if (atom.startsWith('[')) return memberOf(atom);
  if (/^[*+?(){}|^$]/.test(atom) && (atom.length === 1 || /^[*+?({]/.test(atom))) return '';
  if (atom === '.') return 'a';
  if (!atom.startsWith('\\')) return atom;
  const letter = atom[1] ?? '';
  const code = /^\\[ux]\{?([0-9a-f]+)\}?$/i.exec(atom)?.[1];
  if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
  if (letter === 'b' || letter === 'B') return '';
  return CLASSES[letter] ?? (/[a-z]/i.test(letter) ? 'a' : letter);
}

/** A character that a bracket expression matches. */
function memberOf(bracket: string): string {
  let matcher: RegExp;
  try {
    matcher = new RegExp(`^${bracket}$`, 'v');
  } catch {
    matcher = new RegExp(`^${bracket}$`, 'u');
  }
  const tried = ['a', '0', 'A', '-', ' ', '.', '_', '"', '\\', '/', '!', '\n', '\u200b', '\u0300'];
  return tried.find(character => matcher.test(character)) ?? bracket[1] ?? '';
}
