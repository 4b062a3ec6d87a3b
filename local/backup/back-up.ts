/**
 * A backup of a data folder: one compressed tar archive with every store and a manifest, and beside it the keys in a separate file. Sealed
 * data stays sealed, so the archive alone decrypts nothing. Either both files exist complete, or neither does.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { create } from 'tar';
import { z } from 'zod';
import { isFolderTaken } from '../data-lock.ts';
import { StartError } from '../start-error.ts';
import { copyStores } from './copy-stores.ts';

/**
 * `manifest.json` of an archive: when it was made, in milliseconds since the epoch, and the SHA-256 of each file, in hexadecimal, by its
 * path with slashes.
 */
const ManifestSchema = z.object({
  format: z.literal(1),
  at: z.number(),
  files: z.record(z.string(), z.string()),
});
export type Manifest = z.infer<typeof ManifestSchema>;

/** Parses a manifest; undefined if the text is not a manifest of this version. */
export function readManifest(text: string): Manifest | undefined {
  try {
    return ManifestSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

export interface BackupMade {
  databases: number;
  bytes: number;
  keysFile: string;
}

export const MANIFEST = 'manifest.json';
export const SECRETS = 'secrets.json';

/** Returns the keys file that belongs to an archive. */
export const keysFileOf = (file: string): string =>
  `${file.replace(/\.(?:tar\.gz|tgz)$/, '')}.keys.json`;

/**
 * Backs up a data folder, whether a gateway uses it or not.
 * @param file the archive to create
 * @throws StartError if there is nothing to back up, a target file exists, or a file cannot be read or written
 */
export async function backUp(dataDir: string, file: string): Promise<BackupMade> {
  const keysFile = keysFileOf(file);
  for (const each of [file, keysFile]) {
    if (await isThere(each)) throw new StartError(`${each} already exists; name another file`, 2);
  }
  if (!(await isThere(join(dataDir, SECRETS)))) {
    throw new StartError(`There is no gateway data in ${dataDir}; name its folder with --data`, 2);
  }
  // On the same disk, so that the finished files can be moved into place at once.
  const work = await mkdtemp(join(dirname(file), `.${basename(file)}-`)).catch(error => {
    throw new StartError(`${dirname(file)} cannot be written to (${codeOf(error)})`, 2);
  });
  try {
    const stores = join(work, 'stores');
    const databases = await copyStores(dataDir, stores, isFolderTaken(dataDir));
    const manifest: Manifest = { format: 1, at: Date.now(), files: await digestsIn(stores) };
    await writeFile(join(stores, MANIFEST), JSON.stringify(manifest, null, 2));
    const archive = join(work, 'archive');
    const paths = [MANIFEST, ...Object.keys(manifest.files)];
    await create({ file: archive, cwd: stores, gzip: true, portable: true }, paths);
    await writeFile(join(work, SECRETS), await readFile(join(dataDir, SECRETS)), { mode: 0o600 });
    await chmod(archive, 0o600);
    await rename(join(work, SECRETS), keysFile);
    await rename(archive, file);
    return { databases, bytes: (await stat(file)).size, keysFile };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Returns the SHA-256 of each file below a folder. */
export async function digestsIn(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter(entry => entry.isFile());
  const digests: [string, string][] = [];
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name);
    const hash = createHash('sha256');
    await pipeline(createReadStream(path), hash);
    digests.push([relative(folder, path).replaceAll(sep, '/'), hash.digest('hex')]);
  }
  return Object.fromEntries(digests.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

export const codeOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code ?? 'unknown';
