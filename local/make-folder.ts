/** Creates folders that people name. */
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder and its missing parents, for the owner only. It walks up itself, since Node's recursive mkdir never ends where the
 * system reports a folder as missing although its parent exists, as below /proc.
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
