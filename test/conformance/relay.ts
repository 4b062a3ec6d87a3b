/**
 * A relay on loopback that adds the credential the suite has no option for, and nothing else: method, headers (Host and
 * Origin too) and bodies go through as they came, in both directions, as streams. When one side goes away the other
 * side's connection is closed, so cancellation is seen.
 */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Relay {
  url: string;
  close(): void;
}

/** Starts a relay to an endpoint. */
export async function startRelay(endpoint: string, token: string): Promise<Relay> {
  const { hostname, port, pathname } = new URL(endpoint);
  const server = createServer((incoming, outgoing) => {
    const headers = [...incoming.rawHeaders, 'Authorization', `Bearer ${token}`];
    const { method } = incoming;
    const onward = request({ hostname, port, path: pathname, method, headers, setHost: false });
    onward.on('response', answer => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
