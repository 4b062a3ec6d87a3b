/**
 * Runs once for all end-to-end tests: creates an empty, migrated database, of which each gateway on a new data folder starts with a copy
 * (`gateway.ts`). A migration takes as long as the rest of a start; `start.test.ts` tests the migration by `npm start`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrateOnce } from '../../local/host.ts';
import { readSourceFiles } from '../../local/source-files.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder of the database. */
    migratedStorage: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-migrated-'));
  const { config, migrations } = await readSourceFiles();
  await migrateOnce(folder, config, migrations);
  project.provide('migratedStorage', folder);
  return () => rm(folder, { recursive: true, force: true });
}
