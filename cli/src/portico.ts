#!/usr/bin/env node
/**
 * The installed command: checks the Node version before it loads anything else, since an old Node would fail later with an obscure error.
 * Written so that an old Node can read it.
 */
import { refuseOldNode } from './oldest-node.ts';

const refusal = refuseOldNode(process.versions.node);
if (refusal === undefined) {
  import('./main.ts').catch(error => {
    process.stderr.write(`portico: ${String(error)}\n`);
    process.exitCode = 1;
  });
} else {
  process.stderr.write(`portico: ${refusal}\n`);
  process.exitCode = 1;
}
