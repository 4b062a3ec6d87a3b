/**
 * Creates a data folder from a backup. It is built beside its final place and moved there in one step, so that an interrupted restore
 * leaves that place unchanged.
 */
import { access, readFile, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { extract } from 'tar';
import { makeFolder } from '../make-folder.ts';
import { StartError } from '../start-error.ts';
import {
  codeOf,
  digestsIn,
  keysFileOf,
  MANIFEST,
  readManifest,
  SECRETS,
  type Manifest,
} from './back-up.ts';

/** The paths that an archive may contain. */
const PATH = /^(?:manifest\.json|demo\.json|storage\/(?:do|d1|kv)\/[A-Za-z0-9_.:/-]+)$/;

/**
 * @param file an archive that {@link backUp} made
 * @param dataDir a folder that is empty or does not exist
 * @param keysFile where the keys are, if not beside the archive
 * @returns when the backup was made, in milliseconds since the epoch
 * @throws StartError if the folder is not empty, or the backup is incomplete or damaged
 */
export async function restore(
  file: string,
  dataDir: string,
  keysFile = keysFileOf(file),
): Promise<{ at: number }> {
  const kept = await readdir(dataDir).catch(() => []);
  if (kept.length > 0) {
    throw new StartError(`${dataDir} is not empty; name a new folder with --data`, 2);
  }
  await access(file).catch(error => {
    throw new StartError(`${file} cannot be read (${codeOf(error)})`, 2);
  });
  const keys = await readFile(keysFile).catch(error => {
    throw new StartError(
      `${keysFile} cannot be read (${codeOf(error)}); name the keys with --keys`,
      2,
    );
  });
  const work = join(dirname(dataDir), `.${basename(dataDir)}.restoring`);
  await rm(work, { recursive: true, force: true });
  await makeFolder(work).catch(error => {
    throw notCreated(dataDir, error);
  });
  try {
    const manifest = await unpack(file, work);
    await rm(join(work, MANIFEST));
    await writeFile(join(work, SECRETS), keys, { mode: 0o600 });
    await rmdir(dataDir).catch(() => undefined);
    await rename(work, dataDir).catch(error => {
      throw notCreated(dataDir, error);
    });
    return { at: manifest.at };
  } finally {
    // After a failed write, others are still under way.
    await rm(work, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

const notCreated = (dataDir: string, error: unknown) =>
  new StartError(`${dataDir} cannot be created (${codeOf(error)}); name another with --data`);

/** Accepts only files and folders of a backup: a link could lead out of it. */
const isOurs = (path: string, entry: object): boolean =>
  PATH.test(path) && 'type' in entry && (entry.type === 'File' || entry.type === 'Directory');

async function unpack(file: string, to: string): Promise<Manifest> {
  const notWhole = (reason: string) =>
    new StartError(`${file} is not a complete backup: ${reason}`);
  try {
    await extract({ file, cwd: to, strict: true, filter: isOurs });
  } catch (error) {
    // The system refused it, as on a full disk: that says nothing about the archive.
    if (error instanceof Error && 'syscall' in error) {
      throw new StartError(`${file} cannot be unpacked to ${dirname(to)}: ${error.message}`);
    }
    throw notWhole(error instanceof Error ? error.message : String(error));
  }
  const text = await readFile(join(to, MANIFEST), 'utf8').catch(() => {
    throw notWhole(`it has no ${MANIFEST}`);
  });
  const manifest = readManifest(text);
  if (!manifest) throw notWhole(`its ${MANIFEST} is of another version`);
  const { [MANIFEST]: _own, ...files } = await digestsIn(to);
  const wrong = Object.keys({ ...files, ...manifest.files }).find(
    path => files[path] !== manifest.files[path],
  );
  if (wrong !== undefined) throw notWhole(`${wrong} is damaged`);
  return manifest;
}
