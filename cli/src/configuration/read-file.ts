/** Reads a configuration file, YAML or JSON, and checks it against its schema. Every problem is reported with its line. Pure. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml';
import { ConfigurationSchema, type Configuration } from '../../../src/api/configuration-file.ts';

/** Path to a value in a file: names of members and indexes in lists. */
export type FilePath = readonly (string | number)[];

export interface FileProblem {
  /** Counted from 1. */
  line: number;
  message: string;
}

/** Line of the value at a path, or of the nearest enclosing value that exists. */
export type LineOf = (path: FilePath) => number;

export interface ReadFile {
  /** Undefined where there are problems. */
  configuration?: Configuration;
  problems: FileProblem[];
  lineOf: LineOf;
}

/** Most aliases that a file may expand. */
const MAX_ALIASES = 100;

export function readConfiguration(text: string): ReadFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number | undefined) => Math.max(1, lines.linePos(offset ?? 0).line);
  const lineOf: LineOf = path => lineAt(offsetOf(document, path));
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    const problems = faults.map(({ pos, message }) => ({ line: lineAt(pos[0]), message }));
    return { problems, lineOf };
  }
  let content: unknown;
  try {
    content = document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
  } catch {
    return { problems: [{ line: 1, message: 'has too many aliases' }], lineOf };
  }
  const parsed = ConfigurationSchema.safeParse(content);
  if (parsed.success) return { configuration: parsed.data, problems: [], lineOf };
  const problems = parsed.error.issues.flatMap(issue => {
    const path = issue.path.filter(part => typeof part !== 'symbol');
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map(key => toProblem(lineOf, [...path, key], 'unknown field'));
    }
    const message = issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined;
    return toProblem(lineOf, path, message ?? issue.message);
  });
  return { problems: inOrder(problems), lineOf };
}

/** Builds a problem for the value at a path. */
export const toProblem = (lineOf: LineOf, path: FilePath, message: string): FileProblem => ({
  line: lineOf(path),
  message: path.length === 0 ? message : `${path.join('.')}: ${message}`,
});

/** Sorts by line. */
export const inOrder = (problems: readonly FileProblem[]): FileProblem[] =>
  problems.toSorted((a, b) => a.line - b.line);

/** Offset of the key at a path, or of its nearest existing ancestor. */
function offsetOf(document: Document, path: FilePath): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === part);
      if (!pair || !isScalar(pair.key)) return offset;
      offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      const item: unknown = node.items[Number(part)];
      if (item === undefined) return offset;
      const { range } = item as { range?: [number, number, number] };
      offset = range?.[0] ?? offset;
      node = item;
    } else {
      return offset;
    }
  }
  return offset;
}
