/** What `portico doctor` says of the keys of a gateway. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { checkKeys } from '../../../cli/src/doctor/check-keys.ts';
import { Api } from '../../../cli/src/gateway/api.ts';

const key = {
  id: 'k1',
  in_ring: true,
  secrets: 1,
  servers: 0,
  access_tokens: 0,
  accounts: 0,
  tokens: 1,
};

/** @returns what it finds at a gateway that calls itself so */
async function findAt(status: string) {
  const server = createServer((request, response) => {
    const isReady = request.url === '/health/ready';
    response.statusCode = isReady && status !== 'ok' ? 503 : 200;
    response.end(JSON.stringify(isReady ? { status } : { active: 'k1', keys: [key] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    return await checkKeys(new Api(origin, undefined));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

it('[SEC-1] [OPS-4] keys of the right name that open nothing are a failure', async () => {
  const [unfit] = await findAt('keys_unfit');
  expect(unfit).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining('opens nothing'),
  });
  for (const status of ['ok', 'migrations_pending']) {
    expect(await findAt(status)).toEqual([expect.objectContaining({ state: 'ok' })]);
  }
});
