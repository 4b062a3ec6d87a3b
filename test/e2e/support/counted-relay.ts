/**
 * A relay of requests on loopback, in front of a gateway: it reports each request that may change something, and its response, so that a
 * test can kill either side at a definite moment.
 */
import { createServer, request as send } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** `sent`: the request is on its way to the gateway; `answered`: the client has not received the response yet. */
export type Moment = 'sent' | 'answered';

export interface CountedRelay {
  origin: string;
  /** Called at the nth write of a moment, counted from 1. The relay continues only when it has returned. */
  on: ((moment: Moment, n: number) => void) | undefined;
  /** Restarts the count. */
  restart(): void;
  close(): Promise<void>;
}

/** @param port of the gateway */
export async function startCountedRelay(port: number): Promise<CountedRelay> {
  let count = 0;
  const server = createServer((asked, answer) => {
    const { method, url, headers } = asked;
    const isWrite = method !== 'GET' && !url?.endsWith('/compare');
    const n = isWrite ? (count += 1) : 0;
    const tell = (moment: Moment) => void (isWrite && relay.on?.(moment, n));
    const onward = send({ host: '127.0.0.1', port, method, path: url, headers }, response => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        tell('answered');
        answer.writeHead(response.statusCode ?? 502, response.headers).end(Buffer.concat(pieces));
      });
      response.on('error', () => answer.destroy());
    });
    onward.on('error', () => answer.destroy());
    onward.on('finish', () => tell('sent'));
    asked.on('error', () => onward.destroy());
    asked.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const relay: CountedRelay = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    on: undefined,
    restart: () => (count = 0),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return relay;
}
