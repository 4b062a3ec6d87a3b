/** The asking server of the Worker tests as a real server on loopback: the same script, over real connections. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { type Kind } from '../../worker/support/asking-script.ts';
import { AskingServer } from '../../worker/support/asking-server.ts';
import { readBody } from '../../fixtures/serve.ts';

export interface AskingUpstream {
  server: AskingServer;
  url: string;
  close(): Promise<void>;
}

/** Starts an asking server; a connection that its peer closes ends the request. */
export async function startAsking(kind: Kind): Promise<AskingUpstream> {
  const server = new AskingServer(kind);
  const http = createServer((incoming, outgoing) => {
    void (async () => {
      const gone = new AbortController();
      outgoing.on('close', () => gone.abort());
      const { method = 'GET', headers } = incoming;
      const request = new Request(`http://127.0.0.1${incoming.url}`, {
        method,
        headers: headers as Record<string, string>,
        ...(method === 'POST' ? { body: await readBody(incoming) } : {}),
      });
      // Set after construction: a signal that follows one given to the constructor may be garbage-collected before it aborts.
      Object.defineProperty(request, 'signal', { value: gone.signal });
      const response = await server.handle(request);
      outgoing.writeHead(response.status, Object.fromEntries(response.headers)).flushHeaders();
      if (!response.body) return void outgoing.end();
      const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
      body.on('error', () => outgoing.destroy()).pipe(outgoing);
    })().catch(() => outgoing.destroy());
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  return {
    server,
    url: `http://127.0.0.1:${port}/${kind === 'sse-legacy' ? 'sse' : 'mcp'}`,
    async close() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}
