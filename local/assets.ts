/**
 * Puts the static files of the Worker together in `dist/assets`: our pages and the renderer of the API's description from npm, with its licence. Run by
 * wrangler before a deployment, and by the local host and the tests of the Worker at their start. A file that is there already is left alone, so that
 * several starts at once do not disturb each other.
 */
import { mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RENDERER = 'node_modules/swagger-ui-dist';
const RENDERER_FILES = [
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
  'LICENSE',
  'NOTICE',
];

/** Make the folder and give its absolute path. */
export function buildAssets(): string {
  const folder = join(ROOT, 'dist/assets');
  const docs = join(folder, 'docs');
  mkdirSync(docs, { recursive: true });
  const pages = readdirSync(join(ROOT, 'pages/docs')).map(name => join(ROOT, 'pages/docs', name));
  const renderer = RENDERER_FILES.map(name => join(ROOT, RENDERER, name));
  for (const file of [...pages, ...renderer]) copyOnce(file, join(docs, basename(file)));
  return folder;
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
