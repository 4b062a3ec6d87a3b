#!/usr/bin/env node
/**
 * The command as it is installed: looks at the Node that runs it before anything else is loaded, since an old one would break in the
 * middle of something. Written so that an old Node can read it.
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
