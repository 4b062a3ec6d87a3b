/**
 * A relay of requests on loopback, in front of a gateway: it tells of each request that may change something, and of its answer, so that a test can kill either side at a moment that it can name.
 */
import { createServer, request as send } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** `sent`: all of it is on its way to the gateway; `answered`: the client has not heard of the answer yet. */
export type Moment = 'sent' | 'answered';

export interface CountedRelay {
  origin: string;
  /** Told of the nth write of a moment, from 1. What it does is done before anything else goes on. */
  on: ((moment: Moment, n: number) => void) | undefined;
  /** Counts from the beginning again. */
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
