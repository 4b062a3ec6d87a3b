/**
 * Builds the console (`console/`) into the static files of the Worker, if its sources have changed. Concurrent starts build in separate
 * folders and rename their files into place; the file names contain content hashes.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The last two are source code that the console shares with the gateway. */
const SOURCES = ['console', 'package-lock.json', 'src/servers/transfer', 'src/http/sse-events.ts'];
const VITE = join(ROOT, 'node_modules/vite/bin/vite.js');
/** Holds the hash of the sources that the files were built from. */
const STAMP = 'source.txt';

/** Builds the console into a folder, unless it is up to date. */
export function buildConsole(folder: string): void {
  const source = hashOf(SOURCES.flatMap(filesOf));
  const stamp = join(folder, STAMP);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === source) return;
  const draft = join(ROOT, 'dist', `console-${process.pid}`);
  try {
    execFileSync(process.execPath, [VITE, 'build', join(ROOT, 'console'), '--outDir', draft], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    mkdirSync(join(folder, 'assets'), { recursive: true });
    // The page comes last, since it refers to the others.
    const files = filesOf(relative(ROOT, draft)).map(file => relative(draft, file));
    for (const file of files.toSorted((a, b) => rankOf(a) - rankOf(b))) {
      renameSync(join(draft, file), join(folder, file));
    }
    const isOld = (name: string) => !files.includes(join('assets', name));
    for (const name of readdirSync(join(folder, 'assets')).filter(isOld)) {
      rmSync(join(folder, 'assets', name), { force: true });
    }
    writeFileSync(stamp, source);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

const rankOf = (file: string) => Number(file.endsWith('.html'));

/** Returns the files at a path of the project, without generated ones. */
function filesOf(path: string): string[] {
  const at = join(ROOT, path);
  if (!statSync(at).isDirectory()) return [at];
  const entries = readdirSync(at, { withFileTypes: true });
  return entries
    .filter(({ name }) => name !== 'node_modules' && name !== 'generated')
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name }) => filesOf(join(path, name)));
}

function hashOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files)
    hash.update(relative(ROOT, file)).update('\0').update(readFileSync(file));
  return hash.digest('hex');
}
