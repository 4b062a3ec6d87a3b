/**
 * One gateway to a data folder. The lock is SQLite's own on a small file: the operating system lets go of it when the
 * process ends, however it ends, so that nothing stale is ever left.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from './start-error.ts';

/**
 * Take the data folder for this process; gives the function that lets go of it.
 * @throws StartError when another gateway has it
 */
export function lockDataFolder(folder: string): () => void {
  const lock = new DatabaseSync(join(folder, 'lock'));
  try {
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch {
    lock.close();
    throw new StartError(
      `Another gateway uses the data folder ${folder}. Stop it, or give this one its own with --data DIR`,
    );
  }
  return () => lock.close();
}
