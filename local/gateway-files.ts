/**
 * What a gateway is started from: its bundled Worker, its `wrangler.toml`, migrations and static files. The packed command line has them
 * together in one folder (`cli/build.ts`).
 */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readMigrations, type Migration } from './migrations.ts';
import { parseWorkerConfig, type WorkerConfig } from './worker-config.ts';

export interface GatewayFiles {
  config: WorkerConfig;
  migrations: readonly Migration[];
  /** The Worker as one ES module. */
  script: string;
  /** Absolute path of the folder of static files. */
  assets: string;
}

const SCRIPT = 'worker.js';
const CONFIG = 'wrangler.toml';
const MIGRATIONS = 'migrations';
const ASSETS = 'assets';

/** Reads the files from a folder that {@link packFiles} wrote. */
export async function readPackedFiles(folder: string): Promise<GatewayFiles> {
  const [config, script, migrations] = await Promise.all([
    readFile(join(folder, CONFIG), 'utf8').then(parseWorkerConfig),
    readFile(join(folder, SCRIPT), 'utf8'),
    readMigrations(join(folder, MIGRATIONS)),
  ]);
  return { config, script, migrations, assets: join(folder, ASSETS) };
}

/**
 * Copies the files of a checkout into a folder, which is emptied first.
 * @param root the checkout
 */
export async function packFiles(
  folder: string,
  root: string,
  { script, assets }: Pick<GatewayFiles, 'script' | 'assets'>,
): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await Promise.all([
    writeFile(join(folder, SCRIPT), script),
    cp(join(root, CONFIG), join(folder, CONFIG)),
    cp(join(root, MIGRATIONS), join(folder, MIGRATIONS), { recursive: true }),
    cp(assets, join(folder, ASSETS), { recursive: true }),
  ]);
}
