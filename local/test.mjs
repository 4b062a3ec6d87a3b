/**
 * `npm test`: installs what is missing, the programs of the tests too, then runs every test project. Arguments go to vitest: `npm test -- test/unit`.
 */
import { join } from 'path';
import { checkNode, ensureInstalled, findTool, root, runScript } from './bootstrap.mjs';

async function test() {
  checkNode();
  await ensureInstalled();
  await ensureInstalled(join(root, 'test', 'programs'));
  runScript([findTool('vitest'), 'run'].concat(process.argv.slice(2)));
}

test();
