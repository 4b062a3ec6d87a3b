/**
 * `npm test`: installs what is missing, then runs every test project. Arguments go to vitest: `npm test -- test/unit`.
 */
import { checkNode, ensureInstalled, findTool, runScript } from './bootstrap.mjs';

async function test() {
  checkNode();
  await ensureInstalled();
  runScript([findTool('vitest'), 'run'].concat(process.argv.slice(2)));
}

test();
