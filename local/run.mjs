/**
 * `node local/run.mjs TOOL ARGS…`: checks the installation as `npm start` does, then runs a tool under the project's Node. TOOL is the
 * command of an installed package (`vitest`) or a .ts or .mjs file of this project.
 */
import { resolve } from 'path';
import { checkNode, ensureInstalled, findTool, runScript } from './bootstrap.mjs';

async function run(tool, args) {
  checkNode();
  await ensureInstalled();
  const script = /\.(ts|mjs)$/.test(tool) ? resolve(tool) : findTool(tool);
  runScript([script].concat(args));
}

if (process.argv.length < 3) {
  process.stderr.write('Usage: node local/run.mjs TOOL [ARGS]\n');
  process.exit(2);
}
run(process.argv[2], process.argv.slice(3));
