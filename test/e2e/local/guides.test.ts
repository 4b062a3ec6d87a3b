/** Follows every guide from its own text: each block that needs nothing outside this machine, in order. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { GuideReader } from '../support/guide-reader.ts';
import { findMissing, readSteps } from '../support/guide-text.ts';

const GUIDES = fileURLToPath(new URL('../../../docs/guides/', import.meta.url));
/** These create what the other guides expect on Cloudflare: a gateway, and a second version of it. */
const FIRST = ['deploy-to-cloudflare.md', 'upgrade.md'];
const others = readdirSync(GUIDES).filter(name => name.endsWith('.md') && !FIRST.includes(name));
const names = [...FIRST, ...others];
const reader = new GuideReader();
beforeAll(() => reader.open());
afterEach(() => reader.tidy());
afterAll(() => reader.close());

it.each(names)('[OPS-3] docs/guides/%s does what it says', async name => {
  const text = readFileSync(join(GUIDES, name), 'utf8');
  await expect(reader.follow(readSteps(text))).resolves.toBeUndefined();
});

const guide = (...lines: string[]) => lines.join('\n');

it.each([
  ['a wrong command', guide('```sh', 'portico tolls', '```'), /line 1: ends with 2/u],
  ['a wrong first command', guide('```sh', 'false', 'true', '```'), /line 1: ends with 1/u],
  [
    'output that does not come',
    guide('```sh', 'echo one', '```', '', '```text', 'two', '```'),
    /line 1: does not print "two"/u,
  ],
  [
    'a server that ends',
    guide('```sh background', 'false', '```', '```text', 'up', '```'),
    /line 1: ended/u,
  ],
])('[OPS-3] a guide with %s fails', async (_, text, why) => {
  await expect(reader.follow(readSteps(text))).rejects.toThrow(why);
});

it('[OPS-3] a block is skipped only for a known reason', () => {
  const skipped = (reason: string) => readSteps(guide(`\`\`\`sh skip=${reason}`, 'true', '```'));
  expect(skipped('needs-a-model')).toEqual([{ kind: 'skipped', line: 1, reason: 'needs-a-model' }]);
  expect(() => skipped('no-time')).toThrow('line 1: no test knows "sh skip=no-time"');
  expect(() => readSteps(guide('```sh', 'true'))).toThrow('does not end');
});

it('[OPS-3] shown output is matched line by line, in order', () => {
  expect(findMissing(['a … c', 'd'], 'a b  c\nx\nd\n')).toBeUndefined();
  expect(findMissing(['d', 'a … c'], 'a b c\nd')).toBe('a … c');
  expect(findMissing(['a.c'], 'abc')).toBe('a.c');
});
