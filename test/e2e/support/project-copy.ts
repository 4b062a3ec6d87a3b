/** A copy of the project as another user has it: its own files and configuration, and the packages of this checkout. */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Includes the lock file; the packages are those of this checkout. */
const COPIED =
  'package.json package-lock.json tsconfig.base.json cli console deploy local migrations pages src'.split(
    ' ',
  );

export interface ProjectCopy {
  root: string;
  remove(): Promise<void>;
}

/** @param change edits the text of `wrangler.toml` */
export async function copyProject(change = (toml: string) => toml): Promise<ProjectCopy> {
  const root = await mkdtemp(join(tmpdir(), 'portico-copy-'));
  for (const path of COPIED) await cp(join(ROOT, path), join(root, path), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const toml = await readFile(join(ROOT, 'wrangler.toml'), 'utf8');
  await writeFile(join(root, 'wrangler.toml'), change(toml));
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}
