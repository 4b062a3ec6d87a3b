/**
 * `npm start`: answers --help by itself, installs what is missing, then runs `local/main.ts` under the project's Node.
 * Everything about options but --help belongs to `main.ts`.
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
