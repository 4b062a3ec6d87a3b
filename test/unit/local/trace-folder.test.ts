/** The folder of traces: its files, its bounds, and what it refuses. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { chooseTraceFolder, createTraceFolder } from '../../../local/trace-folder.ts';

let parent: string;
let folder: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'portico-traces-'));
  folder = join(parent, 'traces');
});
afterEach(() => rm(parent, { recursive: true }));

const nameOf = (second: number, digit = 'a') =>
  `2026-11-22T10-15-${String(second).padStart(2, '0')}.000Z-${digit.repeat(32)}`;
const put = (name: string, text: string) => ({
  method: 'PUT',
  url: `https://traces.invalid/${name}`,
  text: () => Promise.resolve(text),
});

it('[LLM-6] a trace is a file that only its user may read', async () => {
  const keep = createTraceFolder(folder);
  expect(await keep(put(nameOf(0), 'one\n'))).toEqual({ status: 201 });
  const path = join(folder, `${nameOf(0)}.ndjson`);
  expect(await readFile(path, 'utf8')).toBe('one\n');
  expect([(await stat(path)).mode & 0o777, (await stat(folder)).mode & 0o777]).toEqual([
    0o600, 0o700,
  ]);
});

it('[LLM-6] two traces of one outer trace that began together are two files', async () => {
  const keep = createTraceFolder(folder);
  await Promise.all([keep(put(nameOf(0), 'one\n')), keep(put(nameOf(0), 'two\n'))]);
  expect((await readdir(folder)).toSorted()).toEqual([
    `${nameOf(0)}-2.ndjson`,
    `${nameOf(0)}.ndjson`,
  ]);
});

it('[LLM-6] the oldest are deleted if there are too many, or too many bytes; the newest stays', async () => {
  const few = createTraceFolder(folder, { maxFiles: 3, maxBytes: 1_000 });
  await Promise.all(Array.from({ length: 8 }, (_, at) => few(put(nameOf(at), 'x'))));
  expect((await readdir(folder)).toSorted()).toEqual([5, 6, 7].map(at => `${nameOf(at)}.ndjson`));
  await few(put(nameOf(8), 'x'.repeat(999)));
  expect((await readdir(folder)).toSorted()).toEqual([7, 8].map(at => `${nameOf(at)}.ndjson`));
  await few(put(nameOf(9), 'x'.repeat(5_000)));
  expect(await readdir(folder)).toEqual([`${nameOf(9)}.ndjson`]);
});

it('[LLM-6] it writes nothing but traces, and reports if it cannot write', async () => {
  const keep = createTraceFolder(folder);
  for (const name of [
    '../evil',
    '..%2fevil',
    `${nameOf(0)}/x`,
    '.bashrc',
    nameOf(0).toUpperCase(),
  ]) {
    expect([name, await keep(put(name, 'x'))]).toEqual([name, { status: 400 }]);
  }
  expect(await keep({ ...put(nameOf(0), 'x'), method: 'GET' })).toEqual({ status: 400 });
  expect(await keep(put(nameOf(0), 'x'.repeat(4_194_305)))).toEqual({ status: 400 });
  expect(await readdir(parent)).toEqual([]);
  await createTraceFolder(parent)(put(nameOf(0), 'x'));
  const inFile = createTraceFolder(join(parent, `${nameOf(0)}.ndjson`, 'below'));
  expect(await inFile(put(nameOf(1), 'x'))).toEqual({ status: 507 });
});

it('[LLM-6] a trace that cannot be stored leaves nothing behind', async () => {
  // Folders have all the names that it could get.
  const taken = Array.from(
    { length: 99 },
    (_, at) => `${nameOf(0)}${at === 0 ? '' : `-${at + 1}`}.ndjson`,
  );
  await Promise.all(taken.map(name => mkdir(join(folder, name), { recursive: true })));
  expect(await createTraceFolder(folder)(put(nameOf(0), 'x'))).toEqual({ status: 507 });
  expect((await readdir(folder)).toSorted()).toEqual(taken.toSorted());
});

it('[LLM-6] a folder that is set and cannot be written to is refused, since its traces would be lost', async () => {
  expect(await chooseTraceFolder('off', parent)).toBeUndefined();
  expect(await chooseTraceFolder(undefined, parent)).toBe(folder);
  expect(await chooseTraceFolder(join(parent, 'own'), parent)).toBe(join(parent, 'own'));
  await writeFile(folder, '');
  for (const path of [folder, join(folder, 'below')]) {
    await expect(chooseTraceFolder(path, parent)).rejects.toThrow(
      `PORTICO_TRACE_DIR: ${path} cannot be written to`,
    );
  }
});
