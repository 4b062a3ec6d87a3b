/** The files of a gateway that runs, as text: to show what is and is not stored in them. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../../fixtures/start-fixture.ts';

const SOON_MS = 10_000;

const readFiles = async (folder: string) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter(entry => entry.isFile());
  return Promise.all(files.map(file => readFile(join(file.parentPath, file.name), 'latin1')));
};

/**
 * Returns the text of every file below the data folder of a gateway that runs. SQLite removes its side files as it
 * closes a database; a file that vanishes between the listing and the reading has all read anew.
 */
export const storedText = (folder: string) =>
  until('no file vanished', SOON_MS, () =>
    readFiles(folder).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== 'ENOENT') throw thrown;
      return undefined;
    }),
  );
