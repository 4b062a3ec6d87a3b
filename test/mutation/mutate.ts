/**
 * A source file with all its mutants in it: each place that can be changed becomes a choice between the original and its replacements, by
 * the id of the active mutant. So a file is compiled once, however many mutants it has. Pure.
 */
import ts from 'typescript';

export interface Mutant {
  id: number;
  file: string;
  line: number;
  /** The original code and its replacement, in one line each. */
  from: string;
  to: string;
}

export interface Mutated {
  code: string;
  mutants: Mutant[];
}

const OPERATORS = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '/'],
]);

/** Methods and their replacements; an empty text leaves the call out. */
const METHODS = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['filter', ''],
  ['toSorted', ''],
  ['slice', ''],
  ['trim', ''],
  ['toLowerCase', ''],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['min', 'max'],
  ['max', 'min'],
]);

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 100);
const active = (id: number) => `globalThis.__isMutant(${id})`;

/** @param firstId the id of its first mutant */
export function mutate(file: string, text: string, firstId: number): Mutated {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  const written = (node: ts.Node) => text.slice(node.getStart(source), node.end);

  function add(node: ts.Node, to: string): number {
    const id = firstId + mutants.length;
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    mutants.push({ id, file, line: line + 1, from: oneLine(written(node)), to: oneLine(to) });
    return id;
  }

  /** Returns a node's text with the mutants in it, starting at its first token. */
  function render(node: ts.Node): string {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) {
      return written(node);
    }
    if (ts.isTypeAliasDeclaration(node) || ts.isDecorator(node)) return written(node);
    let rendered = '';
    let at = node.getStart(source);
    ts.forEachChild(node, child => {
      rendered += text.slice(at, child.getStart(source)) + render(child);
      at = child.end;
    });
    rendered += text.slice(at, node.end);
    if ((ts.isExpressionStatement(node) && isCall(node.expression)) || ts.isThrowStatement(node)) {
      // Wrapped in a block: otherwise a following `else` would belong to this `if`.
      return `{ if (!(${active(add(node, ''))})) { ${rendered} } }`;
    }
    if (ts.isBlock(node) && isLoop(node.parent)) return `{ globalThis.__tick?.(); ${rendered} }`;
    const others = alternatives(node, written);
    if (others.length === 0) return rendered;
    const choices = others.map(to => `${active(add(node, to))} ? (${to}) : `);
    return `(${choices.join('')}(${rendered}))`;
  }

  return { code: render(source) + '\n', mutants };
}

const isCall = (node: ts.Expression) =>
  ts.isCallExpression(ts.isAwaitExpression(node) ? node.expression : node);

const isLoop = (node: ts.Node) => ts.isIterationStatement(node, false);

/** Returns what may replace a node. */
function alternatives(node: ts.Node, written: (node: ts.Node) => string): string[] {
  // Only `if` conditions: a loop condition that is always true would end only at its tick limit.
  const isCondition =
    node.parent && ts.isIfStatement(node.parent) && node.parent.expression === node;
  const conditions = isCondition ? ['true', 'false'] : [];
  if (ts.isBinaryExpression(node)) {
    const { left, right, operatorToken } = node;
    const [a, b] = [written(left), written(right)];
    if (operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) return [...conditions, a];
    const other = OPERATORS.get(operatorToken.kind);
    return other === undefined ? conditions : [...conditions, `(${a}) ${other} (${b})`];
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    return [...conditions, written(node.operand)];
  }
  if (node.kind === ts.SyntaxKind.TrueKeyword) return ['false'];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return ['true'];
  if (ts.isConditionalExpression(node)) {
    return [written(node.whenTrue), written(node.whenFalse)];
  }
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { expression, name } = node.expression;
    const other = METHODS.get(name.text);
    if (other === undefined || node.expression.questionDotToken) return conditions;
    if (other === '') return [...conditions, written(expression)];
    const rest = node.arguments.map(written).join(', ');
    return [...conditions, `${written(expression)}.${other}(${rest})`];
  }
  if (isCondition && ts.isExpression(node)) return conditions;
  return [];
}
