/** A connector registers its servers in requests that a gateway accepts. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tellServers } from '../../../cli/src/connect/gateway-api.ts';

interface Asked {
  servers: { name: string }[];
}

const asked: Asked[] = [];
const gateway = createServer((request, response) => void answer(request, response));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { servers } = JSON.parse(await text(request)) as Asked;
  asked.push({ servers });
  const told = servers.map(({ name }) => ({ name, id: `id-${name}` }));
  response.end(JSON.stringify({ connector: { id: 'c', name: 'here' }, servers: told }));
}

beforeAll(async () => {
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
});
afterAll(() => void gateway.close());

it('[CLI-1] 250 servers are sent in batches of 100, and all answers are combined', async () => {
  const { port } = gateway.address() as AddressInfo;
  const servers = Array.from({ length: 250 }, (_, at) => ({ name: `s${at}`, description: '' }));
  const origin = `http://127.0.0.1:${port}`;
  const told = await tellServers(origin, 'token', servers, AbortSignal.timeout(30_000));
  expect(asked.map(each => each.servers.length)).toEqual([100, 100, 50]);
  expect(told.servers.map(({ id }) => id)).toEqual(servers.map(({ name }) => `id-${name}`));
  expect(told.connector.name).toBe('here');
});
