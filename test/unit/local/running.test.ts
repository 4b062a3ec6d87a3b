/** Finding the gateway of a data folder. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { announce, findRunning } from '../../../local/running.ts';

it('gives up on a gateway that never answers, when the time is over', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-running-'));
  const silent = createServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  try {
    announce(folder, `http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    expect(await findRunning(folder, () => true, 200)).toBeUndefined();
  } finally {
    silent.close();
    await rm(folder, { recursive: true });
  }
});
