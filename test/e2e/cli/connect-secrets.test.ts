/**
 * Where the secrets of `portico connect` must not appear: in process lists, in its output, in the environment and the responses of its
 * servers.
 */
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { callTool, textOf } from '../support/connect-calls.ts';
import { ConnectStand } from '../support/connect-process.ts';
import { ORDINARY_TOKEN, startConnectorGateway } from '../support/connector-gateway.ts';
import type { ConnectorGateway } from '../support/connector-gateway.ts';

const OTHER = 'not-quite-as-good-a-secret';
const SECRET = 'correct-horse-battery-staple';

let gateway: ConnectorGateway;
let stand: ConnectStand;

beforeEach(async () => {
  gateway = await startConnectorGateway();
  stand = await ConnectStand.create();
});

afterEach(async () => {
  await stand.remove();
  await gateway.close();
});

it('[CLI-1] shows no secret in a process list or in the output, whatever happens', async () => {
  stand.write('mcp.json', {
    mcpServers: {
      tools: stand.tools('tools', { SECRET: '${THE_SECRET}', PLAIN: 'nothing-of-a-secret' }),
      // These programs print their secret when they end.
      leaky: {
        command: process.execPath,
        args: ['-e', 'console.error(process.env.SECRET); process.exit(7)'],
        env: { SECRET: '${THE_SECRET}' },
      },
      loud: {
        command: process.execPath,
        args: ['-e', 'console.error(process.argv); process.exit(7)', '${OTHER_SECRET}'],
      },
    },
  });
  const opened = gateway.nextLink();
  const connecting = stand.start(['--url', gateway.origin, '--verbose'], {
    PORTICO_CONNECTOR_TOKEN: ORDINARY_TOKEN,
    THE_SECRET: SECRET,
    OTHER_SECRET: OTHER,
  });
  const link = await opened;
  const known = callTool(link, 'tools', 'env', { text: 'SECRET' });
  // It has the secret, but its results are redacted before they leave the machine.
  await expect(textOf(known)).resolves.toBe('[redacted]');
  const echoed = callTool(link, 'tools', 'echo', { text: `a ${SECRET} b` });
  await expect(textOf(echoed)).resolves.toBe('a [redacted] b');
  const plain = callTool(link, 'tools', 'env', { text: 'PLAIN' });
  await expect(textOf(plain)).resolves.toBe('nothing-of-a-secret');
  const token = callTool(link, 'tools', 'env', { text: 'PORTICO_CONNECTOR_TOKEN' });
  await expect(textOf(token)).resolves.toBe('');
  await connecting.says('leaky: failed');
  await connecting.says('loud: failed');
  const processes = execFileSync('ps', ['-A', '-ww', '-o', 'args'], { encoding: 'utf8' });
  expect(processes).toContain('connect --url');
  connecting.child.kill('SIGTERM');
  await connecting.ended;
  for (const text of [processes, connecting.output()]) {
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(ORDINARY_TOKEN);
  }
  expect(connecting.output()).toContain('OTHER_SECRET is in args');
  expect(connecting.output()).not.toContain(OTHER);
});
