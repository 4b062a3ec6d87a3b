/** Reads the tags in the titles of all tests without running one. A skipped test proves nothing. */
import { readFileSync } from 'node:fs';
import { readTitles } from '../unit/gates/citations.ts';
import { listFiles } from '../unit/gates/source-file.ts';
import { readTags } from './cells.ts';
import type { Tag } from './cells.ts';

/** Probes of the matrix: tests that `test/e2e/gateway/matrix.test.ts` imports, though their files are not named as tests. */
export const PROBES = 'test/e2e/gateway/matrix';

/** @param root folder of the project, with a slash at its end */
export function readProofs(root: string): Tag[] {
  const paths = [...listFiles(root, 'test', ['.test.ts']), ...listFiles(root, PROBES, ['.ts'])];
  return paths.flatMap(path =>
    readTitles(path, readFileSync(`${root}${path}`, 'utf8')).flatMap(readTags),
  );
}
