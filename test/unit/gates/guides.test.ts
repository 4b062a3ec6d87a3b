/** README.md and docs/guides have few and short lines, and their links resolve. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { findDeadLinks, findWideLines } from './guide-rules.ts';

const ROOT = new URL('../../../', import.meta.url);
const LONGEST_README = 110;

function read(path: string): string | undefined {
  const file = fileURLToPath(new URL(path, ROOT));
  if (!existsSync(file)) return undefined;
  return statSync(file).isDirectory() ? '' : readFileSync(file, 'utf8');
}

const guides = readdirSync(new URL('docs/guides/', ROOT)).map(name => `docs/guides/${name}`);
const pages = ['README.md', ...guides].map((path): [string, string] => [path, read(path) ?? '']);

it('[OPS-3] README.md is short, and names every guide', () => {
  const readme = read('README.md') ?? '';
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(LONGEST_README);
  expect(guides.filter(path => !readme.includes(`](${path})`))).toEqual([]);
});

it.each(pages)('[OPS-3] %s has short lines and links that resolve', (path, text) => {
  expect(text).toMatch(/^# /u);
  expect(findWideLines(path, text)).toEqual([]);
  expect(findDeadLinks(path, text, read)).toEqual([]);
});

it('[OPS-3] a wide line and a dead link are found', () => {
  const wide = 'x'.repeat(101);
  const page = ['# A', wide, `| ${wide} |`, '```sh', `${wide} [x](no.md)`, '```'].join('\n');
  expect(findWideLines('a.md', page)).toEqual(['a.md:2 is wider than 100 columns']);
  expect(findDeadLinks('docs/guides/a.md', page, read)).toEqual([]);
  const links =
    '# A b\n[x](no.md) [y](#a-b) [z](#a-c) [w](../../README.md) [v](https://no.example)';
  const readHere = (path: string) => (path === 'docs/guides/a.md' ? links : read(path));
  expect(findDeadLinks('docs/guides/a.md', links, readHere)).toEqual([
    'docs/guides/a.md: no.md leads nowhere',
    'docs/guides/a.md: #a-c leads nowhere',
  ]);
});
