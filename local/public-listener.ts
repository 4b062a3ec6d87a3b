/**
 * The public listener of a gateway that runs for a team: forwards requests to the Worker, which listens on loopback only. The Worker's
 * socket is meant for one machine: whoever can reach it can speak to the runtime behind HTTP. So only plain requests for the public name
 * and WebSockets pass (docs/decisions/0042-one-server.md). The listener determines the client address, limits requests per address, and
 * tells the Worker the address as Cloudflare does. It forwards a request once and never buffers a whole body.
 */
import { once } from 'node:events';
import {
  Agent,
  createServer,
  request as send,
  ServerResponse,
  type IncomingMessage,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { PorticoError, toPorticoError } from '../src/shared/errors/portico-error.ts';
import { toProblemResponse } from '../src/shared/errors/to-problem.ts';
import { toSite } from '../src/http/client-site.ts';
import { AddressCounter } from './address-counter.ts';
import { clientAddress, type Proxies } from './client-address.ts';
import { portTaken } from './ports.ts';
import { checkHead, toAnswered, toForwarded, valueOf } from './request-head.ts';

export interface ListenerOptions {
  /** Address of this machine. */
  host: string;
  port: number;
  origin: string;
  proxies: Proxies;
  /** Maximum number of requests of one address in a minute; 0 means no limit. */
  perMinute: number;
  /** Origin of the Worker, on loopback. */
  target: string;
}

export interface Listener {
  port: number;
  close(): Promise<void>;
}

const SETTINGS = {
  headersTimeout: 15_000,
  /** Longest time for receiving a whole request. */
  requestTimeout: 120_000,
  /** Longer than proxies keep a connection, so that none sends on a connection that was just closed. */
  keepAliveTimeout: 150_000,
  maxHeaderSize: 32_768,
};
const MAX_CONNECTIONS = 10_000;
/** Shorter than five seconds, after which the Worker's socket closes an idle connection. */
const IDLE_MS = 3_000;
const UPGRADE = ['Connection', 'Upgrade', 'Upgrade', 'websocket'];

/** @throws StartError if the port is taken */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const { host, port, origin, proxies, target } = options;
  const { hostname, port: targetPort } = new URL(target);
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  const counter = new AddressCounter(options.perMinute);
  const upgraded = new Set<Socket>();

  /** @returns the headers to forward @throws PorticoError */
  function admit(request: IncomingMessage): string[] {
    const forwarded = valueOf(request, 'x-forwarded-for');
    const address = clientAddress(request.socket.remoteAddress, forwarded, proxies);
    const retryAfterSeconds = counter.take(toSite(address));
    if (retryAfterSeconds !== undefined) {
      throw new PorticoError('rate_limited', undefined, { retryAfterSeconds });
    }
    checkHead(request, origin);
    return [...toForwarded(request), 'CF-Connecting-IP', address];
  }

  function pass({ method, url }: IncomingMessage, headers: string[], from: Agent) {
    return send({ host: hostname, port: targetPort, method, path: url, headers, agent: from });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let headers: string[];
    try {
      headers = admit(request);
    } catch (thrown) {
      await refuse(response, thrown);
      return;
    }
    const outgoing = pass(request, headers, agent);
    outgoing.on('response', answer => relay(answer, response));
    outgoing.on('error', () => void fail(response));
    response.on('close', () => response.writableFinished || outgoing.destroy());
    request.on('error', () => outgoing.destroy());
    request.pipe(outgoing);
  }

  async function upgrade(request: IncomingMessage, socket: Socket, first: Buffer): Promise<void> {
    upgraded.add(socket);
    socket.on('close', () => upgraded.delete(socket));
    socket.on('error', () => socket.destroy());
    const response = toResponse(request, socket);
    let headers: string[];
    try {
      headers = admit(request);
    } catch (thrown) {
      await refuse(response, thrown);
      return;
    }
    const outgoing = pass(request, [...headers, ...UPGRADE], new Agent());
    outgoing.on('response', answer => relay(answer, response));
    outgoing.on('error', () => void fail(response));
    socket.on('close', () => outgoing.destroy());
    outgoing.on('upgrade', (answer, upstream: Socket, rest: Buffer) => {
      response.detachSocket(socket);
      socket.write(toSwitching(answer));
      socket.write(rest);
      upstream.write(first);
      join(socket, upstream);
    });
    outgoing.end();
  }

  const shouldUpgradeCallback = ({ headers }: IncomingMessage) =>
    headers.upgrade?.toLowerCase() === 'websocket';
  const server = createServer({ ...SETTINGS, shouldUpgradeCallback }, (request, response) => {
    void serve(request, response);
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('upgrade', (request, socket, first) => {
    void upgrade(request, socket as Socket, first);
  });
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? portTaken(port) : error;
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
      agent.destroy();
      await closed;
    },
  };
}

/** Creates a response on the socket of a WebSocket request; the connection ends with it. */
function toResponse(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.on('finish', () => socket.end());
  return response;
}

function relay(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 502, toAnswered(answer));
  response.flushHeaders();
  pipeline(answer, response, () => {});
}

function toSwitching(answer: IncomingMessage): string {
  const lines = [...toAnswered(answer), ...UPGRADE];
  const pairs = lines.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${lines[at + 1]}`] : []));
  return ['HTTP/1.1 101 Switching Protocols', ...pairs, '', ''].join('\r\n');
}

/** Pipes each socket into the other; they end together. */
function join(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.setNoDelay(true);
    from.on('error', () => from.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}

/** Responds if the Worker is not there, or ends the response that it broke off. */
async function fail(response: ServerResponse): Promise<void> {
  if (response.headersSent || response.destroyed) response.destroy();
  else
    await refuse(
      response,
      new PorticoError('busy', 'The gateway does not answer', { retryAfterSeconds: 1 }),
    );
}

async function refuse(response: ServerResponse, thrown: unknown): Promise<void> {
  const problem = toProblemResponse(toPorticoError(thrown));
  // The rest of the body is not read.
  response.writeHead(problem.status, {
    ...Object.fromEntries(problem.headers),
    connection: 'close',
  });
  response.end(await problem.text());
}
