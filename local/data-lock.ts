/**
 * Ensures that only one gateway uses a data folder. The lock is SQLite's own on a small file: the operating system releases it when the
 * process ends, for whatever reason, so no stale lock is ever left.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { withdraw } from './running.ts';
import { StartError } from './start-error.ts';

/** SQLite's error code for a lock held by another process. */
const BUSY = 5;

/** Another gateway uses the data folder. */
export class FolderTaken extends StartError {
  constructor(folder: string) {
    super(
      `Another gateway uses the data folder ${folder}. Stop it, or give this one its own with --data DIR`,
    );
  }
}

/**
 * Locks the data folder for this process. Returns the function that releases it.
 * @throws FolderTaken if another gateway holds it
 * @throws StartError with the reason if the lock file cannot be used, for instance on a full disk
 */
export function lockDataFolder(folder: string): () => void {
  const file = join(folder, 'lock');
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(file);
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    const { errcode, message } = error as Error & { errcode?: number };
    if (errcode === BUSY) throw new FolderTaken(folder);
    throw new StartError(`${file} cannot be used (${message}).`);
  }
  const held = lock;
  withdraw(folder);
  return () => held.close();
}

/** Whether a gateway holds the data folder. */
export function isFolderTaken(folder: string): boolean {
  try {
    lockDataFolder(folder)();
    return false;
  } catch (error) {
    if (error instanceof FolderTaken) return true;
    throw error;
  }
}
