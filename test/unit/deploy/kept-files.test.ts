/** The folder of a deployment keeps nothing that was half written. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openKeptFiles } from '../../../deploy/kept-files.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-kept-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** The files in the folder, without those of its lock. */
const written = async () => (await readdir(folder)).filter(name => !name.startsWith('lock'));

it('[OPS-4] removes the secrets of a run that was killed, also half written ones', async () => {
  for (const name of ['secrets.json', 'secrets.json.new']) await writeFile(join(folder, name), '{');
  await openKeptFiles(folder);
  expect(await written()).toEqual([]);
});

it('[OPS-4] refuses a second run, which would remove the secrets of the first', async () => {
  const files = await openKeptFiles(folder);
  await files.withSecrets({ A: 'b' }, async file => {
    await expect(openKeptFiles(folder)).rejects.toThrow('is being deployed by another run');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ A: 'b' });
  });
});

it('[OPS-4] leaves nothing of a file that cannot be written', async () => {
  const files = await openKeptFiles(folder);
  await mkdir(join(folder, 'ids.json'));
  await expect(files.write('ids.json', {})).rejects.toThrow('ids.json');
  expect(await written()).toEqual(['ids.json']);
});

it('[OPS-4] reads what it wrote, and nothing where that is missing or damaged', async () => {
  const files = await openKeptFiles(folder);
  await files.write('ids.json', { a: 1 });
  expect(await files.read('ids.json')).toEqual({ a: 1 });
  await writeFile(join(folder, 'ids.json'), '{');
  expect([await files.read('ids.json'), await files.read('no.json')]).toEqual([
    undefined,
    undefined,
  ]);
});
