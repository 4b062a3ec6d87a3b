/** The proxy of the environment: what goes through it, and an address that is none. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { useProxy } from '../../../deploy/proxy.ts';

const servers: Server[] = [];

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

it.each(['http://ada:sesame@proxy:port', 'ada:sesame@proxy:3128', 'http://a%zz:sesame@proxy:1'])(
  '[OPS-4] [SEC-1] refuses %s in a line that does not contain its password',
  address => {
    const line = 'HTTPS_PROXY or HTTP_PROXY is no address like http://proxy.example:3128';
    const refusal = expect.objectContaining({ message: line, exitCode: 2 }) as Error;
    for (const name of ['HTTPS_PROXY', 'http_proxy']) {
      expect(() => useProxy({ [name]: address })).toThrow(refusal);
    }
  },
);

it('[OPS-4] does not send requests to this machine through it, unless the exceptions say so', async () => {
  const near = await serve((_, response) => void response.end('near'));
  let asked = 0;
  const proxy = await serve((_, response) => {
    asked += 1;
    response.end('proxy');
  });
  // Connections through it may be tunnels, which this one refuses.
  servers.at(-1)?.on('connect', (_, socket) => {
    asked += 1;
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  const askedFor = async (env: NodeJS.ProcessEnv) => {
    asked = 0;
    const restore = useProxy(env);
    await fetch(near)
      .then(response => response.text())
      .catch(() => '')
      .finally(restore);
    return asked;
  };
  expect(await askedFor({ HTTP_PROXY: proxy })).toBe(0);
  expect(await askedFor({ HTTP_PROXY: proxy, NO_PROXY: '' })).toBe(0);
  expect(await askedFor({ HTTP_PROXY: proxy, NO_PROXY: 'far.example' })).toBe(1);
});
