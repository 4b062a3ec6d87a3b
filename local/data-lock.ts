/**
 * One gateway to a data folder. The lock is SQLite's own on a small file: the operating system lets go of it when the
 * process ends, however it ends, so that nothing stale is ever left.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { withdraw } from './running.ts';
import { StartError } from './start-error.ts';

/** Another gateway has the data folder. */
export class FolderTaken extends StartError {
  constructor(folder: string) {
    super(
      `Another gateway uses the data folder ${folder}. Stop it, or give this one its own with --data DIR`,
    );
  }
}

/**
 * Take the data folder for this process; gives the function that lets go of it.
 * @throws FolderTaken when another gateway has it
 */
export function lockDataFolder(folder: string): () => void {
  const lock = new DatabaseSync(join(folder, 'lock'));
  try {
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch {
    lock.close();
    throw new FolderTaken(folder);
  }
  withdraw(folder);
  return () => lock.close();
}

/** Whether a gateway has the data folder. */
export function isFolderTaken(folder: string): boolean {
  try {
    lockDataFolder(folder)();
    return false;
  } catch (error) {
    if (error instanceof FolderTaken) return true;
    throw error;
  }
}
