/** The log file: the form of a line, and the bound of its size. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openLogFile } from '../../../local/log-file.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-log-'));
});

afterEach(() => rm(folder, { recursive: true }));

it('prefixes every line with the time and the source', async () => {
  const log = openLogFile(join(folder, 'log'));
  log.write('worker error', 'first\nsecond\n\n');
  const lines = (await readFile(log.path, 'utf8')).trimEnd().split('\n');
  expect(lines.map(line => line.replace(/^\S+Z /, ''))).toEqual([
    'worker error: first',
    'worker error: second',
  ]);
});

it('stays within two files of its limit, also across a restart and with an overlong line', async () => {
  const path = join(folder, 'log');
  for (const size of [100, 100, 5000, 100]) {
    const log = openLogFile(path, 1000);
    for (let index = 0; index < 10; index += 1) log.write('test', 'ü'.repeat(size));
  }
  expect((await stat(path)).size).toBeLessThanOrEqual(1000);
  expect((await stat(`${path}.1`)).size).toBeLessThanOrEqual(1000);
});

it('does not fail its caller when nothing can be written', () => {
  const log = openLogFile(join(folder, 'missing', 'log'));
  expect(() => log.write('test', 'lost')).not.toThrow();
});
