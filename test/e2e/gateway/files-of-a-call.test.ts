/** How many files one must know to follow a call: counts the files of `src` that run for it. Docs/architecture.md names eight steps. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** May only be lowered. */
const MOST_FILES = 55;
/** Files named in the document's steps that not every call runs. */
const SOMETIMES = new Set(['src/gateway/health/draining.ts', 'src/gateway/steps/cache.ts']);

async function measure(): Promise<string[]> {
  const vitest = `${ROOT}node_modules/vitest/vitest.mjs`;
  const given = [vitest, 'run', '--config', 'test/measure/vitest.config.ts'];
  const { stdout } = await promisify(execFile)(process.execPath, given, { cwd: ROOT });
  const [, list = '[]'] = /RAN (\["[^\n]*"\])/.exec(stdout) ?? [];
  return JSON.parse(list) as string[];
}

/** Returns the files that the eight steps of a call name. */
async function stepsOfDocument(): Promise<string[]> {
  const text = await readFile(`${ROOT}docs/architecture.md`, 'utf8');
  const [, life = ''] = /## The life of a call\n([^]*?)\n## /.exec(text) ?? [];
  const [steps = ''] = life.split('Nothing is sent twice');
  const named = [...steps.matchAll(/`((?:[a-z-]+\/)*[a-z-]+\.ts)`/g)].map(
    ([, path]) => `src/${path}`,
  );
  return [...new Set(named)].filter(path => !SOMETIMES.has(path));
}

it('[MCP-7] one modern call runs few files, and those that the document names', async () => {
  const ran = await measure();
  expect(ran.length).toBeGreaterThan(40);
  expect({ ran, count: ran.length }).toEqual({
    ran,
    count: Math.min(ran.length, MOST_FILES),
  });
  const steps = await stepsOfDocument();
  expect(steps.length).toBeGreaterThan(15);
  expect(steps.filter(path => !ran.includes(path))).toEqual([]);
});
