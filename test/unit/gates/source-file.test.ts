/** Which files the gates check. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listFiles } from './source-file.ts';

it('checks the files that git does not ignore, new ones too', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-tree-'));
  mkdirSync(join(folder, 'docs/results'), { recursive: true });
  writeFileSync(join(folder, '.gitignore'), 'results/\n');
  for (const path of ['docs/new.md', 'docs/results/latest.md', 'docs/other.txt']) {
    writeFileSync(join(folder, path), '');
  }
  spawnSync('git', ['init', '-q'], { cwd: folder });
  expect(listFiles(folder, 'docs', ['.md'])).toEqual(['docs/new.md']);
  expect(listFiles(folder, 'nowhere', ['.md'])).toEqual([]);
  rmSync(folder, { recursive: true });
});
