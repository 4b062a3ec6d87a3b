/**
 * Bundles the command line into `cli/dist/portico.mjs`, which runs with nothing but its dependencies, and puts the gateway of
 * `portico up` and the licences of what is bundled beside it.
 */
import { buildSync } from 'esbuild';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { buildAssets } from '../local/assets.ts';
import { bundleWithSources } from '../local/bundle.ts';
import { packFiles } from '../local/gateway-files.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const ROOT = here('../');
/** The innermost package that a file is of. */
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

/** @returns the path of the command */
export async function buildCli(): Promise<string> {
  rmSync(here('dist'), { recursive: true, force: true });
  const { metafile } = buildSync({
    absWorkingDir: ROOT,
    entryPoints: { portico: here('src/portico.ts') },
    outdir: here('dist'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // What only `portico up` needs is read by nothing else.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    // What it is installed with stays outside.
    // As modules: its files for Node require what a bundle of modules cannot.
    alias: { yaml: `${ROOT}node_modules/yaml/browser/index.js` },
    external: ['commander', 'picocolors', 'miniflare'],
    metafile: true,
    logLevel: 'silent',
  });
  const { text: script, sources } = bundleWithSources(`${ROOT}src/index.ts`);
  const all = [...Object.keys(metafile.inputs).map(path => `${ROOT}${path}`), ...sources];
  const packages = new Set(all.flatMap(path => PACKAGE.exec(path) ?? []));
  const notices = [...packages].toSorted().map(readNotice);
  writeFileSync(here('dist/THIRD-PARTY.txt'), notices.join('\n'));
  await packFiles(here('dist/gateway'), ROOT, { script, assets: buildAssets() });
  return here('dist/portico.mjs');
}

/** Name, version and licence of a package: its text, or where it has none its name. @throws Error where it has neither */
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
