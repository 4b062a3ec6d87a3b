/** Which versions of Node run the command. */
import { expect, it } from 'vitest';
import { refuseOldNode } from '../../../cli/src/oldest-node.ts';

it.each(['22.13.0', '22.20.1', '24.0.0', '100.0.0'])('[CLI-4] %s does', version => {
  expect(refuseOldNode(version)).toBeUndefined();
});

it.each(['22.12.9', '20.19.4', '8.0.0', '0.12.18', ''])('[CLI-4] %j does not', version => {
  expect(refuseOldNode(version)).toContain('needs Node.js 22.13 or newer');
});
