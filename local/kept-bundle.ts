/**
 * Bundles a Worker's entry once. The bundle is cached in `node_modules/.cache/portico` and reused as long as the size and modification time
 * of each source file are unchanged. If it cannot be cached, it is built at each start.
 */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWithSources } from './bundle.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'node_modules/.cache/portico');
/** Files that determine how a bundle is built, besides its sources. */
const MAKERS = ['local/bundle.ts', 'node_modules/esbuild/package.json'].map(file =>
  join(ROOT, file),
);

/** A file at the time of bundling. */
type Stamp = [path: string, size: number, mtimeMs: number];

interface Kept {
  entry: string;
  stamps: Stamp[];
  text: string;
}

/** Returns the bundle of the file at an absolute path. Synchronous, as `bundleWithSources` is. */
export function keptBundle(entry: string, folder = FOLDER): string {
  const file = join(folder, 'worker.json');
  const kept = readKept(file);
  if (kept?.entry === entry && kept.stamps.every(isSame)) return kept.text;
  const { text, sources } = bundleWithSources(entry);
  keep(folder, file, { entry, stamps: [...sources, ...MAKERS].map(toStamp), text });
  return text;
}

function toStamp(path: string): Stamp {
  const { size, mtimeMs } = statSync(path);
  return [path, size, mtimeMs];
}

function isSame([path, size, mtimeMs]: Stamp): boolean {
  const now = statSync(path, { throwIfNoEntry: false });
  return now?.size === size && now.mtimeMs === mtimeMs;
}

function readKept(file: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Kept;
  } catch {
    return undefined;
  }
}

/** Writes by renaming, so that concurrent starts do not disturb each other. */
function keep(folder: string, file: string, kept: Kept): void {
  try {
    mkdirSync(folder, { recursive: true });
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, JSON.stringify(kept));
    renameSync(draft, file);
  } catch {
    // The folder cannot be written: the next start bundles again.
  }
}
