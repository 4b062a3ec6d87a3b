/** In which networks a gateway on one machine may reach servers, whatever a name resolves to: workerd's own decision, with real sockets. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startHost } from '../../../local/host.ts';
import { readSourceFiles } from '../../../local/source-files.ts';
import type { Network } from '../../../src/http/host-settings.ts';

const SCRIPT = `export default {
  async fetch(request) {
    const url = new URL(request.url).searchParams.get('url');
    try {
      return Response.json({ reached: (await fetch(url, { signal: AbortSignal.timeout(5000) })).status });
    } catch (error) {
      return Response.json({ reached: false });
    }
  },
};`;

let folder: string;
let machine: Server;
let asked = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-networks-'));
  machine = createServer((_, response) => {
    asked += 1;
    response.end('here');
  }).listen(0, '127.0.0.1');
  await once(machine, 'listening');
});
afterAll(async () => {
  machine.close();
  await rm(folder, { recursive: true, force: true });
});

it.each<[Network, boolean]>([
  ['public', false],
  ['loopback', true],
  ['private', true],
])(
  '[OPS-5] [SEC-3] with the network %s this machine is reachable: %s',
  async (network, isReached) => {
    const files = await readSourceFiles(SCRIPT);
    const config = { ...files.config, objects: {} };
    const dataDir = join(folder, network);
    const host = await startHost({
      dataDir,
      port: 0,
      files: { ...files, config },
      env: {},
      network,
    });
    try {
      const before = asked;
      const { port } = machine.address() as AddressInfo;
      // Also by name: workerd checks the address that it resolves to.
      for (const name of ['127.0.0.1', 'localhost']) {
        const url = encodeURIComponent(`http://${name}:${port}/`);
        const answer = await (await fetch(`${host.url}/?url=${url}`)).json();
        expect(answer).toEqual({ reached: isReached ? 200 : false });
      }
      const metadata = encodeURIComponent('http://169.254.169.254/');
      expect(await (await fetch(`${host.url}/?url=${metadata}`)).json()).toEqual({
        reached: false,
      });
      expect(asked - before).toBe(isReached ? 2 : 0);
    } finally {
      await host.close();
    }
  },
);
