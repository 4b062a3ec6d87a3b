/** The files of a gateway from this checkout. The Worker is bundled anew if a source file has changed, so that the current sources run. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildAssets } from './assets.ts';
import type { GatewayFiles } from './gateway-files.ts';
import { keptBundle } from './kept-bundle.ts';
import { readMigrations } from './migrations.ts';
import { parseWorkerConfig } from './worker-config.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** @param script the bundled Worker; without it `src/index.ts` is bundled */
export async function readSourceFiles(script?: string): Promise<GatewayFiles> {
  const [config, migrations] = await Promise.all([
    readFile(join(ROOT, 'wrangler.toml'), 'utf8').then(parseWorkerConfig),
    readMigrations(join(ROOT, 'migrations')),
  ]);
  const worker = script ?? keptBundle(join(ROOT, 'src/index.ts'));
  return { config, migrations, script: worker, assets: buildAssets() };
}
