/**
 * Runs once for all end-to-end tests. Creates an empty, migrated database, of which each gateway on a new data folder starts with a copy
 * (`gateway.ts`): a migration takes as long as the rest of a start, and `start.test.ts` tests the migration by `npm start`. Builds the
 * command line as users install it, which starts in a third of the time that its sources take.
 */
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { buildCli } from '../../cli/build.ts';
import { migrateOnce } from '../../local/host.ts';
import { readSourceFiles } from '../../local/source-files.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder of the database. */
    migratedStorage: string;
    /** Folder of the built command, `portico.mjs`. */
    commandFolder: string;
  }
}

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-tests-'));
  const storage = join(folder, 'migrated');
  const { config, migrations } = await readSourceFiles();
  await migrateOnce(storage, config, migrations);
  project.provide('migratedStorage', storage);
  // The packages that npm installs beside the command are found from its folder.
  await symlink(PACKAGES, join(folder, 'node_modules'));
  project.provide('commandFolder', dirname(await buildCli(join(folder, 'command'))));
  return () => rm(folder, { recursive: true, force: true });
}
