/** Makes folders that people name. */
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Make a folder and those above it that are missing, for the owner only. Goes up by itself, since Node's own recursion never ends where
 * the system says that a folder is missing although the one above it is there, as below /proc.
 * @throws the error of the system
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const above = dirname(folder);
    if (code === 'ENOENT' && above !== folder && !(await isFolder(above))) {
      await makeFolder(above);
      return makeFolder(folder);
    }
    if (!(await isFolder(folder))) throw error;
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    found => found.isDirectory(),
    () => false,
  );
