/** The command line does not sign in to a gateway whose metadata is wrong: no token and no browser is sent elsewhere. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { findServer, register } from '../../../cli/src/login/authorization-server.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Documents = (origin: string) => Record<string, object>;
const RESOURCE = '/.well-known/oauth-protected-resource';
const SERVER = '/.well-known/oauth-authorization-server';
const ENDPOINTS = ['authorization', 'token', 'registration', 'revocation'];

const endpoints = (origin: string) =>
  Object.fromEntries(ENDPOINTS.map(name => [`${name}_endpoint`, `${origin}/${name}`]));
const right: Documents = origin => ({
  [RESOURCE]: { resource: origin, authorization_servers: [origin] },
  [SERVER]: { issuer: origin, ...endpoints(origin), device_authorization_endpoint: `${origin}/d` },
  '/registration': { client_id: 'made' },
});

/** Serves these documents by path. @returns its origin */
async function serve(documents: Documents): Promise<string> {
  const server = createServer((request, response) => {
    const found = documents(origin)[request.url ?? ''];
    const status = found ? (request.method === 'POST' ? 201 : 200) : 404;
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(found ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return origin;
}

const changed =
  (path: string, change: (origin: string) => object): Documents =>
  origin => ({ ...right(origin), [path]: { ...right(origin)[path], ...change(origin) } });
const EVIL = 'https://evil.example.com';

describe('a gateway', () => {
  it('[ACC-5] [CLI-4] with valid metadata is signed in to', async () => {
    const origin = await serve(right);
    const server = await findServer(origin);
    expect(server.as.issuer).toBe(origin);
    expect(await register(server)).toBe('made');
  });

  it.each<[string, Documents]>([
    ['is of another origin', changed(RESOURCE, () => ({ resource: EVIL }))],
    [
      'has another authorization server',
      changed(RESOURCE, () => ({ authorization_servers: [EVIL] })),
    ],
    ['has none', changed(RESOURCE, () => ({ authorization_servers: [] }))],
    ['has another issuer', changed(SERVER, () => ({ issuer: EVIL }))],
    ...[...ENDPOINTS, 'device_authorization'].map((name): [string, Documents] => [
      `has its ${name} elsewhere`,
      changed(SERVER, () => ({ [`${name}_endpoint`]: `${EVIL}/x` })),
    ]),
    ['opens a file', changed(SERVER, () => ({ authorization_endpoint: 'file:///etc/passwd' }))],
    ['revokes nothing', changed(SERVER, () => ({ revocation_endpoint: undefined }))],
    ['is a web page', () => ({})],
  ])('[ACC-5] [SEC-5] that %s is not', async (_what, documents) => {
    const origin = await serve(documents);
    await expect(findServer(origin)).rejects.toThrow(`${origin} is not a Portico`);
  });
});
