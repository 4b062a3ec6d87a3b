/**
 * Runs once for all end-to-end tests. Creates an empty, migrated database, of which each gateway on a new data folder starts with a copy
 * (`gateway.ts`): a migration takes as long as the rest of a start, and `start.test.ts` tests the migration by `npm start`. Builds the
 * command line as users install it, which starts in a third of the time that its sources take, and other programs (`build-programs.ts`).
 */
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { buildCli } from '../../cli/build.ts';
import { migrateOnce } from '../../local/host.ts';
import { readSourceFiles } from '../../local/source-files.ts';
import { buildFixtures, buildGateway } from './support/build-programs.ts';

interface Built {
  /** Folder of the database. */
  migratedStorage: string;
  /** Folder of the built command, `portico.mjs`. */
  commandFolder: string;
  /** The gateway's process in one file. */
  gatewayFile: string;
}

declare module 'vitest' {
  export interface ProvidedContext extends Built {}
}

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));
/** Vitest evaluates this file for each project, in one process. */
const kept = globalThis as { porticoBuilt?: Promise<Built> };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  kept.porticoBuilt ??= mkdtemp(join(tmpdir(), 'portico-tests-')).then(folder =>
    buildAll(folder).catch(async (failure: unknown) => {
      await rm(folder, { recursive: true, force: true });
      throw failure;
    }),
  );
  const built = await kept.porticoBuilt;
  project.provide('migratedStorage', built.migratedStorage);
  project.provide('commandFolder', built.commandFolder);
  project.provide('gatewayFile', built.gatewayFile);
  return () => rm(dirname(built.commandFolder), { recursive: true, force: true });
}

async function buildAll(folder: string): Promise<Built> {
  const migratedStorage = join(folder, 'migrated');
  const { config, migrations } = await readSourceFiles();
  await migrateOnce(migratedStorage, config, migrations);
  // The packages that npm installs beside the command are found from its folder.
  await symlink(PACKAGES, join(folder, 'node_modules'));
  const commandFolder = dirname(await buildCli(join(folder, 'command')));
  const gatewayFile = await buildGateway(folder, join(commandFolder, 'gateway'));
  process.env['PORTICO_TEST_FIXTURES'] = await buildFixtures(join(folder, 'fixtures'));
  return { migratedStorage, commandFolder, gatewayFile };
}
