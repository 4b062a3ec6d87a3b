/**
 * Bundles the command line into `cli/dist/portico.mjs`, which needs only its dependencies at run time. Writes the gateway of `portico up`
 * and the licences of bundled packages beside it.
 */
import { buildSync } from 'esbuild';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { buildAssets } from '../local/assets.ts';
import { bundleWithSources } from '../local/bundle.ts';
import { packFiles } from '../local/gateway-files.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const ROOT = here('../');
/** The innermost package that contains a file. */
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

/**
 * Writes the command and what belongs to it.
 * @param folder emptied first; the `external` packages must be found from there
 * @returns the path of the command
 */
export async function buildCli(folder = here('dist')): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = buildSync({
    absWorkingDir: ROOT,
    entryPoints: { portico: here('src/portico.ts') },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Code that only `portico up` needs stays in chunks of its own, so no other command loads it.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    // npm installs the `external` packages with the command line, so they are not bundled. yaml is taken from its browser build, since its
    // Node build is CommonJS and calls `require`, which an ES module bundle lacks.
    alias: { yaml: `${ROOT}node_modules/yaml/browser/index.js` },
    external: ['commander', 'picocolors', 'miniflare'],
    metafile: true,
    logLevel: 'silent',
  });
  const { text: script, sources } = bundleWithSources(`${ROOT}src/index.ts`);
  const all = [...Object.keys(metafile.inputs).map(path => `${ROOT}${path}`), ...sources];
  const packages = new Set(all.flatMap(path => PACKAGE.exec(path) ?? []));
  const notices = [...packages].toSorted().map(readNotice);
  writeFileSync(join(folder, 'THIRD-PARTY.txt'), notices.join('\n'));
  await packFiles(join(folder, 'gateway'), ROOT, { script, assets: buildAssets() });
  return join(folder, 'portico.mjs');
}

/**
 * Returns name, version and licence of a package: the licence text, or its name where there is no file. @throws Error where it has neither
 */
function readNotice(folder: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(`${folder}/package.json`, 'utf8'),
  ) as Record<string, unknown>;
  const file = readdirSync(folder).find(path => /^licen[cs]e/i.test(path));
  const text = file === undefined ? license : readFileSync(`${folder}/${file}`, 'utf8').trim();
  if (typeof text !== 'string') throw new Error(`${String(name)} is bundled, but has no licence`);
  return `${String(name)} ${String(version)}\n\n${text}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildCli();
