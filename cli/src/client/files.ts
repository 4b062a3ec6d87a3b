/**
 * Reads and writes the configurations of other programs. The former file is kept as a backup beside it, and no file is ever left half
 * written.
 */
import {
  chmod,
  copyFile,
  mkdir,
  open,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { dirname } from 'node:path';
import { EXIT, Failure } from '../failure.ts';

const MAX_BYTES = 67_108_864;
/** Mode of a new file, by who may read it; one that holds a token is for its owner alone. */
const NEW_MODE = { owner: 0o600, others: 0o644 };

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

/** Reads a file; an absent file is an empty text. @throws Failure where it cannot be read, or is not UTF-8 */
export async function readConfiguration(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    const { size } = await stat(file);
    if (size > MAX_BYTES) throw new Failure(`${file} is longer than 64 MiB`, EXIT.usage);
    bytes = await readFile(file);
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (codeOf(error) === 'ENOENT') return '';
    throw new Failure(`${file} cannot be read (${codeOf(error)})`, EXIT.usage);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Failure(`${file} is not UTF-8 text; nothing was changed`, EXIT.usage);
  }
}

/**
 * Replaces a file atomically and keeps its mode. Follows a symbolic link.
 * @returns the path of the backup; undefined where there was no file
 * @throws Failure where it cannot be written; the file is then unchanged
 */
export async function writeConfiguration(
  file: string,
  text: string,
  readBy: keyof typeof NEW_MODE,
): Promise<string | undefined> {
  let made: string | undefined;
  try {
    await mkdir(dirname(file), { recursive: true });
    const target = await followed(file);
    const mode = await modeOf(target);
    const kept = `${target}.before-portico`;
    if (mode !== undefined) await copyFile(target, kept);
    made = `${target}.${process.pid}.new`;
    const handle = await open(made, 'wx', mode ?? NEW_MODE[readBy]);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // The umask of the process may have removed bits when the file was created.
    if (mode !== undefined) await chmod(made, mode);
    await rename(made, target);
    return mode === undefined ? undefined : kept;
  } catch (error) {
    if (made !== undefined) await rm(made, { force: true });
    if (error instanceof Failure) throw error;
    throw new Failure(`${file} cannot be written (${codeOf(error)}); nothing was changed`);
  }
}

/** Resolves symbolic links. */
async function followed(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  const link = await readlink(file).catch(() => undefined);
  if (link === undefined) return file;
  throw new Failure(`${file} is a broken link (to ${link}); nothing was changed`);
}

async function modeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).mode & 0o777;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
