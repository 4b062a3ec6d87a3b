/**
 * The folder of one deployment on this machine: which ids it has, the merged configuration, the log, and for a moment its secrets. It is
 * a convenience: everything in it is found again in the account. Only its owner can read it, and only one run uses it at a time.
 */
import { rmSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { FolderTaken, lockDataFolder } from '../local/data-lock.ts';
import { StartError } from '../local/start-error.ts';

export interface KeptFiles {
  folder: string;
  logFile: string;
  /** Read a JSON file; undefined where it is missing or damaged. */
  read(file: string): Promise<unknown>;
  /** Write a JSON file, whole or not at all. @returns its path */
  write(file: string, value: unknown): Promise<string>;
  /** Do something with secrets in a file, which is gone afterwards, however this process ends but by a kill. */
  withSecrets<T>(secrets: Record<string, string>, work: (file: string) => Promise<T>): Promise<T>;
}

const SECRETS = 'secrets.json';

/**
 * Opens the folder for the rest of this process; what a killed run left of secrets goes.
 * @throws StartError where another run uses it
 */
export async function openKeptFiles(folder: string): Promise<KeptFiles> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  lock(folder);
  const secretsFile = join(folder, SECRETS);
  const remove = () => {
    for (const file of [secretsFile, `${secretsFile}.new`]) rmSync(file, { force: true });
  };
  remove();
  const write = async (file: string, value: unknown): Promise<string> => {
    const path = join(folder, file);
    try {
      await writeFile(`${path}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
      await rename(`${path}.new`, path);
    } catch (error) {
      await rm(`${path}.new`, { force: true });
      throw error;
    }
    return path;
  };
  return {
    folder,
    logFile: join(folder, 'wrangler.log'),
    read: file =>
      readFile(join(folder, file), 'utf8')
        .then(text => JSON.parse(text) as unknown)
        .catch(() => undefined),
    write,
    async withSecrets(secrets, work) {
      process.once('exit', remove);
      try {
        return await work(await write(SECRETS, secrets));
      } finally {
        remove();
        process.off('exit', remove);
      }
    },
  };
}

/** Held until the process ends. */
function lock(folder: string): void {
  try {
    process.once('exit', lockDataFolder(folder));
  } catch (error) {
    if (!(error instanceof FolderTaken)) throw error;
    throw new StartError(`${basename(folder)} is being deployed by another run: wait for its end`);
  }
}
