/**
 * Generates the API types of the console from the OpenAPI document with a stock generator, into `console/src/generated` (not committed).
 * Run before type checks.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createEmptyApi, loadDocument } from '../test/unit/api/document.ts';

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const FOLDER = at('console/src/generated');

mkdirSync(at('dist'), { recursive: true });
const input = at('dist/openapi.json');
writeFileSync(input, JSON.stringify(await loadDocument(await createEmptyApi())));
const program = at('node_modules/@hey-api/openapi-ts/bin/run.js');
const options = ['-i', input, '-o', FOLDER, '-p', '@hey-api/typescript', '--no-log-file'];
execFileSync(process.execPath, [program, ...options], {
  cwd: at('dist'),
  stdio: ['ignore', 'ignore', 'inherit'],
  env: { ...process.env, NO_COLOR: '1' },
});
