/**
 * Collects the static files of the Worker in `dist/assets`: our pages, the console, the tables of search, and the renderer of the API
 * description from npm with its licence. Run by wrangler before a deployment, and by the local host and the Worker tests at their start. A
 * file with the same content is left alone, so that concurrent starts do not disturb each other.
 */
import { mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { buildConsole } from './console-assets.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RENDERER = 'node_modules/swagger-ui-dist';
const RENDERER_FILES = [
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
  'LICENSE',
  'NOTICE',
];

/** Builds the folder and returns its absolute path. */
export function buildAssets(): string {
  const folder = join(ROOT, 'dist/assets');
  copyAll(
    [...listPages('docs'), ...RENDERER_FILES.map(name => join(RENDERER, name))],
    join(folder, 'docs'),
  );
  buildConsole(join(folder, 'console'));
  for (const name of ['search', 'people']) copyAll(listPages(name), join(folder, name));
  return folder;
}

function listPages(name: string): string[] {
  const folder = join('pages', name);
  return readdirSync(join(ROOT, folder)).map(file => join(folder, file));
}

function copyAll(files: string[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const file of files) copyOnce(join(ROOT, file), join(folder, basename(file)));
}

function copyOnce(from: string, to: string): void {
  const wanted = readFileSync(from);
  if (readIfThere(to)?.equals(wanted)) return;
  const draft = `${to}.${process.pid}`;
  writeFileSync(draft, wanted);
  renameSync(draft, to);
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildAssets();
