/** Files with secrets that only their owner may read. Each is replaced as a whole. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from './failure.ts';

/** Reads a file; undefined where there is none. @throws Failure where it cannot be read, or others may read it */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new Failure(`others may read ${path}; run \`chmod 600\` on it`);
    }
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw error instanceof Failure ? error : new Failure(`${path} cannot be read (${code})`);
  }
}

/** Writes a file as JSON, and makes its folder if needed. @throws Failure */
export async function writePrivateFile(path: string, content: object): Promise<void> {
  const next = `${path}.${randomUUID()}.new`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(next, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(`${path} cannot be written (${code ?? String(error)})`);
  }
}
