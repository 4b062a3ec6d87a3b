/**
 * `npm start`: answers --help itself, installs missing packages, then runs `local/main.ts` under the project's Node. `main.ts` handles all
 * options but --help.
 */
import { readFileSync } from 'fs';
import { join } from 'path';
import { checkNode, ensureInstalled, root, runScript } from './bootstrap.mjs';

const args = process.argv.slice(2);

async function start() {
  checkNode();
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(readFileSync(join(root, 'local', 'help.txt'), 'utf8'));
    return;
  }
  await ensureInstalled();
  runScript([join(root, 'local', 'main.ts')].concat(args), { ownGroup: true });
}

start();
