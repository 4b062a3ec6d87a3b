/**
 * A stdio server behind its Streamable HTTP adapter behind a small HTTP server, as the gateway would reach it through a connector. Owns
 * what it has opened: `closeStands` ends all of it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { ChildSpec } from '../../../cli/src/connect/child.ts';
import type { ServerState } from '../../../cli/src/connect/kept-child.ts';
import { StdioServer, type StdioServerOptions } from '../../../cli/src/connect/stdio-http.ts';
import { until } from '../../fixtures/start-fixture.ts';

export interface Stand {
  url: string;
  server: StdioServer;
  /** Every state so far. */
  states: ServerState[];
  /** Waits for a state that has been or will be reported. */
  reached(what: string, test: (state: ServerState) => boolean): Promise<ServerState>;
  close(): Promise<void>;
}

const open = new Set<Stand>();
const root = new URL('../../../', import.meta.url);

/** Returns a Node program of this repository as a child. */
export const node = (path: string, ...args: string[]): ChildSpec => ({
  command: process.execPath,
  args: [fileURLToPath(new URL(path, root)), ...args],
});

/** Returns a public demo server as a child. */
export const publicServer = (name: string, ...args: string[]): ChildSpec =>
  node(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, ...args);

/** On a busy machine a server starts slowly; only one that never answers shall be treated as legacy. */
const PROBE_MS = 60_000;

/** Starts a server behind its adapter. */
export async function openStand(
  spec: ChildSpec,
  more: Omit<StdioServerOptions, 'spec'> = {},
): Promise<Stand> {
  const limits = { probeMs: PROBE_MS, waitMs: PROBE_MS, ...more.limits };
  const server = new StdioServer({ spec, ...more, limits });
  const states: ServerState[] = [server.child.state];
  server.child.subscribe(state => states.push(state));
  const http = createServer((request, response) => void answer(server, request, response));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const stand: Stand = {
    url: `http://127.0.0.1:${port}/mcp`,
    server,
    states,
    reached: (what, test) => until(what, 60_000, async () => states.find(test)),
    close: async () => {
      open.delete(stand);
      await server.stop();
      http.closeAllConnections();
      http.close();
    },
  };
  open.add(stand);
  return stand;
}

/** Process id of the child, while it is ready. */
export const pidOf = ({ server }: Stand): number => server.child.state.pid ?? 0;

/** Whether the process with this id no longer exists. */
export const isGone = async (pid: number): Promise<true | undefined> => {
  try {
    process.kill(pid, 0);
    return undefined;
  } catch {
    return true;
  }
};

/** Closes every open stand. */
export const closeStands = async (): Promise<void> => {
  await Promise.all([...open].map(stand => stand.close()));
};

async function answer(server: StdioServer, request: IncomingMessage, response: ServerResponse) {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const sent = await buffer(request).catch(() => undefined);
  // A client that disconnected during the request needs no response.
  if (!sent) return;
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const {
    status,
    headers: given,
    body,
  } = await server.handle({
    method: request.method as 'POST',
    headers,
    body: sent,
    signal: gone.signal,
  });
  response.writeHead(status, given).flushHeaders();
  for await (const chunk of body) {
    if (response.destroyed) break;
    if (!response.write(chunk)) {
      await Promise.race([once(response, 'drain'), once(response, 'close')]).catch(() => undefined);
    }
  }
  response.end();
}
