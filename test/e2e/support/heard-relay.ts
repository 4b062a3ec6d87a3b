/** A relay of requests on loopback, in front of a server: it records the trace context of calls. */
import { createServer, request as send } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { isObject } from '../../../src/shared/protocol.ts';
import { readBody } from '../../fixtures/serve.ts';

/** A call as the server receives it. */
export interface HeardCall {
  header: string | undefined;
  meta: unknown;
}

export interface HeardRelay {
  origin: string;
  calls: HeardCall[];
  close(): Promise<void>;
}

/** @param port of the server */
export async function startHeardRelay(port: number): Promise<HeardRelay> {
  const calls: HeardCall[] = [];
  const server = createServer((asked, answer) => {
    void (async () => {
      const body = await readBody(asked);
      const message: unknown = body === '' ? undefined : JSON.parse(body);
      if (isObject(message) && message['method'] === 'tools/call') {
        const params = isObject(message['params']) ? message['params'] : {};
        const meta = isObject(params['_meta']) ? params['_meta'] : {};
        const header = asked.headers['traceparent'];
        calls.push({ header: header?.toString(), meta: meta['traceparent'] });
      }
      const { method, url: path, headers } = asked;
      const onward = send({ host: '127.0.0.1', port, method, path, headers }, response => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      });
      answer.on('close', () => onward.destroy());
      onward.on('error', () => answer.destroy());
      onward.end(body);
    })().catch(() => answer.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
