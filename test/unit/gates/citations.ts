/** Which requirements the tests cite, read from the titles of tests that run; and the findings of the gate. */
import ts from 'typescript';
import type { Requirement } from '../../requirements.ts';

/** One id in the title of a test or of a group of tests. */
export interface Citation {
  id: string;
  /** Path of the test file. */
  path: string;
}

const ID = /\[([A-Z]+-\d+|AG-US\d+-AC\d+)\]/g;

/**
 * The titles of one test file, as written. A title is the first argument of `it`, `test`, `describe` or `eachCell`, also with `.each`,
 * `.concurrent` and the like. Skipped and todo tests prove nothing and are not read.
 */
export function readTitles(path: string, text: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const callee = node.expression.getText();
      if (/^(it|test|describe|eachCell)\b/.test(callee)) {
        if (/^\w+(\.\w+)*\.(skip|todo)\b/.test(callee)) return;
        const title = node.arguments[0];
        if (title && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) {
          found.push(title.getText());
        }
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true));
  return found;
}

/** The ids that the titles of one test file cite. */
export function readCitations(path: string, text: string): Citation[] {
  return readTitles(path, text).flatMap(title =>
    [...title.matchAll(ID)].map(match => ({ id: match[1] ?? '', path })),
  );
}

/** One sentence for each disagreement between manifest and citations. */
export function checkCitations(
  requirements: readonly Requirement[],
  citations: readonly Citation[],
): string[] {
  const states = new Map(requirements.map(({ id, state }) => [id, state]));
  const cited = new Set(citations.map(({ id }) => id));
  const seen = new Set<string>();
  const twice = requirements.filter(({ id }) => seen.size === seen.add(id).size);
  return [
    ...twice.map(({ id }) => `${id} is in the manifest twice`),
    ...requirements
      .filter(({ id, state }) => state === 'done' && !cited.has(id))
      .map(({ id }) => `${id} is done but no test cites it`),
    ...citations
      .filter(({ id }) => !states.has(id))
      .map(({ id, path }) => `${path} cites ${id}, which does not exist`),
    ...citations
      .filter(({ id }) => states.get(id) === 'planned')
      .map(({ id, path }) => `${path} cites ${id}, which is only planned: mark it started`),
  ];
}
