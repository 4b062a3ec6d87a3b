/**
 * `npm test`: installs missing packages, those of the test programs too, then runs every test project. Of slow random cases the tests run
 * all with `--whole`, and a tenth instead of a fifth with `--tenth` (`test/unit/seeded.ts`). Other arguments go to vitest: `npm test --
 * test/unit`.
 */
import { join } from 'path';
import { checkNode, ensureInstalled, findTool, root, runScript } from './bootstrap.mjs';

/** Options for the share of slow random cases. */
const SHARES = ['--whole', '--tenth'];

async function test() {
  checkNode();
  await ensureInstalled();
  await ensureInstalled(join(root, 'test', 'programs'));
  const args = process.argv.slice(2);
  const { env } = process;
  if (args.includes('--whole')) env.PORTICO_TEST_SHARE = '1';
  else if (args.includes('--tenth')) env.PORTICO_TEST_SHARE = env.PORTICO_TEST_SHARE || '0.1';
  runScript([findTool('vitest'), 'run'].concat(args.filter(arg => !SHARES.includes(arg))));
}

test();
