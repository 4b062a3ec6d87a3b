/**
 * `npm test`: installs what is missing, the programs of the tests too, then runs every test project. With `--whole` the tests that
 * draw slow random cases draw all of them (`test/unit/seeded.ts`). Other arguments go to vitest: `npm test -- test/unit`.
 */
import { join } from 'path';
import { checkNode, ensureInstalled, findTool, root, runScript } from './bootstrap.mjs';

async function test() {
  checkNode();
  await ensureInstalled();
  await ensureInstalled(join(root, 'test', 'programs'));
  const args = process.argv.slice(2);
  if (args.includes('--whole')) process.env.PORTICO_TEST_SHARE = '1';
  runScript([findTool('vitest'), 'run'].concat(args.filter(arg => arg !== '--whole')));
}

test();
