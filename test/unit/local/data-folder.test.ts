/** The error for a data folder that cannot be used: the true reason, in one line. */
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FolderTaken, isFolderTaken, lockDataFolder } from '../../../local/data-lock.ts';
import { toFullDisk } from '../../../local/full-disk.ts';
import { loadSecrets, makeDataFolder } from '../../../local/secrets.ts';
import { StartError } from '../../../local/start-error.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-folder-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('[OPS-3] creates the folder and its parents, for the owner only', async () => {
  const data = join(folder, 'a', 'b');
  await makeDataFolder(data);
  await makeDataFolder(data);
  const modes = [data, join(folder, 'a')].map(async path => (await stat(path)).mode & 0o777);
  expect(await Promise.all(modes)).toEqual([0o700, 0o700]);
});

it('[OPS-3] reports at once which folder cannot be created, and what to do', async () => {
  await writeFile(join(folder, 'file'), '');
  for (const [data, code] of [
    ['/proc/nowhere/data', 'ENOENT'],
    [join(folder, 'file'), 'EEXIST'],
    [join(folder, 'file', 'data'), 'ENOTDIR'],
  ] as const) {
    await expect(makeDataFolder(data)).rejects.toThrow(
      new StartError(
        `The data folder ${data} cannot be created (${code}); name another with --data DIR.`,
      ),
    );
  }
});

it('[OPS-3] reports that another gateway uses the folder only if one does', () => {
  const release = lockDataFolder(folder);
  expect(() => lockDataFolder(folder)).toThrow(FolderTaken);
  expect(isFolderTaken(folder)).toBe(true);
  release();
  expect(isFolderTaken(folder)).toBe(false);
});

it.each([
  [
    'is no database',
    (file: string) => writeFile(file, 'x'.repeat(5_000)),
    'file is not a database',
  ],
  ['is a folder', (file: string) => mkdir(file), 'unable to open database file'],
])('[OPS-3] reports why the lock cannot be used when it %s', async (_, make, reason) => {
  await make(join(folder, 'lock'));
  expect(() => lockDataFolder(folder)).toThrow(
    new StartError(`${join(folder, 'lock')} cannot be used (${reason}).`),
  );
});

it('[OPS-3] reports which file cannot be written, and why', async () => {
  const file = join(folder, 'secrets.json');
  await mkdir(`${file}.new`);
  await expect(loadSecrets(folder, undefined)).rejects.toThrow(
    new StartError(`${file} cannot be written (EISDIR).`),
  );
});

it('[OPS-3] reports a full disk for a start that failed with an internal error', async () => {
  const internal = new Error('internal error; reference = 59s87ph5');
  const full = await toFullDisk(internal, folder, async () => 409_600);
  expect(full?.message).toBe(
    `The disk of ${folder} is full (400 KiB are free). Make room there, or choose another one with --data DIR`,
  );
  expect(await toFullDisk(internal, folder, async () => 2 ** 30)).toBeUndefined();
  expect(await toFullDisk(new StartError('known'), folder, async () => 0)).toBeUndefined();
  expect(await toFullDisk(internal, join(folder, 'gone'))).toBeUndefined();
});
