/**
 * A plugin that counts, for each file of `src`, how often a function of it began to do something. Istanbul's counters of every statement
 * would tell the same, and take ten times as long to put in.
 */
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** A node of the syntax tree: where it is in the text, and its members. */
interface Node {
  type: string;
  start: number;
  end: number;
  [member: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/** Returns a node and all below it. */
function* nodesOf(node: Node): Generator<Node> {
  yield node;
  for (const member of Object.values(node)) {
    for (const each of Array.isArray(member) ? member : [member]) {
      if (isNode(each)) yield* nodesOf(each);
    }
  }
}

/** Returns the texts to put in, each at its place: where a function's body, or the value of a field, begins and ends. */
function* additionsOf(program: Node): Generator<[at: number, text: string]> {
  for (const node of nodesOf(program)) {
    const part = FUNCTIONS.has(node.type)
      ? node['body']
      : node.type === 'PropertyDefinition' && node['value'];
    if (!isNode(part)) continue;
    if (part.type !== 'BlockStatement') {
      yield [part.start, '(ranHere__(), '];
      yield [part.end, ')'];
    } else if ((part['body'] as Node[]).length > 0) {
      yield [part.start + 1, 'ranHere__(); '];
    }
  }
}

/** Counts in `globalThis.RAN`, by path from the project's folder. */
export const countFunctions = (): Plugin => ({
  name: 'portico:count-functions',
  enforce: 'post',
  transform(code, id) {
    if (!id.startsWith(SRC) || !id.endsWith('.ts')) return;
    const path = JSON.stringify(`src/${id.slice(SRC.length)}`);
    const additions = [...additionsOf(this.parse(code) as unknown as Node)];
    let text = '';
    let from = 0;
    for (const [at, added] of additions.toSorted(([a], [b]) => a - b)) {
      text += code.slice(from, at) + added;
      from = at;
    }
    text += code.slice(from);
    const counter = `function ranHere__() { const ran = (globalThis.RAN ??= {}); ran[${path}] = (ran[${path}] ?? 0) + 1; }`;
    return { code: `${text}\n${counter}\n`, map: null };
  },
});
