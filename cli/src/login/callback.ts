/**
 * Listens on loopback for the browser that the gateway redirects (RFC 8252 §7.3). A request without the right `state` gets a 404, and the
 * wait continues.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { CALLBACK_PATH } from './authorization-server.ts';

/** The parameters that arrived, and how to answer with a page. */
export interface Arrival {
  query: URLSearchParams;
  show(title: string, text: string): Promise<void>;
}

export interface Callback {
  redirectUri: string;
  /** Returns a short address that leads to a page, for terminals that break a long one. Nobody else can guess it. */
  linkTo(page: URL): string;
  /** The first request with the right state. */
  arrival: Promise<Arrival>;
  close(): Promise<void>;
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  connection: 'close',
};

const pageOf = (title: string, text: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>${title}</title>
<link rel="icon" href="data:," />
<style>
  :root { color-scheme: light dark; }
  body { max-width: 34rem; margin: 15vh auto 0; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
</style>
<h1>${title}</h1>
<p>${text}</p>
</html>
`;

async function answer(
  response: ServerResponse,
  status: number,
  title: string,
  text: string,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('close', resolve);
  response.writeHead(status, HEADERS).end(pageOf(title, text));
  await promise;
}

/** Starts to listen. @param state that the request has to carry */
export async function listenForCallback(state: string): Promise<Callback> {
  const { promise: arrival, resolve: arrive } = Promise.withResolvers<Arrival>();
  const linkPath = `/${randomBytes(9).toString('base64url')}`;
  let linked: URL | undefined;
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1');
    const isOurs = url?.pathname === CALLBACK_PATH && request.method === 'GET';
    const query = url?.searchParams ?? new URLSearchParams();
    if (linked && request.url === linkPath && request.method === 'GET') {
      response.writeHead(302, { ...HEADERS, location: linked.href }).end();
      return;
    }
    if (!isOurs || query.getAll('state').join() !== state) {
      void answer(response, 404, 'Nothing here', 'This page does not belong to a sign-in.');
      return;
    }
    arrive({ query, show: (title, text) => answer(response, 200, title, text) });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    redirectUri: `http://127.0.0.1:${port}${CALLBACK_PATH}`,
    linkTo(page) {
      linked = page;
      return `http://127.0.0.1:${port}${linkPath}`;
    },
    arrival,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
