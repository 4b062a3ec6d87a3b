/**
 * Once for all end-to-end tests: an empty database that is up to date, of which each gateway on a new data folder begins with a copy
 * (`gateway.ts`). To migrate one takes as long as the rest of a start does; what `npm start` does of it is in `start.test.ts`.
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
