/**
 * Records this checkout as the last release, beside which later versions are tested (docs/decisions/0043-one-version-apart.md): its bundled
 * Worker, its wrangler.toml, and the names of its migrations. Run it on the released commit; its output is committed.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { buildSync } from 'esbuild';
import { BUNDLE_OPTIONS } from './bundle.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'test/fixtures/last-release');

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
const migrations = readdirSync(join(ROOT, 'migrations')).toSorted();
const { outputFiles } = buildSync({
  ...BUNDLE_OPTIONS,
  entryPoints: [join(ROOT, 'src/index.ts')],
  minify: true,
  legalComments: 'none',
});
const [worker] = outputFiles;
if (!worker) throw new Error('No bundle');

mkdirSync(FOLDER, { recursive: true });
const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
writeFileSync(join(FOLDER, 'worker.js.br'), brotliCompressSync(worker.contents, { params }));
copyFileSync(join(ROOT, 'wrangler.toml'), join(FOLDER, 'wrangler.toml'));
const record = { version, commit, migrations };
writeFileSync(join(FOLDER, 'release.json'), `${JSON.stringify(record, null, 2)}\n`);
console.log(`${version} (${commit}) is recorded in test/fixtures/last-release`);
