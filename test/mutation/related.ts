/** Finds the test files that a source file is part of: those that import it, directly or through other files. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const IMPORTED = /(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g;

const importsOf = new Map<string, readonly string[]>();
function imported(file: string): readonly string[] {
  let known = importsOf.get(file);
  if (!known) {
    const text = readFileSync(file, 'utf8').replaceAll(/^import type .*?;$/gms, '');
    const paths = [...text.matchAll(IMPORTED)].map(([, path = '']) => resolve(dirname(file), path));
    importsOf.set(file, (known = paths.filter(path => existsSync(path))));
  }
  return known;
}

/** All files that a file imports, directly or not, with itself. */
function closureOf(file: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const queue = [file];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    queue.push(...imported(next));
  }
  return seen;
}

/** Returns the test files of a folder, each with the files that it imports. */
export function loadTests(folder: string): Map<string, ReadonlySet<string>> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names
    .filter(name => name.endsWith('.test.ts'))
    .map(name => resolve(join(folder, name)));
  return new Map(files.map(file => [file, closureOf(file)]));
}
