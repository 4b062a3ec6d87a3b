/**
 * One gateway to a data folder. The lock is SQLite's own on a small file: the operating system lets go of it when the
 * process ends, however it ends, so that nothing stale is ever left.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { withdraw } from './running.ts';
import { StartError } from './start-error.ts';

/** SQLite's code for a lock that another process has. */
const BUSY = 5;

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
 * @throws StartError with the reason when the lock's file cannot be used, on a full disk for instance
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
